"""Checks of a user's arrays that all estimators share."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_consistent_length

from ...core.numerics import checks
from ...frames import FrameKind, column_names
from .numbers import read_numbers


def check_error_bars(X_std: Any, X: np.ndarray, estimator: Any = None) -> np.ndarray:
    """Error bars of the same shape as X. They are 0 where X is NaN, and 0 everywhere if `X_std` is None.

    The columns of a frame are put in the order in which the estimator knows them. Raises ValueError if names or shapes
    do not match those of X, or if the error bar of a known value is negative or NaN.
    """
    if X_std is None:
        return np.zeros(X.shape)
    X_std = _in_order(X_std, getattr(estimator, "feature_names_in_", None))
    if np.ndim(X_std) == 0:
        raise ValueError("X_std is a single number. Give error bars of every entry: numpy.full(X.shape, X_std).")
    X_std = read_numbers(X_std, "X_std")
    if X_std.shape != X.shape:
        raise ValueError(f"X_std has shape {X_std.shape} but X has shape {X.shape}; use 0 where an entry is exact.")
    lost = np.isnan(X_std) & ~np.isnan(X)
    if lost.any():
        row, column = np.argwhere(lost)[0]
        raise ValueError(f"X_std is NaN at row {row}, column {column}, where X has a value; use 0 if it is exact.")
    X_std = np.where(np.isnan(X), 0.0, X_std)
    checks.check_nonnegative("X_std", X_std, "Error bars are standard deviations; use 0 for exact entries.")
    return X_std


def check_same_rows(X: Any, X_std: Any) -> None:
    """Raise ValueError if two frames of pandas have different row labels: error bars belong to rows by their place."""
    kinds = FrameKind.of(X), None if X_std is None else FrameKind.of(X_std)
    rows, bars = (None if kind is None else kind.index for kind in kinds)
    if rows is None or bars is None or len(rows) != len(bars) or rows.equals(bars):
        return
    place = next(i for i, (row, bar) in enumerate(zip(rows, bars, strict=True)) if row != bar)
    raise ValueError(
        f"X_std has the label {bars[place]!r} at row {place}, where X has {rows[place]!r}. Give the error bars in the "
        "order of the rows: X_std.loc[X.index]."
    )


def _in_order(X_std: Any, names: np.ndarray | None) -> Any:
    """A frame with its columns in the order of `names`. An array is returned unchanged."""
    found = column_names(X_std)
    if names is None or found is None or list(names) == found:
        return X_std
    if set(found) != set(names):
        told = ", ".join(map(str, found)), ", ".join(map(str, names))
        raise ValueError(f"X_std has the columns {told[0]}; X has {told[1]}. Give the error bars of every column of X.")
    return nw.to_native(nw.from_native(X_std, eager_only=True).select(*names))


def check_outputs(y: Any, X: np.ndarray, n_outputs: int) -> np.ndarray:
    """The outputs of the rows X as an array (n, p), NaN where unknown.

    Raises ValueError if p is not the number of outputs that the model was fitted to.
    """
    y = read_numbers(y, "y", ensure_2d=False)
    check_consistent_length(X, y)
    y = y.reshape(len(y), -1)
    if y.shape[1] != n_outputs:
        raise ValueError(f"y has {y.shape[1]} columns; the model was fitted to {n_outputs}.")
    return y


def check_columns(Y: np.ndarray, names: Any = None) -> None:
    """Raise ValueError if a column has no value at all."""
    empty = np.flatnonzero(np.isnan(Y).all(axis=0))
    if len(empty):
        column = repr(names[empty[0]]) if names is not None else empty[0]
        raise ValueError(f"Column {column} has no value: there is nothing to learn from.")
