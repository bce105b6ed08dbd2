"""The step from one time of a series to the next, read off its times: numbers, spans, weekdays or months.

Times are arrays of NumPy: numbers, spans or dates, the last in UTC if there is a zone. The place of a time is its
number of steps after the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .zones import to_local, to_utc

_MOST_ADDED = 10  # with more steps per row than this, the times do not belong to a series with gaps
_RARE = 0.05  # of the differences; if the smallest one is as rare, it comes from a time in the wrong place
_BY_CHANCE = 0.2  # the probability that a daily series misses all weekends, below which it is one of weekdays


@dataclass(frozen=True)
class Step:
    """The step from one time to the next."""

    unit: str  # "constant", "weekday" or "month"
    size: Any = 1  # a number or a span if it is constant, otherwise how many weekdays or months
    day: int = 0  # the day of the month, or the last day of shorter months
    is_local: bool = False  # whether steps are even on the clocks of the zone rather than in UTC

    def times(self, start: Any, places: np.ndarray, zone: Any = None) -> np.ndarray:
        """The times at these places, of which `start` is at 0."""
        clock = zone if self.is_local else None
        begin = to_local(np.asarray(start)[None], clock)[0]
        if self.unit == "constant":
            return to_utc(begin + places * self.size, clock)
        day = begin.astype("datetime64[D]")
        days = np.busday_offset(day, places, "forward") if self.unit == "weekday" else self._days(day, places)
        return to_utc(days.astype(begin.dtype) + (begin - day), clock)

    def _days(self, day: np.datetime64, places: np.ndarray) -> np.ndarray:
        """The same day of other months."""
        months = day.astype("datetime64[M]") + (self.size * places).astype("timedelta64[M]")
        days = np.minimum(self.day, _lengths(months)) - 1
        return months.astype("datetime64[D]") + days.astype("timedelta64[D]")

    def places(self, times: np.ndarray, zone: Any = None) -> np.ndarray | None:
        """The places of the times, the first of which is at 0; None if some are between the steps."""
        raw = self._counted(to_local(times, zone if self.is_local else None))
        if not raw[-1] < 2**53:  # also where a difference is too large for a float
            return None
        places = np.rint(raw).astype(np.int64)
        off = np.abs(self.times(times[0], places, zone) - times)
        if self.unit != "constant":
            return places if not off.astype(np.int64).any() else None
        allowed = 1e-3 if times.dtype.kind == "f" else 1e-6
        return places if (off <= allowed * self.size).all() else None

    def _counted(self, times: np.ndarray) -> np.ndarray:
        if self.unit == "constant":
            with np.errstate(over="ignore"):
                return (times - times[0]) / self.size
        if self.unit == "weekday":
            days = times.astype("datetime64[D]")
            return np.busday_count(days[0], days)
        months = _months(times)
        return (months - months[0]) / self.size


def recognise(times: np.ndarray, zone: Any = None) -> Step | None:
    """The step of times that increase; None if there is none, or if there is one time only."""
    if len(times) < 2:
        return None
    for step in _candidates(times, zone):
        places = step.places(times, zone)
        if places is not None and _is_plausible(places):
            return step
    return None


def _is_plausible(places: np.ndarray) -> bool:
    """Whether not too many steps are missing, and no single time stands between the others."""
    gaps = np.diff(places)
    if places[-1] > _MOST_ADDED * len(places) or gaps.min() < 1:
        return False
    counts = np.unique(gaps, return_counts=True)[1]
    return bool(counts[0] == counts.max() or counts[0] >= _RARE * len(gaps))


def _candidates(times: np.ndarray, zone: Any) -> Iterator[Step]:
    """What the step may be, the most natural first."""
    if times.dtype.kind == "M":
        local = to_local(times, zone)
        clock = local - local.astype("datetime64[D]")
        # The clocks of some zones skip midnight once a year, so that a few days begin an hour late.
        if np.mean(clock == clock[0]) >= 0.9:
            yield from _in_days(local, times.dtype, zone is not None)
        yield Step("constant", np.diff(times).min())
        if zone is not None and np.diff(local).min() > np.timedelta64(0, "s"):
            yield Step("constant", np.diff(local).min(), is_local=True)
    else:
        yield Step("constant", _smallest(np.diff(times)))


def _in_days(local: np.ndarray, kind: np.dtype, is_local: bool) -> Iterator[Step]:
    """Steps of months, weekdays and days."""
    days = local.astype("datetime64[D]")
    gap = np.diff(days).min().astype(int)
    months = np.diff(_months(days))
    if gap >= 28 and months.min() >= 1:
        yield Step("month", int(np.gcd.reduce(months)), _day_of_month(days), is_local)
    if gap == 1 and _are_weekdays(days):
        yield Step("weekday", is_local=is_local)
    if gap >= 1:
        unit = np.datetime_data(kind)[0]
        yield Step("constant", np.timedelta64(int(gap), "D").astype(f"timedelta64[{unit}]"), is_local=is_local)


def _are_weekdays(days: np.ndarray) -> bool:
    """Whether all days are from Monday to Friday, which cannot be by chance."""
    if not np.is_busday(days).all():
        return False
    span = int((days[-1] - days[0]).astype(int)) + 1
    weekend = span - int(np.busday_count(days[0], days[-1])) - 1
    return weekend > 0 and (1 - len(days) / span) ** weekend < _BY_CHANCE


def _day_of_month(days: np.ndarray) -> int:
    """The day of the month on which all days are: 31 for the last day of every month."""
    months = days.astype("datetime64[M]")
    numbers = (days - months.astype("datetime64[D]")).astype(int) + 1
    return 31 if (numbers == _lengths(months)).all() else int(numbers.max())


def _smallest(gaps: np.ndarray) -> Any:
    """The smallest difference. Of numbers with rounding errors, it is the mean of those that are as small."""
    least = gaps.min()
    return float(gaps[gaps < 1.5 * least].mean()) if gaps.dtype.kind == "f" else least


def _months(times: np.ndarray) -> np.ndarray:
    return times.astype("datetime64[M]").astype(np.int64)


def _lengths(months: np.ndarray) -> np.ndarray:
    """The number of days of each month."""
    following = months + np.timedelta64(1, "M")
    return (following.astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64)
