"""Reading a series from an array or a frame: values (T, p) with NaN for gaps, and their timeline."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

import narwhals as nw
import numpy as np

from ..columns.texts import number_slips, without_text
from .dates import is_date
from .grid import check_increasing, regular_grid
from .indices import as_time_index, column_times, is_time_column, like_index, with_frequency
from .steps import Step
from .timeline import Timeline, are_equal, holds_times


def read_series(series: Any, name: str = "series", time: str | None = None) -> tuple[np.ndarray, Timeline]:
    """Values (T, p) with NaN for gaps, and their timeline.

    Takes arrays (T,) or (T, p), and Series and DataFrames of pandas and polars. `time` names the column of times in a
    frame; it is needed only if the times are numbers or text. Times that are missing between others become gaps.
    Raises ValueError, saying what is wrong, for anything that is not a series of numbers on a regular time axis.
    """
    return _on_grid(*_read(series, name, time), name)


def _read(series: Any, name: str, time: str | None) -> tuple[np.ndarray, Timeline]:
    """Values and timeline as they were given, without the times that are missing."""
    native = nw.from_native(series, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        timeline = Timeline([native.name or "value"], True, native.implementation, nw.maybe_get_index(native))
        values = native.to_numpy()
    elif isinstance(native, nw.DataFrame):
        native, timeline = _read_times(native, name, time)
        values = native.to_numpy()
    else:
        is_masked = np.ma.isMaskedArray(series)
        values = np.ma.filled(series.astype(float), np.nan) if is_masked else np.asarray(series)
        shape = values.shape
        columns = ["value"] if values.ndim == 1 else [f"value_{i}" for i in range(shape[-1] if values.ndim else 0)]
        timeline = Timeline(columns, values.ndim == 1)
    values = as_numbers(values, name)
    if not (timeline.index is None or isinstance(timeline.index, np.ndarray)):
        timeline = replace(timeline, index=as_time_index(timeline.index, name))
    return values, timeline


def _read_times(frame: nw.DataFrame, name: str, time: str | None) -> tuple[nw.DataFrame, Timeline]:
    """The columns without that of the times, and their timeline."""
    times = [column.name for column in frame.iter_columns() if is_time_column(column)] if time is None else [time]
    if len(times) > 1:
        raise ValueError(f"{name} has several columns of times ({', '.join(map(str, times))}); keep one.")
    check_columns(frame, times, name)
    if not times:
        _check_texts(frame, name)
        return frame, Timeline(list(frame.columns), False, frame.implementation, nw.maybe_get_index(frame))
    index, zone = column_times(frame.get_column(times[0]), name)
    frame = frame.drop(times)
    return frame, Timeline(list(frame.columns), False, frame.implementation, index, times[0], zone)


def _check_texts(frame: nw.DataFrame, name: str) -> None:
    """Raise ValueError for a column of text that begins with a date."""
    for column in frame.iter_columns():
        first = column.to_list()[:1] if column.dtype == nw.String else []
        if first and isinstance(first[0], str) and is_date(first[0]):
            raise ValueError(
                f"{name} has dates as text in column {column.name!r}; if these are its times, say time={column.name!r}."
            )


def check_columns(frame: nw.DataFrame, names: list[str], what: str) -> None:
    """Raise ValueError for names that are not columns of the frame."""
    for name in names:
        if name not in frame.columns:
            told = ", ".join(map(str, frame.columns))
            raise ValueError(f"{what} has no column {name!r}; its columns are {told}.")


def _on_grid(
    values: np.ndarray, timeline: Timeline, name: str, step: Step | None = None
) -> tuple[np.ndarray, Timeline]:
    """Values and timeline with the times that are missing between others."""
    index = timeline.index
    if index is None or timeline.has_labels:
        return values, timeline
    if hasattr(index, "to_timestamp"):  # periods
        return _periods_on_grid(values, timeline, name)
    times, zone = timeline.in_utc()
    if getattr(index, "freq", None) is not None:
        check_increasing(times, name, zone)  # a frequency may be negative
        return values, timeline
    try:
        grid = regular_grid(times, name, zone, step)
    except ValueError:
        index = with_frequency(index)
        if getattr(index, "freq", None) is None:
            raise
        return _on_grid(values, replace(timeline, index=index), name)
    if len(grid.times) > len(times):
        index = grid.times if isinstance(index, np.ndarray) else like_index(index, grid.times)
    told = None if grid.step is None else astuple(grid.step)
    return grid.spread(values), replace(timeline, index=index, step=told)


def _periods_on_grid(values: np.ndarray, timeline: Timeline, name: str) -> tuple[np.ndarray, Timeline]:
    import pandas

    index = timeline.index
    check_increasing(timeline.in_utc()[0], name)
    full = pandas.period_range(index[0], index[-1], freq=index.freq, name=index.name)
    spread = np.full((len(full), values.shape[1]), np.nan)
    spread[full.get_indexer(index)] = values
    return spread, replace(timeline, index=full)


def read_next(values: Any, timeline: Timeline) -> np.ndarray:
    """Values (T, p) that continue a series, with columns in its order. Their times must follow directly."""
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    has_time = isinstance(timeline.index, np.ndarray) and timeline.time_name in getattr(frame, "columns", [])
    new, later = _read(values, "values", timeline.time_name if has_time else None)
    is_timed = holds_times(later.index) and holds_times(timeline.index)
    new, later = _on_grid(new, later, "values", timeline.find_step() if is_timed else None)
    new = in_order(new, later, timeline.names, "values")
    if is_timed and not are_equal(later.index, expected := timeline.after(len(new))):
        raise ValueError(
            f"values begin at {later.index[0]}, but the series continues at {expected[0]}, step by step: give all "
            "values after its end, with NaN for missing ones, and none that it already has."
        )
    return new


def in_order(values: np.ndarray, found: Timeline, names: list[str], what: str) -> np.ndarray:
    """The columns of a frame in the order of `names`. The columns of an array keep their order."""
    if values.shape[1] != len(names):
        raise ValueError(f"{what} has {values.shape[1]} columns but the series has {len(names)}.")
    if found.library is None or len(names) == 1 or found.names == names or _are_numbered(names):
        return values
    if set(found.names) != set(names):
        told = ", ".join(map(str, found.names)), ", ".join(map(str, names))
        raise ValueError(f"{what} has the columns {told[0]}, but the series has {told[1]}.")
    return values[:, [found.names.index(name) for name in names]]


def _are_numbered(names: list[str]) -> bool:
    """Whether the names are those given to the columns of an array."""
    return names == [f"value_{i}" for i in range(len(names))]


def fill_gaps(values: np.ndarray) -> np.ndarray:
    """Values (T, p) with NaN interpolated linearly between neighbours; at the ends the nearest value is repeated."""
    seen = ~np.isnan(values)
    if not seen.any(axis=0).all():
        raise ValueError(f"series has no value in column {np.argmin(seen.any(axis=0))}.")
    steps = np.arange(len(values))
    columns = zip(values.T, seen.T, strict=True)
    return np.column_stack([np.interp(steps, steps[known], column[known]) for column, known in columns])


def as_numbers(values: Any, name: str) -> np.ndarray:
    """A copy of the values as floats, (T, p)."""
    if np.asarray(values).dtype.kind in "cmM":
        raise ValueError(f"{name} holds {np.asarray(values).dtype} values, but must hold real numbers.")
    try:
        values = np.array(without_text(values), dtype=np.float64)  # a copy: the caller may change the original
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds {_first_text(values)} not a number. Mark gaps with NaN.") from error
    if values.ndim not in (1, 2) or 0 in values.shape:
        raise ValueError(f"{name} has shape {values.shape}; give (T,) or (T, p) with at least one value.")
    values = values.reshape(len(values), -1)
    if np.isinf(values).any():
        step, column = np.argwhere(np.isinf(values))[0]
        raise ValueError(f"{name} is infinite at step {step}, column {column}; use NaN for a gap.")
    return values


def _first_text(values: Any) -> str:
    """The first text that is not a number as the others are, and where it stands, as the beginning of a message."""
    cells = np.asarray(values, dtype=object)
    for column, texts in enumerate(cells.reshape(len(cells), -1).T if cells.ndim in (1, 2) else []):
        slips, _ = number_slips([text if isinstance(text, str) else None for text in texts])
        if slips:
            where = f"step {slips[0]}" + (f", column {column}" if cells.ndim == 2 else "")
            return f"{str(texts[slips[0]])!r} at {where}, which is"
    return "something that is"
