"""An index of times, told in words and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def times_from_utc(times: np.ndarray, zone: str | None, frequency: str | None, name: Any) -> Any:
    """An index of times that were in UTC."""
    import pandas

    index = pandas.DatetimeIndex(times, name=name)
    if zone is not None:
        if not isinstance(zone, str) or zone.startswith("dateutil"):  # which would open any file
            raise ValueError(f"no time zone is called {zone!r}")
        index = index.tz_localize("UTC").tz_convert(zone)
    index.freq = frequency
    return index


def comes_back(index: Any, times: np.ndarray, zone: str | None) -> bool:
    """Whether the names of its zone and frequency are enough to make an index again."""
    try:
        again = times_from_utc(times, zone, index.freqstr, index.name)
    except (KeyError, TypeError, ValueError):
        return False
    return again.dtype == index.dtype and again.freq == index.freq and again.equals(index)
