"""The rows of a table on a regular grid of times: a missing time becomes an empty row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from ..series.grid import regular_grid, shown
from .problems import Problem

_TWICE = (
    "this time occurs more than once: {}. Name the column of the series with --id if there are several. If clocks were "
    "set back, write times with their offset, such as 2024-10-27T02:00+01:00."
)


def on_grid(table: pl.DataFrame, time: str, path: Path, note: Callable[[str], None]) -> pl.DataFrame:
    """The rows in order of time, with an empty row for each missing time."""
    _check(table[time], path)
    table = table.sort(time)
    kind, zone = table[time].dtype, getattr(table[time].dtype, "time_zone", None)
    grid = regular_grid(table[time].to_numpy(), str(path), zone)
    missing = grid.missing
    if not len(missing):
        return table
    some = ", ".join(shown(value, zone) for value in missing[:3]) + (", …" if len(missing) > 3 else "")
    note(f"{path}: {len(missing)} times are missing between the first and the last ({some}); they count as gaps.")
    rows = table.drop(time).with_columns(pl.Series("\0place", grid.places))
    full = pl.DataFrame({time: pl.Series(grid.times).cast(kind), "\0place": np.arange(len(grid.times))})
    return full.join(rows, on="\0place", how="left", maintain_order="left").drop("\0place")


def _check(times: pl.Series, path: Path) -> None:
    wrong = ((times.is_null(), "the time is missing."), (times.is_duplicated(), _TWICE))
    for is_wrong, what in wrong:
        if is_wrong.any():
            row = int(is_wrong.arg_max() or 0)
            raise Problem(f"{path}, row {row + 1}, column {times.name!r}: {what.format(times[row])}")
