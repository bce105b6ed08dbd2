"""Frames in, frames out: pandas and polars alike, through narwhals."""

from __future__ import annotations

from dataclasses import dataclass
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
