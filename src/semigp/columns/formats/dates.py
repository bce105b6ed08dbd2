"""Dates as people write them: 01/31/2018, 31.01.2018, 31 Jan 2018, Jan-18, each perhaps with a time of day."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

# In the form of `strptime`. Of the pairs that differ only in the order of day and month, month first comes first.
_DATES = (
    "%Y-%m", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y",
    "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%m-%d-%Y", "%d-%m-%Y",
    "%b %Y", "%b-%Y", "%b-%y", "%b/%y", "%b. %Y",
    "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %b %y", "%d. %b %Y", "%b %d, %Y", "%b %d %Y", "%a, %d %b %Y",
)  # fmt: skip
_CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%H:%M:%S.%f")
_PARTS = re.compile(r"(?P<date>.{6,30}?)(?:(?P<mark>,? |T)(?P<clock>\d{1,2}:\d\d.{0,12}))?")
_OTHER_ORDER = {"%m/%d": "%d/%m", "%d/%m": "%m/%d", "%m-%d-": "%d-%m-", "%d-%m-": "%m-%d-"}
_ZERO = re.compile(r"(?<!\d)0(?=\d)(?!\d{2})")  # of 01, not of 2018


@dataclass(frozen=True)
class DateFormat:
    """Dates in one of the usual orders, with the month as a number or by its English name."""

    date: str  # as in `strptime`
    clock: str = ""
    mark: str = ""  # between date and clock
    is_padded: bool = True  # 01/02/2018 rather than 1/2/2018
    is_open: bool = False  # whether day and month could change places in every cell

    @property
    def is_day_first(self) -> bool | None:
        """Whether the day is before the month. None if the format has only one order."""
        return self.date.startswith("%d") if any(order in self.date for order in _OTHER_ORDER) else None

    @classmethod
    def find(cls, cells: Collection[str], is_day_first: bool | None = None) -> DateFormat | None:
        """The format of a column, given its cells without spaces around them.

        All cells together decide whether the day or the month comes first. Where they leave it open, `is_day_first`
        decides, and without it the month is first.
        """
        first = next(iter(cells), "")
        guesses = [guess for guess in cls._guesses(first) if all(guess.read(cell) is not None for cell in cells)]
        if not guesses:
            return None
        found = guesses[0]
        orders = {guess.date for guess in guesses}
        other = next((found.date.replace(a, b) for a, b in _OTHER_ORDER.items() if a in found.date), "")
        if other in orders:
            date = next(date for date in (found.date, other) if date.startswith("%d") == bool(is_day_first))
            found = replace(found, date=date, is_open=is_day_first is None)
        if not all(found._parsed(cell, "%b") for cell in cells):  # not all months are short; May is both
            found = replace(found, date=found.date.replace("%b", "%B"))
        padded = sum(found.write(found.read(cell)) == cell for cell in cells)  # type: ignore[arg-type]
        bare = replace(found, is_padded=False)
        return bare if sum(bare.write(bare.read(cell)) == cell for cell in cells) > padded else found  # type: ignore[arg-type]

    @classmethod
    def _guesses(cls, text: str) -> list[DateFormat]:
        match = _PARTS.fullmatch(text)
        if match is None or not any(sign.isdigit() for sign in text):
            return []
        clocks = _CLOCKS if match["clock"] else ("",)
        guesses = [cls(date, clock, match["mark"] or "") for clock in clocks for date in _DATES]
        return [guess for guess in guesses if guess.read(text) is not None]

    def read(self, text: str) -> datetime | None:
        """The time in a cell, or None."""
        return (self._parsed(text, "%b") or self._parsed(text, "%B")) if len(text) < 60 else None

    def _parsed(self, text: str, month: str) -> datetime | None:
        try:
            date = self.date.replace("%b", month).replace("%B", month)
            return datetime.strptime(text, date + self.mark + self.clock)
        except ValueError:
            return None

    def write(self, value: datetime) -> str:
        """A time as the column writes it."""
        date = value.strftime(self.date.replace("%Y", f"{value.year:04d}"))
        clock = value.strftime(self.clock)
        if not self.is_padded:
            date, clock = _ZERO.sub("", date), clock.lstrip("0") if clock[:2] != "00" else clock[1:]
        return date + self.mark + clock
