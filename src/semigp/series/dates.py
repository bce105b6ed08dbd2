"""Text as dates, in forms that can be read in one way only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

HOW = "Write dates as 2015-01-31, 2015-01, 31.01.2015 or Jan 2015."
_FORMS = ("%Y-%m", "%d.%m.%Y", "%Y/%m/%d", "%b %Y", "%B %Y")  # forms of dates besides ISO 8601


def read_date(text: str) -> datetime | None:
    """A date or time in ISO 8601 or one of the other forms, or None. With a zone or an offset, it comes back in UTC."""
    for form in _FORMS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    if not text[:4].isdigit() or "-" not in text:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time if time.tzinfo is None else time.astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def read_dates(texts: Sequence[Any]) -> tuple[np.ndarray, str | None]:
    """Texts as times, with NaT for what is not a date, and their zone: UTC if they have offsets, otherwise None."""
    known = {text: read_date(text.strip()) for text in set(texts) if isinstance(text, str)}
    zoned = {time.tzinfo is not None for time in known.values() if time is not None}
    if len(zoned) > 1:
        raise ValueError(
            "Some of the times have an offset from UTC and others have none. Give it for all, or for none."
        )
    bare = {text: None if time is None else time.replace(tzinfo=None) for text, time in known.items()}
    times = np.array([bare.get(text) for text in texts], "datetime64[us]")
    if zoned == {True}:
        return times, "UTC"
    days = times.astype("datetime64[D]")
    are_days = ((days == times) | np.isnat(times)).all()
    return days if are_days else times, None
