"""Conversion between arrays and frames of pandas or polars, through narwhals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np


@dataclass(frozen=True)
class FrameKind:
    """What is needed to turn an array back into a frame: the library, the columns, and the index if there is one."""

    library: nw.Implementation
    columns: list[str]
    index: Any

    @classmethod
    def of(cls, values: Any) -> FrameKind | None:
        """The kind of a frame, or None for anything else."""
        frame = nw.from_native(values, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        return cls(frame.implementation, frame.columns, nw.maybe_get_index(frame))


def column_names(values: Any) -> list[str] | None:
    """The column names of a frame, or the name of a series as a list; None for anything else."""
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return list(native.columns)
    return [native.name] if isinstance(native, nw.Series) and native.name else None


def as_frame(values: np.ndarray, kind: FrameKind | None) -> Any:
    """An array as a frame of this kind, or unchanged if the kind is None."""
    if kind is None:
        return values
    if kind.library.is_pandas():  # pandas columns may be numbers or tuples
        import pandas

        return pandas.DataFrame(values, kind.index, kind.columns)
    return nw.to_native(nw.from_numpy(values, schema=kind.columns, backend=kind.library))


def read_table(X: Any, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
    """Values (n, q), NaN where missing, and the names of the columns, or their numbers if X is not a frame."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    values = np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else X, dtype=float)
    if values.ndim != 2:
        raise ValueError(f"{name} has shape {values.shape}; give rows and columns, (n, q).")
    return values, names_or_numbers(X, values.shape[1])


def names_or_numbers(X: Any, count: int) -> np.ndarray:
    """The column names of a frame, or the numbers 0 to `count` - 1 for anything else."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return np.array(frame.columns) if isinstance(frame, nw.DataFrame) else np.arange(count)


def is_missing(X: Any) -> np.ndarray:
    """Which entries (n, q) are missing: NaN, and null in frames. The columns of a frame need not be numbers."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return np.isnan(read_table(X)[0])
    nan = [c.is_nan().fill_null(True).to_numpy() if c.dtype.is_float() else False for c in frame.iter_columns()]
    return np.column_stack([c.is_null().to_numpy() | n for c, n in zip(frame.iter_columns(), nan, strict=True)])


def like(values: np.ndarray, X: Any) -> Any:
    """An array as a frame with the library and the columns of X, or unchanged if X is not a frame."""
    kind = FrameKind.of(X)
    return as_frame(values, kind and replace(kind, index=None))


def only_one_column(X: Any, column: int, values: np.ndarray) -> Any:
    """A table with the columns of X, in which all values are missing but those of one column."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        rows = np.full((len(values), np.shape(X)[1]), None, dtype=object)
        rows[:, column] = values
        return rows
    cells = {name: values if place == column else [None] * len(values) for place, name in enumerate(frame.columns)}
    return nw.to_native(nw.from_dict(cells, backend=frame.implementation))


def moments_of(predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (n, p) from what ``predict(…, return_std=True)`` returned: a pair, or one frame."""
    mean, std = predicted if isinstance(predicted, tuple) else np.split(np.asarray(predicted), 2, axis=1)
    return mean.reshape(len(mean), -1), std.reshape(len(std), -1)


def find_column(names: np.ndarray, column: Any, kind: str) -> int:
    """The number of a column that is given by name or number. The error message calls it `kind`."""
    if isinstance(column, str):
        found = np.flatnonzero(names.astype(str) == column) if names.dtype.kind in "UO" else []
        number = int(found[0]) if len(found) else -1
    else:
        number = int(column)
    if not 0 <= number < len(names):
        raise ValueError(f"there is no {kind} {column!r}; there are {', '.join(map(str, names))}.")
    return number
