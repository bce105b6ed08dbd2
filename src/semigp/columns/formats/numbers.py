"""Numbers as people write them: 1,234.50 and $3.20 and 3,20 € and 12%."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ..values import number_in, written_number

_UNITS = r"[$€£¥₹₩₽₺₫฿¢]|US\$|A\$|C\$|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|R\$|kr|zł|%|‰"
_CELL = re.compile(
    rf"(?P<sign>[+\-−]?)(?P<before>(?:{_UNITS})\s?)?(?P<late_sign>[+\-−]?)"
    rf"(?P<number>[0-9.,](?:[0-9.,'’ \u00a0\u202f]*[0-9.,])?(?:[eE][+-]?\d+)?)(?P<after>\s?(?:{_UNITS}))?"
)
# Marks between groups of three digits, and before the decimals. The first pair that suits all cells is taken.
_MARKS = ((",", "."), ("", ","), (".", ","), ("'", "."), ("’", "."), (" ", ","), (" ", "."))
_MARKS += tuple((space, mark) for space in ("\u00a0", "\u202f") for mark in ",.")
_LONGEST = 60  # longer texts are not numbers


@dataclass(frozen=True)
class NumberFormat:
    """Numbers with a unit, with marks between thousands, or with a decimal comma. A unit is no factor: 12% is 12."""

    before: str = ""  # the unit before the number, with the space after it
    after: str = ""
    thousands: str = ""  # the mark between groups of three digits
    decimal: str = "."
    places: int = 0  # the most decimals in a cell
    has_late_sign: bool = False  # whether the sign is between the unit and the number

    @property
    def unit(self) -> str:
        """The unit before or after the number."""
        return (self.before + self.after).strip()

    @classmethod
    def find(cls, cells: Collection[str], has_decimal_commas: bool = False) -> NumberFormat | None:
        """The format of a column, given its cells without spaces around them.

        In a text such as 1,234 the comma is between thousands if it may be so in all cells. With `has_decimal_commas`
        it is before decimals if that may be so.
        """
        found = next(iter(cells), "")
        match = _CELL.fullmatch(found) if len(found) < _LONGEST else None
        if match is None:
            return None
        units = match["before"] or "", match["after"] or ""
        marks = (("", "."), *_MARKS)
        if has_decimal_commas:
            marks = (("", "."), ("", ","), *_MARKS)
        for thousands, decimal in marks:
            guess = cls(*units, thousands, decimal)
            if all(guess.read(cell) is not None for cell in cells):
                is_late = any(_CELL.fullmatch(cell)["late_sign"] for cell in cells)  # type: ignore[index]
                return cls(*units, thousands, decimal, max(map(guess._places, cells)), is_late)
        return None

    def read(self, text: str) -> float | None:
        """The number in a cell, or None."""
        match = _CELL.fullmatch(text) if len(text) < _LONGEST else None
        if match is None or (match["before"] or "", match["after"] or "") != (self.before, self.after):
            return None
        digits = self._plain(match["number"])
        number = None if digits is None or (match["sign"] and match["late_sign"]) else number_in(digits)
        is_negative = (match["sign"] or match["late_sign"]) in ("-", "−")
        return -number if number is not None and is_negative else number

    def _plain(self, number: str) -> str | None:
        """A number without a sign as Python writes it, or None if its marks are not at their places."""
        whole, mark, rest = number.partition(self.decimal)
        if self.thousands and self.thousands in whole:
            first, *groups = whole.split(self.thousands)
            if not (0 < len(first) < 4 and first[0] != "0" and all(len(g) == 3 and g.isdigit() for g in groups)):
                return None
            whole = first + "".join(groups)
        digits = whole + ("." if mark else "") + rest
        return digits if re.fullmatch(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", digits) else None

    def _places(self, text: str) -> int:
        return len(re.match(r"\d*", text.partition(self.decimal)[2])[0])  # type: ignore[index]

    def write(self, value: float) -> str:
        """A number with the unit and the marks of the column; with its decimals, if it has units or thousands."""
        if self.before or self.after or self.thousands:
            text = f"{abs(value):,.{self.places}f}" if self.thousands else f"{abs(value):.{self.places}f}"
        else:
            text = written_number(abs(value))
        text = text.replace(",", "\0").replace(".", self.decimal).replace("\0", self.thousands)
        sign = "-" if value < 0 and re.search("[1-9]", text) else ""
        return self.before + sign + text + self.after if self.has_late_sign else sign + self.before + text + self.after
