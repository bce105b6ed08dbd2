"""The GP of practice: scikit-learn's, with an RBF kernel with a lengthscale for each input, a linear kernel, noise."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

MOST_ROWS = 1000  # with more rows than this, parameters are fitted to so many of them


def _kernel(n_inputs: int) -> object:
    smooth = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(np.full(n_inputs, np.sqrt(n_inputs)), (1e-2, 1e3))
    linear = ConstantKernel(0.1, (1e-6, 1e2)) * DotProduct(1.0, (1e-3, 1e2))
    return smooth + linear + WhiteKernel(0.1, (1e-6, 1e1))


def predict_by_gp(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of new outputs, from complete inputs that are standardised here."""
    mean, std = X.mean(axis=0), X.std(axis=0)
    std = np.where(std > 1e-12, std, 1.0)
    X, X_test = (X - mean) / std, (X_test - mean) / std
    unit, standard = y.std(), (y - y.mean()) / y.std()
    some = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    model = GaussianProcessRegressor(_kernel(X.shape[1]), random_state=seed).fit(X[some], standard[some])
    if len(y) > MOST_ROWS:
        model = GaussianProcessRegressor(model.kernel_, optimizer=None).fit(X, standard)
    found, error = model.predict(X_test, return_std=True)
    return y.mean() + unit * found, unit * error
