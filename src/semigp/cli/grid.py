"""Times on a regular grid: a missing time becomes an empty row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from .problems import Problem

_MOST_ADDED = 10  # with more steps per row than this, the times do not belong to a series with gaps
_DAY = np.timedelta64(1, "D")


def on_grid(table: pl.DataFrame, time: str, path: Path, note: Callable[[str], None]) -> pl.DataFrame:
    """The rows in order of time, with an empty row for each missing time. Without a regular step, none are added."""
    _check(table[time], path)
    table = table.sort(time)
    times = table[time].to_numpy()
    places, every = _months(times) or _steps(times)
    if not np.allclose(places, np.round(places), atol=1e-6) or places[-1] > _MOST_ADDED * len(times):
        return table
    places = np.round(places).astype(int)
    missing = np.setdiff1d(np.arange(places[-1] + 1), places)
    if not len(missing):
        return table
    grid = every(np.arange(places[-1] + 1))
    some = ", ".join(_shown(value) for value in grid[missing[:3]]) + (", …" if len(missing) > 3 else "")
    note(f"{path}: {len(missing)} times are missing between the first and the last ({some}); they count as gaps.")
    rows = table.drop(time).with_columns(pl.Series("\0place", places))
    full = pl.DataFrame({time: grid, "\0place": np.arange(len(grid))})
    return full.join(rows, on="\0place", how="left", maintain_order="left").drop("\0place")


def _check(times: pl.Series, path: Path) -> None:
    wrong = ((times.is_null(), "the time is missing"), (times.is_duplicated(), "this time occurs more than once"))
    for is_wrong, what in wrong:
        if is_wrong.any():
            raise Problem(f"{path}, row {is_wrong.arg_max() + 1}, column {times.name!r}: {what}.")


def _steps(times: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Times in units of the smallest difference, and a function from these units back to times."""
    step = np.diff(times).min() if len(times) > 1 else np.ones((), times.dtype)
    return (times - times[0]) / step, lambda places: times[0] + places * step


def _months(times: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]] | None:
    """Times counted in months, quarters or years, and a function from these counts back to times.

    None, unless all times are on the same day of the month, or all on the last day.
    """
    if times.dtype.kind != "M" or len(times) < 3:
        return None
    for shift in (0 * _DAY, _DAY):
        months = (times + shift).astype("datetime64[M]")
        days = times + shift - months
        if (days == days[0]).all() and len(np.unique(months)) == len(months):
            return _counted_in_months(months, days[0] - shift, times.dtype)
    return None


def _counted_in_months(
    months: np.ndarray, day: np.timedelta64, kind: np.dtype
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    numbers = (months - months[0]).astype(int)
    step = int(np.gcd.reduce(np.diff(numbers)))
    return numbers / step, lambda places: (months[0] + step * places).astype(kind) + day


def _shown(value: object) -> str:
    return str(value).partition("T")[0] if isinstance(value, np.datetime64) else f"{value:g}"
