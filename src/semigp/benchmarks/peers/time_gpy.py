"""One bound with its full gradient by GPy's BayesianGPLVM."""

import GPy
import numpy as np
from common import main, make_problem, repeat, timed


def measure(n, q, p, m):
    y, mean, variance, inducing = make_problem(n, q, p, m)
    kernel = GPy.kern.RBF(q, ARD=True, lengthscale=np.sqrt(q) * np.ones(q))
    model = GPy.models.BayesianGPLVM(y, q, X=mean, X_variance=variance, Z=inducing, kernel=kernel)
    start, bound = model.optimizer_array.copy(), float(np.squeeze(model.log_likelihood()))

    def evaluate(i):
        moved = start + 1e-6 * i
        return timed(lambda: model._objective_grads(moved))

    return {"times": repeat(evaluate), "bound": bound, "versions": {"GPy": GPy.__version__}}


if __name__ == "__main__":
    main(measure)
