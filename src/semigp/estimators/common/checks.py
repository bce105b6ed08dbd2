"""Checks of what a user hands in, alike in all estimators."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from ...core.numerics import checks
from ...frames import column_names


def check_error_bars(X_std: Any, X: np.ndarray, estimator: Any = None) -> np.ndarray:
    """Error bars of the shape of X, 0 where there is none; columns of a frame go by the names that the estimator knows.

    Raises ValueError where names or shapes do not fit, and where an error bar is negative or missing beside a value.
    """
    if X_std is None:
        return np.zeros(X.shape)
    X_std = _in_order(X_std, getattr(estimator, "feature_names_in_", None))
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


def _in_order(X_std: Any, names: np.ndarray | None) -> Any:
    """The columns of a frame in the order of `names`; anything else as it is."""
    found = column_names(X_std)
    if names is None or found is None or list(names) == found:
        return X_std
    if set(found) != set(names):
        told = ", ".join(map(str, found)), ", ".join(map(str, names))
        raise ValueError(f"X_std has the columns {told[0]}; X has {told[1]}. Give the error bars of every column of X.")
    return nw.to_native(nw.from_native(X_std, eager_only=True).select(*names))


def check_outputs(y: Any, X: np.ndarray, n_outputs: int) -> np.ndarray:
    """Outputs (n, p) of the rows X, NaN where unknown; ValueError where they are not as many as the model has."""
    y = check_array(y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_2d=False, input_name="y")
    check_consistent_length(X, y)
    y = y.reshape(len(y), -1)
    if y.shape[1] != n_outputs:
        raise ValueError(f"y has {y.shape[1]} columns; the model was fitted to {n_outputs}.")
    return y


def check_columns(Y: np.ndarray, names: Any = None) -> None:
    """Raise ValueError for a column without any value."""
    empty = np.flatnonzero(np.isnan(Y).all(axis=0))
    if len(empty):
        column = repr(names[empty[0]]) if names is not None else empty[0]
        raise ValueError(f"Column {column} has no value: there is nothing to learn from.")
