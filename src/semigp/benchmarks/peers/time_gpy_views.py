"""One bound with its full gradient by GPy's MRD, for two views."""

import GPy
import numpy as np
from common import main, make_problem, repeat, timed


def measure(n, q, p, m):
    views, mean, variance = [], None, None
    for _ in range(2):
        y, mean, variance, _ = make_problem(n, q, p, m)
        views.append(y)
    kernels = [GPy.kern.RBF(q, ARD=True, lengthscale=np.sqrt(q) * np.ones(q)) for _ in views]
    model = GPy.models.MRD(views, q, X=mean, X_variance=variance, num_inducing=m, kernel=kernels)
    start, bound = model.optimizer_array.copy(), float(np.squeeze(model.log_likelihood()))

    def evaluate(i):
        moved = start + 1e-6 * i
        return timed(lambda: model._objective_grads(moved))

    return {"times": repeat(evaluate), "bound": bound, "versions": {"GPy": GPy.__version__}}


if __name__ == "__main__":
    main(measure)
