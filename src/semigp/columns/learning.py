"""From the cells of a column to its kind, and from cells to codes once the kind is known."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .cells import Cells, check_finite
from .identifiers import FREE_TEXT, ROW_NUMBER, is_free_text, is_identifier, is_whole
from .kinds import Kind, Levels, Number, Time
from .texts import number_slips, read_numbers
from .values import number_in

_STEPS = (86400.0, 3600.0, 60.0, 1.0)  # seconds of a day, an hour, a minute and a second


def learn_kind(cells: Cells, name: Any, is_categorical: bool) -> Kind | str:
    """The kind of a column, or the reason to leave it out."""
    if is_categorical:
        if cells.form in ("times", "spans") and cells.format is None:
            raise ValueError(f"Column {name!r} holds times, which are not categories. Convert it to text first.")
        return _learn_levels(_as_levels(cells), name)
    if cells.form in ("times", "spans"):
        _warn_of_open_order(cells, name)
        return _learn_times(cells, name)
    found = _numbers(cells, name)
    if found is None:
        kind = _learn_levels(cells, name)
        if kind == FREE_TEXT:
            _check_slips(cells, name)
        return kind
    numbers, unit = found
    if is_identifier(name, numbers):
        return ROW_NUMBER
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return Number(name, False, None, None)
    return Number(name, is_whole(known), float(known.min()), float(known.max()), unit)


def _numbers(cells: Cells, name: Any) -> tuple[np.ndarray, str] | None:
    """The numbers of a column of numbers, or of text that is nothing but numbers, and their unit; None for others."""
    if cells.floats is not None and cells.form == "numbers":
        return cells.floats, ""
    if cells.form != "text" or (cells.has_type and not cells.known):
        return None
    found = read_numbers(cells.items or [])
    if found is None:
        return None
    check_finite(found[0], name)
    return found[0], getattr(found[1], "unit", "")


def _check_slips(cells: Cells, name: Any) -> None:
    """Raise ValueError if a text stands among numbers, of which there are too many to be levels."""
    slips, example = number_slips([item if isinstance(item, str) else None for item in cells.items or []])
    if example is not None and 2 * len(slips) < len(cells.known):
        strange = (cells.items or [])[slips[0]]
        many = "" if len(slips) == 1 else f" There are {len(slips)} such entries."
        raise ValueError(
            f"Column {name!r} holds {strange!r} in row {slips[0]}, and numbers such as {example!r} elsewhere.{many} "
            "Mark missing values with NaN."
        )


def _as_levels(cells: Cells) -> Cells:
    """The cells of a column that a user has called categorical, as levels."""
    if cells.items is not None:
        return cells
    return Cells("levels", items=[None if np.isnan(each) else _counted(each) for each in cells.floats.tolist()])


def _counted(number: float) -> int | float:
    return int(number) if number.is_integer() else number


def _learn_levels(cells: Cells, name: Any) -> Levels | str:
    found = set(cells.known)
    if is_free_text(len(found), len(cells.known)) and not found <= {False, True}:
        return FREE_TEXT
    if cells.order is not None:
        return Levels(name, tuple(level for level in cells.order if level in found), cells.is_ordered)
    return Levels(name, tuple(sorted(found, key=lambda level: (isinstance(level, str), level))), False)


def _learn_times(cells: Cells, name: Any) -> Time:
    known = cells.is_known
    is_span = cells.form == "spans"
    codes = cells.floats[known]
    if not len(codes):
        return Time(name, is_span, None, None, None)
    clock = codes if cells.wall is None else cells.wall[known]
    step = next((step for step in _STEPS if not (clock % step).any()), None)
    is_day_first = getattr(cells.format, "is_day_first", None)
    return Time(name, is_span, step, float(codes.min()), float(codes.max()), is_day_first)


def _warn_of_open_order(cells: Cells, name: Any) -> None:
    """Warn if the cells do not tell whether day or month comes first."""
    if getattr(cells.format, "is_open", False):
        warnings.warn(
            f"Column {name!r}: {cells.known[0]!r} is read with the month first; no cell tells whether it is. If the "
            f"day is first, convert the column: pandas.to_datetime(frame[{name!r}], dayfirst=True).",
            UserWarning,
            stacklevel=2,
        )


def codes_of(cells: Cells, kind: Kind) -> np.ndarray:
    """The codes of cells, NaN where missing. Warns of levels that were not there in training."""
    if isinstance(kind, Levels):
        return _level_codes(_as_levels(cells), kind)
    if isinstance(kind, Time):
        form = "spans" if kind.is_span else "times"
        if cells.form == form:
            return cells.floats
        if not cells.is_known.any():
            return np.full(len(cells.is_known), np.nan)
        told = "spans of time" if kind.is_span else "times"
        raise ValueError(f"Column {kind.name!r} held {told} in training, but now {cells.form}. Convert it.")
    return _number_codes(cells, kind)


def _number_codes(cells: Cells, kind: Number) -> np.ndarray:
    if cells.form == "levels" and all(isinstance(item, bool | int | float) for item in cells.known):
        return np.array([np.nan if item is None else float(item) for item in cells.items or []])
    if not cells.is_known.any():
        return np.full(len(cells.is_known), np.nan)
    found = _numbers(cells, kind.name)
    if found is None:
        strange = next((item for item in cells.known if isinstance(item, str) and number_in(item) is None), cells.form)
        raise ValueError(f"Column {kind.name!r} held numbers in training, but now {strange!r}. Convert it to numbers.")
    numbers, unit = found
    if unit != kind.unit and "%" in (unit, kind.unit):
        warnings.warn(
            f"Column {kind.name!r}: only the training rows, or only these rows, are in percent, as 50% beside 0.5. "
            "The numbers are taken as they are.",
            UserWarning,
            stacklevel=2,
        )
    return numbers


def _level_codes(cells: Cells, kind: Levels) -> np.ndarray:
    place_of = places_of(kind)
    codes = {item: place_of(item) for item in set(cells.known)}
    _warn_of([item for item, code in codes.items() if code is None], kind)
    found = [None if item is None else codes[item] for item in cells.items or []]
    return np.array([np.nan if code is None else float(code) for code in found])


def places_of(kind: Levels) -> Callable[[Any], int | None]:
    """A function that finds the place of a level. A file may have turned 1 into "1", and True into "true"."""
    places = {level: place for place, level in enumerate(kind.levels)}
    written = {_written(level): place for place, level in enumerate(kind.levels)}
    return lambda item: places[item] if item in places else written.get(_written(item))


def _written(item: Any) -> str:
    text = str(item)
    return text.lower() if text.lower() in ("true", "false") else text


def _warn_of(unseen: list[Any], kind: Levels) -> None:
    if not unseen:
        return
    first = sorted(unseen, key=str)[0]
    told = f"the value {first!r} was not seen in training and counts as missing."
    if len(unseen) > 1:
        told = f"{len(unseen)} values, such as {first!r}, were not seen in training and count as missing."
    warnings.warn(f"Column {kind.name!r}: {told}", UserWarning, stacklevel=2)
