"""Values and column names of what may be an array or a frame."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np


def read_table(X: Any, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
    """Values (n, q), NaN where missing, and the columns' names, or numbers where there are none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    values = np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else X, dtype=float)
    if values.ndim != 2:
        raise ValueError(f"{name} has shape {values.shape}; give rows and columns, (n, q).")
    return values, column_names(X, values.shape[1])


def column_names(X: Any, count: int) -> np.ndarray:
    """Names of a frame's columns, else numbers."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return np.array(frame.columns) if isinstance(frame, nw.DataFrame) else np.arange(count)


def is_missing(X: Any) -> np.ndarray:
    """Which entries are missing, (n, q): NaN, and null in frames, whose columns need not be numbers."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return np.isnan(read_table(X)[0])
    nan = [c.is_nan().fill_null(True).to_numpy() if c.dtype.is_float() else False for c in frame.iter_columns()]
    return np.column_stack([c.is_null().to_numpy() | n for c, n in zip(frame.iter_columns(), nan, strict=True)])


def like(values: np.ndarray, X: Any) -> Any:
    """An array as a frame of X's library with X's columns; as it is if X is none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return values
    if frame.implementation.is_pandas():  # whose columns may be numbers or tuples
        return type(X)(values, columns=frame.columns)
    return nw.to_native(nw.from_numpy(values, schema=frame.columns, backend=frame.implementation))


def find_column(names: np.ndarray, column: Any, kind: str) -> int:
    """The number of a column given by name or number; `kind` is what the error calls it."""
    if isinstance(column, str):
        found = np.flatnonzero(names.astype(str) == column) if names.dtype.kind in "UO" else []
        number = int(found[0]) if len(found) else -1
    else:
        number = int(column)
    if not 0 <= number < len(names):
        raise ValueError(f"there is no {kind} {column!r}; there are {', '.join(map(str, names))}.")
    return number
