"""Times in UTC as the clocks on the wall show them, and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

_DAY = 86_400


def to_local(times: np.ndarray, zone: Any) -> np.ndarray:
    """Times in UTC as local times. Without a zone they stay as they are."""
    if zone is None:
        return times
    instants, offsets = _changes_around(times, zone)
    return times + _span(offsets[np.searchsorted(instants, times, side="right")], times)


def to_utc(times: np.ndarray, zone: Any) -> np.ndarray:
    """Local times in UTC. Where a clock shows a time twice, it is the first; one that it skips is as long after."""
    if zone is None:
        return times
    instants, offsets = _changes_around(times, zone)
    # The later of what the clock shows just before and just after a change ends the reign of the old offset.
    ends = instants + np.maximum(offsets[:-1], offsets[1:]).astype("timedelta64[s]")
    return times - _span(offsets[np.searchsorted(ends, times, side="right")], times)


def _span(seconds: np.ndarray, like: np.ndarray) -> np.ndarray:
    unit = np.datetime_data(like.dtype)[0]
    return seconds.astype("timedelta64[s]").astype(f"timedelta64[{unit}]")


def _changes_around(times: np.ndarray, zone: Any) -> tuple[np.ndarray, np.ndarray]:
    """The instants at which the offset changes, and the offsets in seconds before, between and after them."""
    years = (times.min(), times.max()) if len(times) else (np.datetime64(0, "s"),) * 2
    first, last = (int(year.astype("datetime64[Y]").astype(int)) + 1970 for year in years)
    return _changes(_as_zone(zone), max(first - 1, 2), min(last + 1, 9998))


def _as_zone(zone: Any) -> tzinfo:
    """A zone from its name, such as Europe/Berlin or UTC+01:00, or from an object of any library of zones."""
    name = zone if isinstance(zone, str) else getattr(zone, "key", None) or getattr(zone, "zone", None)
    if name is None:
        return zone
    sign, _, offset = name.removeprefix("UTC").partition(":")
    if sign[:1] in ("+", "-") and sign[1:].isdigit():
        minutes = 60 * int(sign[1:3]) + int(offset or sign[3:5] or 0)
        return timezone(timedelta(minutes=minutes if sign[0] == "+" else -minutes))
    return ZoneInfo(name)


@lru_cache(maxsize=256)
def _changes(zone: tzinfo, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """The changes from the year `first` to the year `last`: found day by day, and then to the second."""
    begin, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (first, last + 1))
    seconds = range(begin, end + 1, _DAY)
    daily = [_offset(zone, second) for second in seconds]
    instants, offsets = [], daily[:1]
    for second, before, after in zip(seconds, daily[:-1], daily[1:], strict=False):
        if before != after:
            instants.append(_change(zone, second, second + _DAY))
            offsets.append(after)
    return np.array(instants, "int64").astype("datetime64[s]"), np.array(offsets, "int64")


def _change(zone: tzinfo, low: int, high: int) -> int:
    """The second between two others at which the offset changes."""
    before = _offset(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
    return high


def _offset(zone: tzinfo, second: int) -> int:
    told = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)).astimezone(zone).utcoffset()
    return 0 if told is None else int(told.total_seconds())
