"""Columns of text that are nothing but numbers, in Python and in files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .formats import MISSING_AMONG_NUMBERS as ABSENT
from .formats import Format, find_number_format, find_time_format, is_missing_word
from .values import is_missing, number_in, to_float

_LOOKED_AT, _TRIED = 200, 5  # cells and formats among which the usual one is found


def read_numbers(items: Sequence[Any], has_decimal_commas: bool = False) -> tuple[np.ndarray, Format | None] | None:
    """The numbers of a column of text, NaN where missing, and its format; None if some text is not a number.

    Items are text, numbers, or None. Numbers such as 1.5 and -2e3 have no format. `has_decimal_commas` is explained
    in `NumberFormat.find`.
    """
    texts = dict.fromkeys(item for item in items if isinstance(item, str))
    known = {text: text.strip() for text in texts if not is_missing_word(text, ABSENT)}
    if texts and not known:  # nothing but words
        return None
    found = {text: number_in(stripped) for text, stripped in known.items()}
    form = None
    if None in found.values():
        form = find_number_format(dict.fromkeys(known.values()), has_decimal_commas)
        if form is None:
            return None
        found = {text: form.read(stripped) for text, stripped in known.items()}
    floats = [found.get(item) if isinstance(item, str) or item is None else to_float(item) for item in items]
    return np.array([np.nan if each is None else each for each in floats], dtype=float), form


def without_text(values: Any) -> Any:
    """Values in which columns of text such as "$3.20" or "1,234.50" are numbers, if all of their cells are."""
    values = np.asarray(values)
    if values.dtype.kind not in "OUT" or values.ndim not in (1, 2):
        return values
    columns = values.reshape(len(values), -1).astype(object)
    for column in columns.T:  # a view
        items = [None if is_missing(item) else item for item in column.tolist()]
        found = read_numbers(items) if any(isinstance(item, str) for item in items) else None
        if found is not None:
            column[:] = found[0]
    return columns.reshape(values.shape)


def number_slips(texts: Sequence[str | None]) -> tuple[list[int], str | None]:
    """The rows whose text is not a number in the way in which most others are, and one that is; None if none is."""
    return _slips(texts, lambda text: find_number_format([text]))


def time_slips(texts: Sequence[str | None]) -> tuple[list[int], str | None]:
    """The rows whose text is not a time in the way in which most others are, and one that is; None if none is."""
    return _slips(texts, lambda text: find_time_format([text]))


def _slips(texts: Sequence[str | None], find: Callable[[str], Any]) -> tuple[list[int], str | None]:
    known = {row: text.strip() for row, text in enumerate(texts) if text and not is_missing_word(text, ABSENT)}
    usual = _usual(list(known.values()), find)
    right = {row for row, text in known.items() if usual is not None and usual.read(text) is not None}
    return [row for row in known if row not in right], next((known[row] for row in sorted(right)), None)


def usual_time_format(texts: Sequence[str]) -> Any:
    """The format that reads the most of these texts without spaces around them; None if none reads any."""
    return _usual(texts, lambda text: find_time_format([text]))


def _usual(texts: Sequence[str], find: Callable[[str], Any]) -> Any:
    found = Counter(find(text) for text in texts[:_LOOKED_AT])
    forms = [form for form, _ in found.most_common() if form is not None][:_TRIED]
    counts = {form: sum(form.read(text) is not None for text in texts) for form in forms}
    return max(counts, key=lambda form: counts[form], default=None)
