"""Times on a regular grid: a missing time becomes a row without a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .steps import Step, recognise
from .zones import to_local

_CURE = (
    "Put the values on a regular grid first, with NaN where there is none (in pandas with resample, in polars with "
    "group_by_dynamic), or leave the times out."
)


@dataclass(frozen=True)
class Grid:
    """All times between the first and the last, and the places of the rows among them."""

    times: np.ndarray
    places: np.ndarray
    step: Step | None  # None if there is one time only

    @property
    def missing(self) -> np.ndarray:
        """The times without a row."""
        return np.delete(self.times, self.places)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values (n, p) of the rows as values of all times, with NaN where there is no row."""
        if len(values) == len(self.times):
            return values
        full = np.full((len(self.times), *values.shape[1:]), np.nan)
        full[self.places] = values
        return full


def regular_grid(times: np.ndarray, what: str, zone: Any = None, step: Step | None = None) -> Grid:
    """The grid of times that increase, in UTC if there is a zone. Raises ValueError if they have no regular step."""
    check_increasing(times, what, zone)
    step = recognise(times, zone) if step is None else step
    if len(times) == 1:
        return Grid(times, np.zeros(1, np.int64), step)
    places = None if step is None else step.places(times, zone)
    if step is None or places is None:
        raise ValueError(_irregular(times, what, zone))
    if places[-1] == len(places) - 1:
        return Grid(times, places, step)
    full = step.times(times[0], np.arange(places[-1] + 1), zone).astype(times.dtype)
    full[places] = times  # as they are, without errors of rounding
    return Grid(full, places, step)


def check_known(times: np.ndarray, what: str) -> None:
    """Raise ValueError if the time of a row is missing."""
    missing = np.isnat(times) if times.dtype.kind in "mM" else ~np.isfinite(times)
    if missing.any():
        raise ValueError(
            f"The times of {what} are missing in {missing.sum()} rows, first in row {np.argmax(missing)}. "
            "Leave these rows out, or fill in their times."
        )


def check_increasing(times: np.ndarray, what: str, zone: Any = None) -> None:
    """Raise ValueError unless there is a time in every row, later than that of the row before."""
    check_known(times, what)
    wrong = times[1:] <= times[:-1]
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        now, before = shown(times[row], zone), shown(times[row - 1], zone)
        how = (
            f"row {row} repeats {now} of the row before. Keep one row of each time, or average them."
            if now == before
            else f"row {row} ({now}) comes after row {row - 1} ({before}). Sort the rows by time."
        )
        raise ValueError(f"The times of {what} do not increase at every row: {how}")


def shown(time: Any, zone: Any = None) -> str:
    """A time for a message, without what is zero at its end."""
    if not isinstance(time, np.datetime64):
        return _shown_gap(time)
    text = str(to_local(np.asarray(time)[None], zone)[0])
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.removesuffix(":00").removesuffix("T00:00")


def _shown_gap(gap: Any) -> str:
    if isinstance(gap, np.timedelta64):
        return str(gap.astype("timedelta64[us]").item()).removesuffix(", 0:00:00")
    return f"{gap:.12g}"


def _irregular(times: np.ndarray, what: str, zone: Any) -> str:
    gaps = np.diff(times)
    sizes, counts = np.unique(gaps, return_counts=True)
    usual = sizes[np.argmax(counts)]
    with np.errstate(all="ignore"):
        odd = gaps % usual != 0 * usual
    row = int(np.argmax(odd)) + 1 if odd.any() else int(np.argmax(gaps != usual)) + 1
    return (
        f"The times of {what} are irregular: {counts.max()} of {len(gaps)} follow the one before after "
        f"{_shown_gap(usual)}, but {shown(times[row], zone)} after {_shown_gap(gaps[row - 1])}. {_CURE}"
    )
