"""Single Python objects, as they are found in columns without a type of their own."""

from __future__ import annotations

import math
import numbers
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LARGEST = 2**53  # larger whole numbers are rounded as floats


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value: None, NaN, NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)


def form_of(items: list[Any]) -> str | None:
    """What the objects of a column are, if they can be used: numbers, times, spans, levels or text; else None.

    A column without any value has numbers.
    """
    kinds = {_form(item) for item in items if item is not None}
    if None in kinds:
        return None
    if len(kinds) <= 1:
        return next(iter(kinds), "numbers")
    if kinds == {"text", "numbers"}:
        return "text"  # perhaps all of the text is numbers, too
    return "levels" if kinds <= {"text", "numbers", "levels"} else None


def _form(item: Any) -> str | None:
    if isinstance(item, bool):
        return "levels"
    if isinstance(item, str):
        return "text"
    if isinstance(item, timedelta | np.timedelta64):
        return "spans"
    if isinstance(item, date | time | np.datetime64):  # a datetime is a date
        return "times"
    return "numbers" if isinstance(item, numbers.Real | Decimal) else None


def floats_of(items: list[Any]) -> np.ndarray:
    """Numbers, times or spans of time as floats, NaN where missing."""
    return np.array([math.nan if item is None else to_float(item) for item in items], dtype=float)


def to_float(item: Any) -> float:
    """A number as it is; a time as seconds since 1970, or since midnight; a span of time as seconds."""
    if isinstance(item, np.datetime64 | np.timedelta64):
        item = item.astype(f"{item.dtype.kind}8[us]").item()
    if isinstance(item, timedelta):
        return item.total_seconds()
    if isinstance(item, time):
        item = datetime.combine(_EPOCH, item.replace(tzinfo=None))
    elif isinstance(item, date) and not isinstance(item, datetime):
        item = datetime(item.year, item.month, item.day)
    if isinstance(item, datetime):
        return ((item if item.tzinfo else item.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
    try:
        return float(item)
    except OverflowError:  # a whole number beyond the range of floats
        return math.inf


def from_float(value: float, like: Any) -> Any:
    """The inverse of `to_float`: an object of the same type as `like`. Text that is a number gives text."""
    if isinstance(like, timedelta):
        return type(like)(seconds=value)
    if isinstance(like, date | time):
        return _time_from_float(value, like)
    if isinstance(like, str | Decimal):
        return type(like)(written_number(value))
    if isinstance(like, int) and not value.is_integer():
        return value
    return type(like)(value)


def _time_from_float(value: float, like: Any) -> Any:
    moment = _EPOCH + timedelta(seconds=value)
    if isinstance(like, time):
        return moment.time()
    if not isinstance(like, datetime):
        return moment.date()
    moment = moment.replace(tzinfo=None) if like.tzinfo is None else moment.astimezone(like.tzinfo)
    return moment if type(like) is datetime else type(like)(moment)  # a pandas Timestamp is a datetime, too


def number_in(text: Any) -> float | None:
    """The number that a text is, or None. A key such as 007, or with too many digits for a float, is not a number."""
    if not isinstance(text, str):
        return to_float(text)
    number = None if is_key(text) else float_in(text)
    return number if number is not None and math.isfinite(number) else None


def is_key(text: str) -> bool:
    """Whether digits are a key rather than a number: they begin with 0, or are too many for an exact float."""
    digits = text.strip().lstrip("+-")
    return digits.isdecimal() and ((len(digits) > 1 and digits[0] == "0") or len(digits) > 16 or int(digits) > LARGEST)


def float_in(text: str) -> float | None:
    """The float that Python reads in a text, which may be infinite, or None. Underscores are no part of numbers."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def written_number(value: float) -> str:
    """A number as text, with six digits unless it is whole."""
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST else f"{value:.6g}"
