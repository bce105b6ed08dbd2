"""The base class of the baselines for regression, with their units and checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data


class Baseline(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Standardises inputs (n, q), which may have NaN, and outputs (n, p), and passes them to `_fit` and `_predict`."""

    def fit(self, X: Any, y: Any) -> Baseline:
        """Fit to rows in which inputs may be NaN."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        self._y_is_flat = y.ndim == 1
        y = y.reshape(len(y), -1)
        self._x_scaler, self._y_scaler = StandardScaler().fit(X), StandardScaler().fit(y)
        self._fit(self._x_scaler.transform(X), self._y_scaler.transform(y))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean of new outputs at complete inputs, and with `return_std` their standard deviation."""
        check_is_fitted(self, "_y_scaler")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean, variance = self._predict(self._x_scaler.transform(X))
        mean, std = self._y_scaler.inverse_transform(mean), np.sqrt(variance) * self._y_scaler.scale_
        if self._y_is_flat:
            mean, std = mean[:, 0], std[:, 0]
        return (mean, std) if return_std else mean

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        raise NotImplementedError

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


def complete_rows(X: np.ndarray) -> np.ndarray:
    """Which rows have no missing value. Raises ValueError if there are fewer than two."""
    rows = ~np.isnan(X).any(axis=1)
    if rows.sum() < 2:
        raise ValueError(f"{rows.sum()} of {len(X)} rows are complete; this method needs at least two.")
    return rows
