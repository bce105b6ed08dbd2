"""The times of a series, and how they continue after its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

_IRREGULAR = "The times are irregular: put the series on a regular grid first, with null where a value is missing."


@dataclass(frozen=True)
class Timeline:
    """The times of a series, and how they continue after its end.

    A pandas index continues at its own frequency, a polars frame by its one temporal column. Series without times count
    steps.
    """

    names: list[str]
    is_flat: bool  # whether the series was one-dimensional
    library: nw.Implementation | None = None
    index: Any = None  # pandas index, or an array of times
    time_name: str = "time"
    time_zone: str | None = None  # of a column of times, which are kept in UTC here

    def after(self, steps: int) -> Any:
        """The `steps` times after the end."""
        if self.index is None:
            return np.arange(steps)
        if isinstance(self.index, np.ndarray):
            return continued(self.index, steps)
        return pandas_after(self.index, steps)

    def extended(self, steps: int) -> Timeline:
        """The timeline of the series after `steps` more steps."""
        if self.index is None:
            return self
        later = self.after(steps)
        if not isinstance(self.index, np.ndarray) and holds_labels(self.index):
            later = later.astype(str)
        joined = np.concatenate([self.index, later]) if isinstance(later, np.ndarray) else self.index.append(later)
        return replace(self, index=joined)

    def like_the_series(self, values: np.ndarray) -> Any:
        """Values (T, p) in the form of the original series: an array, or a series or frame with its times."""
        if self.library is None:
            return values[:, 0] if self.is_flat else values
        frame = self.frame(dict(zip(self.names, values.T, strict=True)), self.index)
        return frame[self.names[0]] if self.is_flat else frame

    def frame(self, columns: dict[str, np.ndarray], index: Any) -> Any:
        """Columns as a frame of the library the series came from, pandas by default."""
        library = self.library or nw.Implementation.PANDAS
        if library.is_pandas():
            import pandas

            return pandas.DataFrame(columns, index=index)
        time = {} if index is None else {self.time_name: index}
        frame = nw.from_dict({**columns, **time}, backend=library).select(*time, *(c for c in columns if c not in time))
        if self.time_zone is not None:
            utc = nw.col(self.time_name).dt.replace_time_zone("UTC")
            frame = frame.with_columns(utc.dt.convert_time_zone(self.time_zone))
        return nw.to_native(frame)


def holds_times(index: Any) -> bool:
    """Whether an index holds times."""
    return isinstance(index, np.ndarray) or type(index).__name__ in ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")


def are_equal(times: Any, others: Any) -> bool:
    """Whether two sequences of times are equal. Numbers are compared up to rounding."""
    times, others = np.asarray(times), np.asarray(others)
    if times.dtype.kind == "f" or others.dtype.kind == "f":
        return np.allclose(times, others)
    return np.array_equal(times, others)


def holds_labels(index: Any) -> bool:
    """Whether an index holds labels rather than times."""
    return index.inferred_type in ("string", "mixed", "categorical", "empty", "boolean")


def pandas_step(index: Any) -> Any:
    """The step between the times of an index, an offset or a number; None if the steps differ."""
    import pandas

    if isinstance(index, pandas.PeriodIndex):
        return index.freq if (np.diff(index.asi8) == 1).all() else None
    if isinstance(index, pandas.DatetimeIndex | pandas.TimedeltaIndex):
        if index.freq is not None:
            return index.freq
        found = pandas.infer_freq(index) if len(index) > 2 else None
        if found is None:
            return index[1] - index[0] if len(index) == 2 else None
        return pandas.tseries.frequencies.to_offset(found)
    steps = np.diff(np.asarray(index, dtype=float))
    return steps[0] if len(steps) and np.allclose(steps, steps[0]) else None


def pandas_after(index: Any, steps: int) -> Any:
    """The times after the end of a pandas index."""
    import pandas

    if holds_labels(index):
        return pandas.RangeIndex(len(index), len(index) + steps)
    step = pandas_step(index)
    if isinstance(index, pandas.PeriodIndex):
        return pandas.period_range(index[-1] + 1, periods=steps, freq=index.freq, name=index.name)
    if isinstance(index, pandas.DatetimeIndex) and step is not None:
        return pandas.date_range(index[-1], periods=steps + 1, freq=step, name=index.name)[1:]
    if isinstance(index, pandas.TimedeltaIndex) and step is not None:
        return pandas.timedelta_range(index[-1], periods=steps + 1, freq=step, name=index.name)[1:]
    if step is not None and pandas.api.types.is_numeric_dtype(index.dtype):
        later = index[-1] + step * np.arange(1, steps + 1)
        kind = "int64" if pandas.api.types.is_integer_dtype(index.dtype) else index.dtype
        return pandas.Index(later, dtype=kind, name=index.name)
    return pandas.RangeIndex(len(index), len(index) + steps)


def continued(times: np.ndarray, steps: int) -> np.ndarray:
    """The times after the last one, at a constant step or a constant number of months."""
    if len(times) < 2:
        raise ValueError("One time is not enough to know the step to the next; give at least two.")
    gaps = np.diff(times)
    if (gaps == gaps[0]).all() or (times.dtype.kind == "f" and np.allclose(gaps, gaps[0])):
        return times[-1] + gaps[0] * np.arange(1, steps + 1)
    if times.dtype.kind not in "mM":
        raise ValueError(_IRREGULAR)
    day = np.timedelta64(1, "D")
    for shift in (0 * day, day):  # the same day of every month, or the last
        shifted = times + shift
        months, days = shifted.astype("datetime64[M]"), shifted - shifted.astype("datetime64[M]")
        gaps = np.diff(months)
        if (gaps == gaps[0]).all() and (days == days[0]).all():
            return (months[-1] + gaps[0] * np.arange(1, steps + 1)).astype(times.dtype) + days[0] - shift
    raise ValueError(_IRREGULAR)
