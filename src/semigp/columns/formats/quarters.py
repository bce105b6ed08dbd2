"""Quarters of years: 2018Q1, 2018-Q1, Q1 2018."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

_YEAR_FIRST = re.compile(r"(?P<year>[0-9]{4})(?P<mark>[ \-/]?)(?P<letter>[Qq])(?P<quarter>[1-4])")
_QUARTER_FIRST = re.compile(r"(?P<letter>[Qq])(?P<quarter>[1-4])(?P<mark>[ \-/]?)(?P<year>[0-9]{4})")


@dataclass(frozen=True)
class QuarterFormat:
    """Quarters of years, which are read as their first day."""

    is_year_first: bool
    mark: str  # between year and quarter
    letter: str

    @classmethod
    def find(cls, cells: Collection[str]) -> QuarterFormat | None:
        """The format of a column, given its cells without spaces around them."""
        first = next(iter(cells), "")
        for pattern in (_YEAR_FIRST, _QUARTER_FIRST):
            match = pattern.fullmatch(first)
            if match:
                found = cls(pattern is _YEAR_FIRST, match["mark"], match["letter"])
                return found if all(found.read(cell) is not None for cell in cells) else None
        return None

    def read(self, text: str) -> datetime | None:
        """The first day of a quarter, or None."""
        match = (_YEAR_FIRST if self.is_year_first else _QUARTER_FIRST).fullmatch(text)
        if match is None or int(match["year"]) < 1:
            return None
        return datetime(int(match["year"]), 3 * int(match["quarter"]) - 2, 1)

    def write(self, value: datetime) -> str:
        """The quarter in which a time is."""
        quarter = f"{self.letter}{(value.month + 2) // 3}"
        return self.mark.join((f"{value.year:04d}", quarter) if self.is_year_first else (quarter, f"{value.year:04d}"))
