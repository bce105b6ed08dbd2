"""Columns from which nothing can be learned: identifiers and free text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_FEWEST_ROWS = 20  # with fewer rows, values can all be different by chance
_MOST_LEVELS = 20  # so many levels are never too many
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LAST = frozenset({"id", "uuid", "guid"})
_ALONE = _LAST | {"index", "idx", "key", "row", "record", "line", "no", "nr", "num", "number", "serial"}

FREE_TEXT = "nearly every value is different, as in an identifier"
ROW_NUMBER = "its name and its values are those of an identifier"


def is_identifier(name: Any, values: np.ndarray) -> bool:
    """Whether a column of numbers has the name of an identifier and only different whole numbers."""
    if not is_identifying_name(name):
        return False
    known = values[~np.isnan(values)]
    return len(known) >= _FEWEST_ROWS and is_whole(known) and len(np.unique(known)) == len(known)


def is_identifying_name(name: Any) -> bool:
    """Whether a name is that of an identifier, such as `id`, `customerID`, `row number` or `Unnamed: 0`."""
    if not isinstance(name, str):
        return False
    words = [word.lower() for word in _WORDS.findall(name)]
    if not name.strip() or words[:1] == ["unnamed"]:  # names that libraries give to a column of row numbers
        return True
    return bool(words) and (words[-1] in _LAST or set(words) <= _ALONE)


def is_free_text(n_levels: int, n_known: int) -> bool:
    """Whether there are many different values, and they hardly ever occur again."""
    return n_levels > _MOST_LEVELS and 2 * n_levels > n_known


def is_whole(known: np.ndarray) -> bool:
    """Whether all of these numbers are whole numbers."""
    return bool((known == np.rint(known)).all())
