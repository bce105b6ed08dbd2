"""The cells of one column in a form that does not depend on its library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from . import values as python_values
from .formats import MISSING_AMONG_NUMBERS as ABSENT
from .formats import Format, find_time_format, is_missing_word
from .tables import plain
from .texts import read_numbers


@dataclass(frozen=True)
class Cells:
    """The cells of one column.

    `form` is "numbers", "times", "spans", "levels" or "text". Text may still turn out to be numbers. The first three
    have floats, NaN where missing. The others have a list of Python objects, None where missing.
    """

    form: str
    floats: np.ndarray | None = None
    items: list[Any] | None = None
    wall: np.ndarray | None = None  # seconds on the clock of the column's time zone; None if there is no zone
    order: tuple[Any, ...] | None = None  # the categories of a categorical column, in their own order
    is_ordered: bool = False
    format: Format | None = None  # how text writes its times; None if it has none
    has_type: bool = True  # False for a column of Python objects, whose type is only that of its values

    @property
    def is_known(self) -> np.ndarray:
        """Which cells have a value, (n,)."""
        if self.floats is not None:
            return ~np.isnan(self.floats)
        return np.array([item is not None for item in self.items or []], bool)

    @property
    def known(self) -> list[Any]:
        """The items that are not missing."""
        return [item for item in self.items or [] if item is not None]


def read_cells(column: Any, name: Any, is_day_first: bool | None = None) -> Cells:
    """The cells of a narwhals series or of a NumPy array. Raises an error with a cure if they cannot be used.

    `is_day_first` says how dates such as 01/02/2018 are read where the column leaves it open.
    """
    cells = _from_array(column, name) if isinstance(column, np.ndarray) else _from_series(column, name)
    if is_day_first is not None and getattr(cells.format, "is_open", False):
        cells = _from_text(cells.items or [], cells.has_type, is_day_first)
    if cells.floats is not None:
        check_finite(cells.floats, name)
    return cells


def check_finite(values: np.ndarray, name: Any) -> None:
    """Raise ValueError if a column has infinite values."""
    rows = np.flatnonzero(np.isinf(values))
    if len(rows):
        many = "an infinite value" if len(rows) == 1 else f"{len(rows)} infinite values, the first"
        raise ValueError(f"Column {name!r} has {many} in row {rows[0]}. Mark missing values with NaN.")


def _from_array(column: np.ndarray, name: Any) -> Cells:
    kind = column.dtype.kind
    if kind in "fiub":
        return Cells("numbers", column.astype(float))
    if kind in "Mm":
        seconds = np.where(np.isnat(column), np.nan, column.astype(f"{kind}8[us]").astype(np.int64) / 1e6)
        return Cells("times" if kind == "M" else "spans", seconds)
    if kind in "OU":
        return _from_objects(column.tolist(), name)
    raise _refused(name, column.dtype)


def _from_series(column: nw.Series, name: Any) -> Cells:
    kind = column.dtype
    if kind.is_numeric():
        return Cells("numbers", _floats(column))
    if kind == nw.Boolean:
        return Cells("levels", items=_items(column))
    if kind in (nw.Categorical, nw.Enum):
        return _from_categories(column, name)
    if kind == nw.String:
        has_type = str(getattr(column.to_native(), "dtype", "")) != "object"
        return _from_text(_items(column), has_type)
    if kind == nw.Object:
        return _from_objects(column.to_list(), name)
    if kind in (nw.Date, nw.Datetime, nw.Duration, nw.Time):
        return _from_times(column)
    return _from_unknown(column, name)


def _from_times(column: nw.Series) -> Cells:
    kind = column.dtype
    if kind == nw.Duration:
        return Cells("spans", _floats(column.dt.total_microseconds()) / 1e6)
    if kind == nw.Time:
        return Cells("times", _floats(column.cast(nw.Int64)) / 1e9)
    if kind == nw.Date:
        column = column.cast(nw.Datetime("us"))
    seconds = _seconds(column)
    return Cells("times", seconds, wall=wall_clock(column) if getattr(kind, "time_zone", None) else None)


def wall_clock(column: nw.Series) -> np.ndarray:
    """Seconds of the local time of a column with a time zone."""
    return _seconds(column.dt.replace_time_zone(None))


def _seconds(column: nw.Series) -> np.ndarray:
    return _floats(column.dt.timestamp("us")) / 1e6


def _from_categories(column: nw.Series, name: Any) -> Cells:
    native = column.to_native()
    if not column.implementation.is_pandas_like():
        # The order of other categories depends on which text the process has seen first.
        order = tuple(column.dtype.categories) if isinstance(column.dtype, nw.Enum) else None
        return Cells("levels", items=_items(column), order=order)
    categories = [category_key(each) for each in native.cat.categories]
    if len(set(categories)) < len(categories):
        raise ValueError(f"Column {name!r} has categories that look the same as text. Rename them.")
    items = [None if code < 0 else categories[code] for code in native.cat.codes]
    return Cells("levels", items=items, order=tuple(categories), is_ordered=bool(native.cat.ordered))


def category_key(category: Any) -> Any:
    """A category as it is kept: text, a number or a boolean. Anything else, such as an interval, becomes text."""
    category = plain(category)
    return category if isinstance(category, str | int | float) else str(category)


def _from_unknown(column: nw.Series, name: Any) -> Cells:
    """A column of a type that narwhals has no name for: only null, or sparse numbers."""
    if column.is_null().all():
        return Cells("numbers", np.full(len(column), np.nan))
    values = np.asarray(column.to_numpy())
    if column.dtype != nw.Unknown or values.dtype.kind not in "fiub":  # a struct could become an array, too
        raise _refused(name, getattr(column.to_native(), "dtype", column.dtype))
    return Cells("numbers", values.astype(float))


def _from_text(items: list[Any], has_type: bool, is_day_first: bool | None = None) -> Cells:
    """Text, which may be nothing but times. Among times and numbers, words such as NA are missing."""
    known = {item: item.strip() for item in items if item is not None and not is_missing_word(item, ABSENT)}
    found = find_time_format(dict.fromkeys(known.values()), is_day_first)
    if found is None:
        if len(known) < len(set(items) - {None}) and read_numbers(items) is not None:
            items = [item if item in known else None for item in items]
        return Cells("text", items=items, has_type=has_type)
    seconds = {item: python_values.to_float(found.read(text)) for item, text in known.items()}
    floats = np.array([seconds.get(item, np.nan) for item in items])
    items = [item if item in known else None for item in items]
    return Cells("times", floats, items=items, format=found, has_type=has_type)


def _from_objects(items: list[Any], name: Any) -> Cells:
    items = [None if python_values.is_missing(item) else plain(item) for item in items]
    form = python_values.form_of(items)
    if form is None:
        raise _refused(name, " and ".join(sorted({type(item).__name__ for item in items if item is not None})[:3]))
    if form == "text" and all(isinstance(item, str | None) for item in items):
        return _from_text(items, has_type=False)
    if form in ("numbers", "times", "spans"):
        return Cells(form, python_values.floats_of(items), items=items, has_type=False)
    return Cells(form, items=items, has_type=False)


def _items(column: nw.Series) -> list[Any]:
    return [None if lost else plain(item) for item, lost in zip(column.to_list(), column.is_null(), strict=True)]


def _floats(column: nw.Series) -> np.ndarray:
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)


def _refused(name: Any, kind: Any) -> TypeError:
    return TypeError(
        f"Column {name!r} holds {kind}, which cannot be used. Leave it out, or turn it into numbers, text or times."
    )
