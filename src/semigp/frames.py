"""Frames in, frames out: pandas and polars alike, through narwhals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np


@dataclass(frozen=True)
class FrameKind:
    """What makes an array a frame again: the library, the columns, and the index where there is one."""

    library: nw.Implementation
    columns: list[str]
    index: Any

    @classmethod
    def of(cls, values: Any) -> FrameKind | None:
        """The kind of a frame; None for anything else."""
        frame = nw.from_native(values, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        return cls(frame.implementation, frame.columns, nw.maybe_get_index(frame))


def column_names(values: Any) -> list[str] | None:
    """The names of a frame's columns, or that of a series; None for anything else."""
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return list(native.columns)
    return [native.name] if isinstance(native, nw.Series) and native.name else None


def as_frame(values: np.ndarray, kind: FrameKind | None) -> Any:
    """An array as a frame of that kind, or as it is."""
    if kind is None:
        return values
    if kind.library.is_pandas():  # whose columns may be numbers or tuples
        import pandas

        return pandas.DataFrame(values, kind.index, kind.columns)
    return nw.to_native(nw.from_numpy(values, schema=kind.columns, backend=kind.library))


def read_table(X: Any, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
    """Values (n, q), NaN where missing, and the columns' names, or numbers where there are none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    values = np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else X, dtype=float)
    if values.ndim != 2:
        raise ValueError(f"{name} has shape {values.shape}; give rows and columns, (n, q).")
    return values, names_or_numbers(X, values.shape[1])


def names_or_numbers(X: Any, count: int) -> np.ndarray:
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
    kind = FrameKind.of(X)
    return as_frame(values, kind and replace(kind, index=None))


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
