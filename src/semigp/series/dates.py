"""Text as dates, for which the whole column decides how they are written."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..columns.formats import MISSING_AMONG_NUMBERS, find_time_format, is_missing_word
from ..columns.texts import usual_time_format

HOW = "Write dates as 2015-01-31, 01/31/2015, 31.01.2015, 31 Jan 2015, Jan 2015 or 2015Q1, all in the same way."


def is_date(text: str) -> bool:
    """Whether a text is a date or a time."""
    return find_time_format([text.strip()]) is not None


def read_dates(texts: Sequence[Any]) -> tuple[np.ndarray, str | None]:
    """Texts as times, with NaT for what is not a date, and their zone: UTC if they have offsets, otherwise None.

    If some texts are not dates, the others are read as most of them can be.
    """
    known = dict.fromkeys(text for text in texts if isinstance(text, str) and not _is_missing(text))
    found = find_time_format([text.strip() for text in known])
    if found is None:
        _check_offsets(known)
        found = usual_time_format([text.strip() for text in known])
    elif getattr(found, "is_open", False):
        warnings.warn(
            f"The time {next(iter(known))!r} is read with the month first; no time tells whether it is. If the day is "
            "first, convert the times: pandas.to_datetime(times, dayfirst=True).",
            UserWarning,
            stacklevel=2,
        )
    read = {} if found is None else {text: found.read(text.strip()) for text in known}
    zoned = any(time is not None and time.tzinfo is not None for time in read.values())
    bare = {text: None if time is None else time.replace(tzinfo=None) for text, time in read.items()}
    times = np.array([bare.get(text) for text in texts], "datetime64[us]")
    if zoned:
        return times, "UTC"
    days = times.astype("datetime64[D]")
    are_days = ((days == times) | np.isnat(times)).all()
    return days if are_days else times, None


def _is_missing(text: str) -> bool:
    return is_missing_word(text, MISSING_AMONG_NUMBERS)


def _check_offsets(texts: Sequence[str] | dict[str, None]) -> None:
    """Raise ValueError if some times have an offset from UTC and others have none."""
    forms = [find_time_format([text.strip()]) for text in texts]
    offsets = {getattr(form, "offset", "none") is None for form in forms if hasattr(form, "offset")}
    if len(offsets) > 1:
        raise ValueError(
            "Some of the times have an offset from UTC and others have none. Give it for all, or for none."
        )
