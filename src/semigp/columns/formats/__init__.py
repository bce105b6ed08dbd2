"""How columns of text write numbers and times. `base.py` has the contract, and every other file is one way to write."""

from __future__ import annotations

from collections.abc import Collection

from .base import Format
from .dates import DateFormat
from .iso import IsoFormat
from .numbers import NumberFormat
from .quarters import QuarterFormat
from .words import MISSING, MISSING_AMONG_NUMBERS, is_missing_word, missing_words, truths

__all__ = [
    "MISSING",
    "MISSING_AMONG_NUMBERS",
    "Format",
    "NumberFormat",
    "find_number_format",
    "find_time_format",
    "is_missing_word",
    "missing_words",
    "truths",
]


def find_number_format(cells: Collection[str], has_decimal_commas: bool = False) -> NumberFormat | None:
    """The way in which a column writes its numbers, given its cells without spaces around them; None if in none."""
    return NumberFormat.find(cells, has_decimal_commas)


def find_time_format(
    cells: Collection[str], is_day_first: bool | None = None
) -> IsoFormat | DateFormat | QuarterFormat | None:
    """The way in which a column writes its times, given its cells without spaces around them; None if in none."""
    return IsoFormat.find(cells) or QuarterFormat.find(cells) or DateFormat.find(cells, is_day_first)
