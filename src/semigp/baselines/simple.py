"""Baselines without a Gaussian process. Their standard deviation is that of their own residuals."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from .base import Baseline, complete_rows


class MeanBaseline(Baseline):
    """The mean of the training outputs."""

    def _fit(self, X, y):
        self._variance = y.var(axis=0, ddof=1)

    def _predict(self, X):
        return np.zeros((len(X), len(self._variance))), np.tile(self._variance, (len(X), 1))


class LinearBaseline(Baseline):
    """Multiple linear regression on the complete rows."""

    def _fit(self, X, y):
        rows = complete_rows(X)
        self._model = LinearRegression().fit(X[rows], y[rows])
        residual = y[rows] - self._model.predict(X[rows])
        freedom = max(int(rows.sum()) - X.shape[1] - 1, 1)
        self._variance = np.maximum(np.sum(residual**2, axis=0) / freedom, 1e-12)

    def _predict(self, X):
        return self._model.predict(X), np.tile(self._variance, (len(X), 1))


class NearestNeighbour(Baseline):
    """The outputs of the nearest complete row."""

    def _fit(self, X, y):
        rows = complete_rows(X)
        self._model = KNeighborsRegressor(n_neighbors=1).fit(X[rows], y[rows])
        second = KNeighborsRegressor(n_neighbors=2).fit(X[rows], y[rows])
        others = second.kneighbors(X[rows], return_distance=False)[:, 1]  # the first is the row itself
        self._variance = np.maximum(np.mean((y[rows] - y[rows][others]) ** 2, axis=0), 1e-12)

    def _predict(self, X):
        return self._model.predict(X), np.tile(self._variance, (len(X), 1))
