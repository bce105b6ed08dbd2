"""A user's numbers as arrays, or an error that says which entry is none."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import check_array

from ...columns.texts import without_text
from ...columns.values import float_in
from ...core.numerics import checks

_LARGEST = 1e150  # squares of larger numbers overflow


def read_numbers(values: Any, name: str, **how: Any) -> np.ndarray:
    """Numbers as floats, NaN where missing. `how` holds further options of scikit-learn's `check_array`.

    Raises ValueError if an entry is text, a time, complex, infinite, or too large to be squared.
    """
    told = {"dtype": np.float64, "ensure_all_finite": False, "input_name": name}
    with naming_the_entry(values, name):
        array = check_array(_without_text(values), **(told | how))
    checks.check_finite(name, array, allow_nan=True)
    if array.size and np.nanmax(np.abs(array), initial=0.0) > _LARGEST:
        raise ValueError(f"{name} has values beyond {_LARGEST:g}, which cannot be squared. Change its units.")
    return array


def _without_text(values: Any) -> Any:
    """Columns of text such as "$3.20" as numbers. Other values are returned unchanged, since names and types count."""
    if not (isinstance(values, list | np.ndarray) or hasattr(values, "to_numpy")):
        return values
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        return values
    holds_text = array.dtype.kind in "UT" or (array.dtype.kind == "O" and any(isinstance(x, str) for x in array.flat))
    return without_text(array) if holds_text else values


class naming_the_entry:  # reads like a function: with naming_the_entry(X, "X"): …
    """Turns errors of conversion to numbers into one that names the first entry that is no number."""

    def __init__(self, values: Any, name: str) -> None:
        self._values, self._name = values, name

    def __enter__(self) -> None:
        """Times count as numbers for NumPy, so that they are refused beforehand."""
        if _holds_times(self._values):
            raise ValueError(f"{self._name} holds times. Turn them into numbers first, such as days since the first.")

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """Only conversions that failed are looked at."""
        if isinstance(error, ValueError | TypeError) and "convert" in str(error):
            told = told_of_text(self._values, self._name)
            if told is not None:
                raise ValueError(told) from error


def told_of_text(values: Any, name: str) -> str | None:
    """Which entry is a text and no number, in words; None if there is none."""
    place = _first_text(values)
    if place is None:
        return None
    return f"{name} holds {place[0]!r} at {place[1]}, which is not a number. Mark missing values with NaN."


def _holds_times(values: Any) -> bool:
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return native.dtype.is_temporal()
    if isinstance(native, nw.DataFrame):
        return any(column.dtype.is_temporal() for column in native.iter_columns())
    return isinstance(values, np.ndarray) and values.dtype.kind in "mM"


def _first_text(values: Any) -> tuple[str, str] | None:
    """The first text that is no number, and where it stands."""
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    names = native.columns if isinstance(native, nw.DataFrame) else None
    cells = np.asarray(values, dtype=object)
    for place, cell in np.ndenumerate(cells):
        if isinstance(cell, str) and float_in(cell) is None:
            column = "" if len(place) < 2 else f", column {names[place[1]] if names else place[1]!r}"
            return str(cell), f"row {place[0]}{column}"
    return None
