"""Dates and times as ISO 8601 writes them, with or without an offset from UTC."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone


@dataclass(frozen=True)
class IsoFormat:
    """Times such as 2018-01-31, 2018-01-31 13:45 or 2018-01-31T13:45:00+01:00. With an offset they are read in UTC."""

    separator: str | None = None  # between day and time; None if there are only days
    precision: str = "seconds"  # or "minutes", "milliseconds" and "microseconds"
    offset: timedelta | None = None  # None: times have no offset. Where offsets differ, that of the last one
    has_z: bool = False  # whether UTC is written as Z

    @classmethod
    def find(cls, cells: Collection[str]) -> IsoFormat | None:
        """The format of a column, given its cells without spaces around them."""
        offsets, offset, longest = set(), None, ""
        for cell in cells:
            time = _parsed(cell)
            if time is None:
                return None
            offset = time.utcoffset()
            offsets.add(offset)
            longest = max(longest, cell, key=len)
        if not offsets or (None in offsets and len(offsets) > 1):
            return None
        if len(longest) <= 10:
            return cls(offset=offset)
        clock = longest[11:].rstrip("Z").partition("+")[0].partition("-")[0]
        precision = {5: "minutes", 8: "seconds", 12: "milliseconds"}.get(len(clock), "microseconds")
        return cls(longest[10] if len(longest) > 10 else "T", precision, offset, longest.endswith("Z"))

    def read(self, text: str) -> datetime | None:
        """The time in a cell, in UTC if it has an offset, or None."""
        time = _parsed(text)
        if time is None or (time.tzinfo is None) != (self.offset is None):
            return None
        return time if time.tzinfo is None else time.astimezone(UTC)

    def write(self, value: datetime) -> str:
        """A time as the column writes it. A column of days gets a clock where a time is not midnight."""
        if self.offset is not None:
            value = value.astimezone(timezone(self.offset))
        is_day = value == value.replace(hour=0, minute=0, second=0, microsecond=0)
        if self.separator is None and is_day and self.offset is None:
            return value.date().isoformat()
        text = value.isoformat(self.separator or "T", self.precision)
        return text.replace("+00:00", "Z") if self.has_z else text


def _parsed(text: str) -> datetime | None:
    if not text[:4].isdigit() or "-" not in text or len(text) > 40:
        return None
    try:
        time = datetime.fromisoformat(text)
        time.astimezone(UTC) if time.tzinfo is not None else None
        return time
    except (OverflowError, ValueError):
        return None
