"""A column of times, or the index of a pandas frame, as times of NumPy, and back."""

from __future__ import annotations

import re
from typing import Any

import narwhals as nw
import numpy as np

from .dates import HOW, read_dates

_YEAR = re.compile(r"[12]\d{3}")


def is_time_column(column: nw.Series) -> bool:
    """Whether a column holds times by its type."""
    return column.dtype.is_temporal() or _has_pandas_times(column)


def _has_pandas_times(column: nw.Series) -> bool:
    """Whether a column of pandas holds times with a zone, or periods. narwhals does not know all of them."""
    if not column.implementation.is_pandas():
        return False
    kind = nw.to_native(column).dtype
    return hasattr(kind, "tz") or str(kind).startswith("period")


def column_times(column: nw.Series, what: str) -> tuple[np.ndarray, str | None]:
    """The times of a column, in UTC if they have a zone, and the zone. Text is read as dates."""
    if _has_pandas_times(column):
        import pandas

        times, zone = index_times(pandas.Index(nw.to_native(column)))
        return times, None if zone is None else str(zone)
    zone = getattr(column.dtype, "time_zone", None)
    if zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    times = column.to_numpy()
    if times.dtype.kind in "OUT":
        return _from_objects(times.tolist(), what)
    if times.dtype.kind not in "iufmM":
        raise ValueError(f"The times of {what} are neither dates nor numbers; the first is {times[0]!r}. {HOW}")
    return _signed(times), zone


def _signed(times: np.ndarray) -> np.ndarray:
    """Whole numbers as int64: differences of unsigned ones wrap around, and small types are soon exceeded."""
    return times.astype(np.int64) if times.dtype.kind in "iu" else times


def _from_objects(values: list[Any], what: str) -> tuple[np.ndarray, str | None]:
    """Text or dates of Python as times."""
    times, zone = read_dates([str(value) if hasattr(value, "isoformat") else value for value in values])
    wrong = [row for row, value in enumerate(values) if np.isnat(times[row]) and isinstance(value, str)]
    if wrong or np.isnat(times).all():
        row = wrong[0] if wrong else 0
        raise ValueError(
            f"The times of {what} are neither dates nor numbers in {max(len(wrong), 1)} rows; the first is "
            f"{values[row]!r} in row {row}. {HOW} Or convert them to dates or numbers first."
        )
    return times, zone


def as_time_index(index: Any, what: str) -> Any:
    """A pandas index of text or of dates of Python as one of times. Labels and all others stay as they are.

    Text such as 2001 is a year, and becomes a number.
    """
    import pandas

    if index.nlevels > 1 or index.inferred_type in ("interval", "time", "mixed-integer"):
        raise ValueError(
            f"The index of {what} ({index.inferred_type}, {index.nlevels} levels) is not a time axis. Use dates "
            "(pandas.to_datetime), periods or numbers."
        )
    if index.inferred_type == "string" and all(_YEAR.fullmatch(text) for text in index):
        return pandas.Index(index.astype("int64"), name=index.name)
    if index.inferred_type == "string" and np.isnat(read_dates(index.tolist())[0]).mean() > 0.5:
        return index  # labels, which most dates with errors in some rows are not
    if index.inferred_type not in ("string", "date"):
        return index
    times, zone = _from_objects(index.tolist(), what)
    found = pandas.DatetimeIndex(times, name=index.name)
    return found if zone is None else found.tz_localize(zone)


def holds_labels(index: Any) -> bool:
    """Whether a pandas index holds labels rather than times."""
    return index.inferred_type in ("string", "mixed", "categorical", "empty", "boolean")


def index_times(index: Any) -> tuple[np.ndarray, Any]:
    """The times of a pandas index, in UTC if they have a zone, and the zone. Periods count from their start."""
    if hasattr(index, "to_timestamp"):
        index = index.to_timestamp()
    zone = getattr(index, "tz", None)
    if zone is not None:
        index = index.tz_convert("UTC").tz_localize(None)
    times = index.to_numpy()
    if times.dtype.kind == "O":  # numbers that pandas keeps with a mask
        times = index.to_numpy(float, na_value=np.nan)
    return _signed(times), zone


def like_index(index: Any, times: np.ndarray) -> Any:
    """Times of NumPy as a pandas index of the same kind as another one."""
    import pandas

    if times.dtype.kind == "M":
        return in_zone(times, getattr(index, "tz", None), index.name)
    kind = None if times.dtype.kind in "im" else index.dtype
    return pandas.Index(times, dtype=kind, name=index.name)


def in_zone(times: np.ndarray, zone: Any, name: Any = None) -> Any:
    """Times in UTC as a pandas index of local times."""
    import pandas

    index = pandas.DatetimeIndex(times, name=name)
    return index if zone is None else index.tz_localize("UTC").tz_convert(zone)


def with_frequency(index: Any) -> Any:
    """An index of dates with the frequency that pandas finds in it, or as it was.

    It knows steps such as the last weekday of every month.
    """
    import pandas

    is_enough = isinstance(index, pandas.DatetimeIndex) and len(index) > 2
    return pandas.DatetimeIndex(index, freq="infer") if is_enough else index


def after_by_frequency(index: Any, steps: int) -> Any:
    """The times after the end of a pandas index with a frequency."""
    import pandas

    if isinstance(index, pandas.PeriodIndex):
        return pandas.period_range(index[-1] + 1, periods=steps, freq=index.freq, name=index.name)
    ranged = pandas.date_range if isinstance(index, pandas.DatetimeIndex) else pandas.timedelta_range
    return ranged(index[-1], periods=steps + 1, freq=index.freq, name=index.name)[1:]
