"""An index of times, stored as times in UTC with the names of its zone and frequency."""

from __future__ import annotations

from typing import Any

import numpy as np


def times_from_utc(times: np.ndarray, zone: str | None, frequency: str | None, name: Any) -> Any:
    """An index from times in UTC and the names of its zone and frequency."""
    import pandas

    index = pandas.DatetimeIndex(times, name=name)
    if zone is not None:
        if not isinstance(zone, str) or zone.startswith("dateutil"):  # dateutil would open any file
            raise ValueError(f"there is no time zone called {zone!r}")
        index = index.tz_localize("UTC").tz_convert(zone)
    index.freq = frequency
    return index


def comes_back(index: Any, times: np.ndarray, zone: str | None) -> bool:
    """Whether an index can be restored from its times in UTC and the names of its zone and frequency."""
    try:
        again = times_from_utc(times, zone, index.freqstr, index.name)
    except (KeyError, TypeError, ValueError):
        return False
    return again.dtype == index.dtype and again.freq == index.freq and again.equals(index)
