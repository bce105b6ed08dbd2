"""Fits GPy's MRD to two views, in an environment of its own.

Usage: python gpy_peer.py VIEWS.npz FITTED.npz COMPONENTS INDUCING

The views are in standard units. As is usual, the noise is held at a hundredth for the first 50 iterations. 300 more
iterations follow.
"""

import sys

import numpy as np


def main(source, target, n_components, n_inducing):
    """Fit, and write the parameters."""
    import GPy

    np.random.seed(0)  # noqa: NPY002 - GPy uses this generator
    views = list(np.load(source).values())
    together = np.nan_to_num(np.hstack(views))
    _, singular, axes = np.linalg.svd(together, full_matrices=False)
    mean = together @ axes[:n_components].T / singular[:n_components] * np.sqrt(len(together))
    kernels = [GPy.kern.RBF(n_components, ARD=True, lengthscale=np.sqrt(n_components) * np.ones(n_components))] * 2
    model = GPy.models.MRD(
        views, n_components, X=mean, X_variance=np.full(mean.shape, 0.1), num_inducing=n_inducing,
        kernel=[kernel.copy() for kernel in kernels],
    )  # fmt: skip
    for view in model.bgplvms:
        view.likelihood.variance = 0.01
        view.likelihood.fix()
    model.optimize(max_iters=50)
    for view in model.bgplvms:
        view.likelihood.unfix()
    model.optimize(max_iters=300)
    np.savez(
        target, mean=model.X.mean.values, variance=model.X.variance.values, inducing=model.Z.values,
        lengthscales=np.array([view.kern.lengthscale.values for view in model.bgplvms]),
        signals=np.array([float(view.kern.variance[0]) for view in model.bgplvms]),
        noises=np.array([float(view.likelihood.variance[0]) for view in model.bgplvms]),
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
