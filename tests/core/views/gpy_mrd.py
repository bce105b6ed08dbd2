"""Makes gpy_mrd.npz beside it: the bound of GPy's MRD, and its gradients, for two small views.

Run it in an environment with GPy (`pip install GPy`): python tests/core/views/gpy_mrd.py. GPy's views share their
inducing inputs. Its jitter is an absolute number, and the variances of the kernels are 1 here, so that it is also the
relative number that semigp takes.
"""

from pathlib import Path

import numpy as np

N, Q, M, WIDTHS, JITTER = 30, 3, 8, (4, 6), 1e-6
LENGTHSCALES = ((0.9, 1.6, 3.0), (2.5, 1.1, 0.8))
NOISES = (0.05, 0.2)


def make_problem():
    """Two views, mean and variance of q(X), and inducing inputs."""
    random = np.random.default_rng(22)
    mean, variance = random.normal(size=(N, Q)), random.uniform(0.05, 0.6, (N, Q))
    views = [np.sin(mean @ random.normal(size=(Q, p))) + 0.1 * random.normal(size=(N, p)) for p in WIDTHS]
    return views, mean, variance, random.normal(size=(M, Q))


def main():
    import GPy
    from GPy.inference.latent_function_inference import InferenceMethodList
    from GPy.inference.latent_function_inference.var_dtc import VarDTC

    VarDTC.const_jitter = JITTER
    views, mean, variance, inducing = make_problem()
    model = GPy.models.MRD(
        views, Q, X=mean, X_variance=variance, num_inducing=M,
        kernel=[GPy.kern.RBF(Q, ARD=True, variance=1.0, lengthscale=np.array(each)) for each in LENGTHSCALES],
        inference_method=InferenceMethodList([VarDTC() for _ in views]),
        likelihoods=[GPy.likelihoods.Gaussian(variance=each) for each in NOISES],
    )  # fmt: skip
    model.Z[:] = inducing
    model.parameters_changed()
    # MRD adds up what its views have computed, so they have to see the inducing inputs first.
    for view in model.bgplvms:
        view.parameters_changed()
    model.parameters_changed()
    np.savez(
        Path(__file__).with_suffix(".npz"), bound=float(np.squeeze(model.log_likelihood())),
        mean_gradient=model.X.mean.gradient, variance_gradient=model.X.variance.gradient,
        inducing_gradient=model.Z.gradient,
        lengthscale_gradients=np.array([view.kern.lengthscale.gradient for view in model.bgplvms]),
        noise_gradients=np.array([float(view.likelihood.variance.gradient[0]) for view in model.bgplvms]),
    )  # fmt: skip
    print(GPy.__version__, float(np.squeeze(model.log_likelihood())))


if __name__ == "__main__":
    main()
