"""The holes of one column filled in, in the type that the column has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import narwhals as nw
import numpy as np

from .cells import Cells, category_key, wall_clock
from .formats import Format
from .kinds import Kind, Levels, Number, Time
from .learning import places_of
from .texts import read_numbers
from .values import from_float, number_in

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def filled_array(column: np.ndarray, cells: Cells, kind: Kind, codes: np.ndarray) -> np.ndarray:
    """A column of an array with its holes filled in."""
    column, codes = column.copy(), kind.nearest(codes)
    holes = _holes(cells, codes)
    if column.dtype.kind in "Mm":
        times = _ticks(_stepped(kind, codes[holes]), "us").astype(f"{column.dtype.kind}8[us]")
        column[holes] = times.astype(column.dtype)
    else:
        column[holes] = _objects(cells, kind, codes[holes])
    return column


def filled_series(column: nw.Series, cells: Cells, kind: Kind, codes: np.ndarray) -> nw.Series:
    """A column of a frame with its holes filled in."""
    codes = kind.nearest(codes)
    holes = _holes(cells, codes)
    if not len(holes):
        return column
    if isinstance(kind, Time) and column.dtype in (nw.Date, nw.Datetime, nw.Duration, nw.Time):
        values = _times(column, kind, codes[holes])
    else:
        values = _objects(cells, kind, codes[holes])
    if column.implementation.is_pandas_like():
        return _set_in_pandas(_able_to_hold(column, cells, kind), holes, values)
    return _set_in_others(column, cells, holes, values)


def _holes(cells: Cells, codes: np.ndarray) -> np.ndarray:
    """The numbers of the rows that have a code but no value."""
    return np.flatnonzero(~cells.is_known & ~np.isnan(codes))


def _stepped(kind: Kind, codes: np.ndarray) -> np.ndarray:
    """Times rounded to whole days, hours …; other codes unchanged."""
    return np.rint(codes / kind.step) * kind.step if isinstance(kind, Time) and kind.step else codes


def _objects(cells: Cells, kind: Kind, codes: np.ndarray) -> list[Any]:
    """Codes as Python objects, of the type that the known objects of the column have."""
    if isinstance(kind, Levels):
        return _levels(cells, kind, codes)
    form = _format(cells, kind)
    if form is not None:
        example = datetime(1970, 1, 1, tzinfo=UTC) if getattr(form, "offset", None) is not None else datetime.min
        values = _stepped(kind, codes).tolist()
        return [form.write(from_float(each, example) if isinstance(kind, Time) else each) for each in values]
    if cells.known:
        return [from_float(code, cells.known[0]) for code in _stepped(kind, codes).tolist()]
    example: Any = 0.0
    if isinstance(kind, Time):
        example = timedelta() if kind.is_span else datetime.min
    elif cells.form == "text" and cells.has_type:
        example = ""
    return [from_float(code, example) for code in _stepped(kind, codes).tolist()]


def _format(cells: Cells, kind: Kind) -> Format | None:
    """How a column of text writes its numbers or times; None if it is not text, or writes numbers as Python does."""
    if isinstance(kind, Number) and cells.form == "text":
        found = read_numbers(cells.items or [])
        return None if found is None else found[1]
    return cells.format


def _levels(cells: Cells, kind: Levels, codes: np.ndarray) -> list[Any]:
    """Levels in the form that they have in this column, which may not be that of the training rows."""
    if not cells.known or type(cells.known[0]) is type(kind.levels[0]):
        return [kind.levels[int(code)] for code in codes]
    place_of = places_of(kind)
    found = {place_of(item): item for item in set(cells.known)}
    return [found.get(int(code), _like(kind.levels[int(code)], cells.known[0])) for code in codes]


def _like(level: Any, example: Any) -> Any:
    """A level as text, as a boolean or as a number, whichever the example is."""
    if isinstance(example, str):
        return str(level).lower() if isinstance(level, bool) else str(level)
    if isinstance(example, bool):
        return str(level).lower() == "true"
    return number_in(level) if number_in(level) is not None else level


# ---- times


def _times(column: nw.Series, kind: Time, codes: np.ndarray) -> Any:
    if kind.step and getattr(column.dtype, "time_zone", None):
        codes = _rounded_on_the_wall(column, kind.step, codes)
    else:
        codes = _stepped(kind, codes)
    return _of_same_type(column, codes)


def _rounded_on_the_wall(column: nw.Series, step: float, codes: np.ndarray) -> np.ndarray:
    """Times rounded to whole days, hours … on the clock of their time zone.

    The offset of the zone at a rounded time may be another one than before rounding. Therefore it is found twice.
    """
    wall = wall_clock(_of_same_type(column, codes))
    rounded = np.rint(wall / step) * step
    first = rounded - (wall - codes)
    again = wall_clock(_of_same_type(column, first))
    return rounded - (again - first)


def _of_same_type(column: nw.Series, codes: np.ndarray) -> nw.Series:
    """Seconds as a series of the type of this column."""
    kind, native = column.dtype, column.to_native()
    library = column.implementation
    if kind == nw.Date:
        days = np.rint(codes / 86400).astype(np.int32)
        return nw.new_series(column.name, days, nw.Int32, backend=library).cast(nw.Date())
    unit = getattr(kind, "time_unit", "ns")  # a time of day has nanoseconds
    ticks = _ticks(codes, unit)
    if not library.is_pandas_like():
        return nw.new_series(column.name, ticks, nw.Int64, backend=library).cast(kind)
    import pandas

    if kind == nw.Duration:
        return _wrapped(pandas.Series(ticks.astype(f"m8[{unit}]")).astype(native.dtype))
    series = pandas.Series(ticks.astype(f"M8[{unit}]"))
    if getattr(kind, "time_zone", None):
        series = series.dt.tz_localize("UTC").dt.tz_convert(native.dt.tz)
    return _wrapped(series.astype(native.dtype))


def _ticks(codes: np.ndarray, unit: str) -> np.ndarray:
    """Seconds as whole numbers of a unit. Whole seconds stay exact."""
    whole = np.floor(codes)
    per_second = _PER_SECOND[unit]
    return whole.astype(np.int64) * per_second + np.rint((codes - whole) * per_second).astype(np.int64)


# ---- into the column


def _wrapped(series: Any) -> nw.Series:
    return nw.from_native(series, series_only=True)


def _able_to_hold(column: nw.Series, cells: Cells, kind: Kind) -> nw.Series:
    """The column; or one of objects, if it has no value and was therefore read as a column of floats."""
    series = column.to_native()
    if hasattr(series, "sparse"):
        return _wrapped(series.sparse.to_dense())
    is_right = isinstance(kind, Number) or cells.form != "numbers" or cells.is_known.any()
    return column if is_right else _wrapped(series.astype(object))


def _set_in_pandas(column: nw.Series, holes: np.ndarray, values: Any) -> nw.Series:
    series = column.to_native().copy()
    if hasattr(series.dtype, "categories"):
        categories = {category_key(each): each for each in series.cat.categories}
        new = [each for each in dict.fromkeys(values) if each not in categories]
        if new:  # a table of new rows may have fewer categories than the training rows
            series = series.cat.add_categories(new)
        values = [categories.get(each, each) for each in values]
    if isinstance(values, nw.Series):
        values = values.to_native().array
    elif series.dtype == object:
        values = np.array([*values, None], dtype=object)[:-1]  # otherwise NumPy would make arrays of their own types
    series.iloc[holes] = values
    return _wrapped(series)


def _set_in_others(column: nw.Series, cells: Cells, holes: np.ndarray, values: Any) -> nw.Series:
    """As polars wants it: a whole column of new values, from which those at the holes are taken."""
    kind, library = column.dtype, column.implementation
    if kind == nw.Object:
        new = dict(zip(holes.tolist(), values, strict=True))
        items = [new.get(row, item) for row, item in enumerate(column.to_list())]
        return nw.new_series(column.name, items, kind, backend=library)
    if not isinstance(values, nw.Series):
        values = nw.new_series(column.name, values, backend=library)
    places, is_kept = np.zeros(len(column), dtype=np.int64), np.ones(len(column), dtype=bool)
    places[holes], is_kept[holes] = np.arange(len(holes)), False
    spread = values[places.tolist()]
    mask = nw.new_series("kept", is_kept, nw.Boolean, backend=library)
    if not cells.is_known.any() and kind != values.dtype and cells.form == "numbers":
        return column.cast(values.dtype).zip_with(mask, spread) if kind.is_numeric() else spread
    if kind not in (nw.Categorical, nw.Enum):
        return column.zip_with(mask, spread.cast(kind))
    merged = column.cast(nw.String()).zip_with(mask, spread)
    if isinstance(kind, nw.Enum):
        own = kind.categories
        new = [each for each in values.unique().to_list() if each not in own]
        return merged.cast(nw.Enum([*own, *sorted(new)]))
    return merged.cast(kind)
