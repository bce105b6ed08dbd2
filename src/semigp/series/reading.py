"""Reading a series from an array or a frame: values (T, p) with NaN for gaps, and their timeline."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from .timeline import Timeline, are_equal, continued, holds_labels, holds_times, pandas_step


def read_series(series: Any, name: str = "series", time: str | None = None) -> tuple[np.ndarray, Timeline]:
    """Values (T, p) with NaN for gaps, and their timeline.

    Takes arrays (T,) or (T, p), and Series and DataFrames of pandas and polars. `time` names the column of times in a
    frame; it is needed only if the times are not dates. Raises ValueError, saying what is wrong, for anything that is
    not a series of numbers on a regular time axis.
    """
    native = nw.from_native(series, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        timeline = Timeline([native.name or "value"], True, native.implementation, nw.maybe_get_index(native))
        values = native.to_numpy()
    elif isinstance(native, nw.DataFrame):
        times = [column for column, kind in native.schema.items() if kind.is_temporal()] if time is None else [time]
        if times and times[0] not in native.columns:
            raise ValueError(f"{name} has no column {time!r}; its columns are {', '.join(native.columns)}.")
        if len(times) > 1:
            raise ValueError(f"{name} has several columns of times ({', '.join(times)}); keep one.")
        index, time_name, zone = nw.maybe_get_index(native), "time", None
        if times:
            zone = getattr(native.schema[times[0]], "time_zone", None)
            in_utc = native[times[0]] if zone is None else native[times[0]].dt.convert_time_zone("UTC")
            index, time_name = (in_utc if zone is None else in_utc.dt.replace_time_zone(None)).to_numpy(), times[0]
            native = native.drop(times)
        timeline = Timeline(list(native.columns), False, native.implementation, index, time_name, zone)
        values = native.to_numpy()
    else:
        is_masked = np.ma.isMaskedArray(series)
        values = np.ma.filled(series.astype(float), np.nan) if is_masked else np.asarray(series)
        shape = values.shape
        columns = ["value"] if values.ndim == 1 else [f"value_{i}" for i in range(shape[-1] if values.ndim else 0)]
        timeline = Timeline(columns, values.ndim == 1)
    values = _as_numbers(values, name)
    if timeline.index is not None:
        _check_regular(timeline.index, name)
    return values, timeline


def read_next(values: Any, timeline: Timeline) -> np.ndarray:
    """Values (T, p) that continue a series, with columns in its order. Their times must follow directly."""
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    has_time = isinstance(timeline.index, np.ndarray) and timeline.time_name in getattr(frame, "columns", [])
    new, later = read_series(values, "values", timeline.time_name if has_time else None)
    new = in_order(new, later, timeline.names, "values")
    expected = None if timeline.index is None else timeline.after(len(new))
    if holds_times(later.index) and holds_times(expected) and not are_equal(later.index, expected):
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


def _as_numbers(values: Any, name: str) -> np.ndarray:
    if np.asarray(values).dtype.kind in "cmM":
        raise ValueError(f"{name} holds {np.asarray(values).dtype} values, but must hold real numbers.")
    try:
        values = np.array(values, dtype=np.float64)  # a copy: the caller may change the original
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds something that is not a number: {error}") from error
    if values.ndim not in (1, 2) or 0 in values.shape:
        raise ValueError(f"{name} has shape {values.shape}; give (T,) or (T, p) with at least one value.")
    values = values.reshape(len(values), -1)
    if np.isinf(values).any():
        step, column = np.argwhere(np.isinf(values))[0]
        raise ValueError(f"{name} is infinite at step {step}, column {column}; use NaN for a gap.")
    return values


def _check_regular(index: Any, name: str) -> None:
    if not isinstance(index, np.ndarray):
        if index.nlevels > 1 or index.inferred_type in ("interval", "date", "time", "mixed-integer"):
            raise ValueError(
                f"The index of {name} ({index.inferred_type}, {index.nlevels} levels) is not a time axis. Use dates "
                "(pandas.to_datetime), periods or numbers."
            )
        if holds_labels(index):
            return
        if not index.is_monotonic_increasing or not index.is_unique:
            raise ValueError(f"The time index of {name} does not increase at every step; sort it and drop duplicates.")
        if len(index) > 2 and pandas_step(index) is None:
            raise ValueError(
                f"The time index of {name} is irregular. Put the series on a regular grid first, with NaN where there "
                'is no value: in pandas series.asfreq("D"), for days.'
            )
    elif index.dtype.kind not in "iufmM":
        raise ValueError(f"The times of {name} are neither dates nor numbers; the first is {index[0]!r}.")
    elif len(index) > 1:
        if np.any(index[1:] <= index[:-1]):
            raise ValueError(f"The times of {name} do not increase at every row; sort them and drop duplicates.")
        continued(index, 1)
