"""Frames and arrays as lists of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np


@dataclass(frozen=True)
class Sheet:
    """The columns of a frame (narwhals series) or of an array (NumPy arrays), with their names or numbers."""

    names: list[Any]
    columns: list[Any]
    frame: nw.DataFrame | None  # None for arrays
    array: np.ndarray | None  # None for frames

    def place_of(self, name: Any, place: int) -> int:
        """Where a column of the training rows stands here: by name in a frame, by place in an array."""
        if self.frame is not None and name in self.names:
            return self.names.index(name)
        if place >= len(self.columns) or (self.frame is not None and isinstance(name, str)):
            raise ValueError(f"X has no column {name!r}, which it had in training; there are {_told(self.names)}.")
        return place


def read_sheet(X: Any) -> Sheet:
    """The columns of a table. Raises ValueError or TypeError, with a cure, if it is not one."""
    frame = _as_frame(X)
    if frame is not None:
        sheet = Sheet([plain(name) for name in frame.columns], list(frame.iter_columns()), frame, None)
        n_rows = len(frame)
    else:
        array = _as_array(X)
        sheet = Sheet(list(range(array.shape[1])), list(array.T), None, array)
        n_rows = len(array)
    if not sheet.columns:
        raise ValueError("X has no columns. Give a table with at least one.")
    if not n_rows:
        raise ValueError("X has no rows. Give a table with at least one.")
    return sheet


def is_frame(X: Any) -> bool:
    """Whether X is a frame that narwhals knows."""
    return _as_frame(X) is not None


def copied(X: Any) -> Any:
    """A table that does not change with X."""
    frame = _as_frame(X)
    if frame is None:
        return _as_array(X).copy()
    return X.copy() if frame.implementation.is_pandas_like() else X  # other frames never change


def plain(value: Any) -> Any:
    """A NumPy scalar as a Python object; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _as_frame(X: Any) -> nw.DataFrame | None:
    try:
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise TypeError("X is a lazy frame. Call its method collect() first.")
        if isinstance(frame, nw.DataFrame):
            return frame if frame.columns is not None else None
    except nw.exceptions.DuplicateError:
        names = list(X.columns)
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"X has {names.count(twice)} columns with the name {twice!r}. Give each its own name."
        ) from None
    return None


def _as_array(X: Any) -> np.ndarray:
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # NumPy would turn the numbers of a nested list into text
    if array.ndim != 2:
        raise ValueError(f"X has shape {array.shape}. Give a frame, or an array of rows and columns.")
    return array


def _told(names: list[Any]) -> str:
    shown = [repr(name) for name in names[:10]]
    return ", ".join(shown) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
