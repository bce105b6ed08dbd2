"""What is known of a column: whether it holds numbers, levels or times, and which values it can have.

Every kind has codes, which are floats. The code of a number is the number itself. The code of a level is its place in
the list of levels. The code of a time is a number of seconds. The code of a missing value is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np


@dataclass(frozen=True)
class Number:
    """A column of numbers, with the smallest and the largest of them; both are None if no value is known.

    `unit` is that of text such as 12% or $3.20.
    """

    width: ClassVar[int] = 1  # places in an expanded table

    name: Any
    is_whole: bool
    lower: float | None
    upper: float | None
    unit: str = ""

    def nearest(self, codes: np.ndarray) -> np.ndarray:
        """The possible values that are nearest to any floats."""
        rounded = np.rint(codes) if self.is_whole else codes
        return rounded if self.lower is None else np.clip(rounded, self.lower, self.upper)


@dataclass(frozen=True)
class Levels:
    """A column of categories: booleans, text, or what a user has named as such."""

    name: Any
    levels: tuple[Any, ...]
    is_ordered: bool

    @property
    def width(self) -> int:
        """The number of places of this column in an expanded table."""
        return 1 if self.is_ordered or len(self.levels) <= 2 else len(self.levels)

    def nearest(self, codes: np.ndarray) -> np.ndarray:
        """The codes of levels that are nearest to any floats. They are NaN if there are no levels."""
        return np.clip(np.rint(codes), 0, len(self.levels) - 1) if self.levels else np.full(np.shape(codes), np.nan)


@dataclass(frozen=True)
class Time:
    """A column of dates, times or spans of time, with the earliest and the latest code.

    All known values are multiples of `step` seconds, such as 86400 for days. `step` is None if there is no such unit.
    `is_day_first` says how dates such as 01/02/2018 were read; None if there were none.
    """

    width: ClassVar[int] = 1  # places in an expanded table

    name: Any
    is_span: bool
    step: float | None
    lower: float | None
    upper: float | None
    is_day_first: bool | None = None

    def nearest(self, codes: np.ndarray) -> np.ndarray:
        """The codes inside the known range. They are rounded to `step` later, in the time zone of the column."""
        return codes if self.lower is None else np.clip(codes, self.lower, self.upper)


Kind = Number | Levels | Time
