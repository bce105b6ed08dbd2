"""Checks of what a user hands in, alike in all estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from ...core.numerics import checks


def check_error_bars(X_std: Any, X: np.ndarray) -> np.ndarray:
    """Error bars of the shape of X, 0 where there is none to speak of."""
    if X_std is None:
        return np.zeros(X.shape)
    X_std = check_array(X_std, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X_std")
    if X_std.shape != X.shape:
        raise ValueError(f"X_std has shape {X_std.shape} but X has shape {X.shape}; use 0 where an entry is exact.")
    lost = np.isnan(X_std) & ~np.isnan(X)
    if lost.any():
        row, column = np.argwhere(lost)[0]
        raise ValueError(f"X_std is NaN at row {row}, column {column}, where X has a value; use 0 where it is exact.")
    X_std = np.where(np.isnan(X), 0.0, X_std)
    checks.check_nonnegative("X_std", X_std, "Error bars are standard deviations; use 0 for exact entries.")
    return X_std


def check_columns(Y: np.ndarray, names: Any = None) -> None:
    """Raise ValueError for a column without any value."""
    empty = np.flatnonzero(np.isnan(Y).all(axis=0))
    if len(empty):
        column = repr(names[empty[0]]) if names is not None else empty[0]
        raise ValueError(f"Column {column} has no value: there is nothing to learn from.")
