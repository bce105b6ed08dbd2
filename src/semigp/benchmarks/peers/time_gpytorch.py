"""One step of GPyTorch's stochastic BayesianGPLVM over all rows: the bound from one draw of X, and its gradient.

Every output has its own q(u), which is a free parameter, and X is sampled. So this is a Monte Carlo estimate of a
looser bound, without ψ2: another quantity than in the other libraries, for the same model. As in the other libraries,
all outputs share the inducing inputs and the kernel.
"""

import gpytorch
import numpy as np
import torch
from common import main, make_problem, repeat, timed
from gpytorch.models.gplvm.bayesian_gplvm import BayesianGPLVM
from gpytorch.models.gplvm.latent_variable import VariationalLatentVariable
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy


class Model(BayesianGPLVM):
    """An ARD RBF kernel and zero mean over latent inputs."""

    def __init__(self, mean, variance, inducing, p):
        (n, q), m = mean.shape, len(inducing)
        prior = gpytorch.priors.NormalPrior(torch.zeros(n, q), torch.ones(n, q))
        latent = VariationalLatentVariable(n, p, q, mean, prior)
        latent.q_log_sigma.data = torch.log(torch.expm1(torch.sqrt(variance)))  # GPyTorch applies a softplus
        distribution = CholeskyVariationalDistribution(m, batch_shape=torch.Size([p]))
        super().__init__(latent, VariationalStrategy(self, inducing, distribution, learn_inducing_locations=True))
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=q))
        self.covar_module.outputscale = 1.0
        self.covar_module.base_kernel.lengthscale = np.sqrt(q)

    def forward(self, inputs):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))


def measure(n, q, p, m):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    y, mean, variance, inducing = map(torch.as_tensor, make_problem(n, q, p, m))
    model, likelihood = Model(mean, variance, inducing, p), gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = 1.0
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=n)
    parameters = [*model.parameters(), *likelihood.parameters()]
    model.train()
    likelihood.train()

    def step():
        for parameter in parameters:
            parameter.grad = None
        loss = -bound(model(model.sample_latent_variable()), y.T).sum()
        loss.backward()

    versions = {"GPyTorch": gpytorch.__version__, "torch": torch.__version__}
    times = repeat(lambda _: timed(step))
    if any(parameter.grad is None for parameter in parameters):
        raise RuntimeError("A parameter has no gradient, so this is not the whole step.")
    return {"times": times, "versions": versions}


if __name__ == "__main__":
    main(measure)
