"""Series in, forecasts out: values with their time index, and what is believed of their future."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import ndtri

from . import scores

_IRREGULAR = "The times are irregular: put the series on a regular grid first, with null where a value lacks."


@dataclass(frozen=True)
class Timeline:
    """Where a series stands in time, and how to go on from its end.

    A pandas index is continued in its own frequency; polars frames by their one temporal column; anything else counts.
    """

    names: list[str]
    is_flat: bool  # one dimension came as a vector
    library: nw.Implementation | None = None
    index: Any = None  # pandas index, or an array of times
    time_name: str = "time"
    time_zone: str | None = None  # of a column of times, which are kept in UTC here

    def after(self, steps: int) -> Any:
        """The `steps` times that follow."""
        if self.index is None:
            return np.arange(steps)
        if isinstance(self.index, np.ndarray):
            return _continued(self.index, steps)
        return _pandas_after(self.index, steps)

    def extended(self, steps: int) -> Timeline:
        """The timeline of a series that has gone on for some steps."""
        if self.index is None:
            return self
        later = self.after(steps)
        if not isinstance(self.index, np.ndarray) and _holds_labels(self.index):
            later = later.astype(str)
        joined = np.concatenate([self.index, later]) if isinstance(later, np.ndarray) else self.index.append(later)
        return replace(self, index=joined)

    def like_the_series(self, values: np.ndarray) -> Any:
        """Values (T, p) in the form that the series had: an array, a series or a frame with its times."""
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


def read_series(series: Any, name: str = "series", time: str | None = None) -> tuple[np.ndarray, Timeline]:
    """Values (T, p) with NaN for gaps, and their timeline; `time` names a frame's column of times that are no dates.

    Takes arrays (T,) or (T, p), and Series and DataFrames of pandas and polars. Raises ValueError, saying what is
    wrong, for anything that is not a series of numbers on a regular time axis.
    """
    native = nw.from_native(series, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        timeline = Timeline([native.name or "value"], True, native.implementation, nw.maybe_get_index(native))
        values = native.to_numpy()
    elif isinstance(native, nw.DataFrame):
        times = [column for column, kind in native.schema.items() if kind.is_temporal()] if time is None else [time]
        if times and times[0] not in native.columns:
            raise ValueError(f"{name} has no column {time!r}; there are {', '.join(native.columns)}.")
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
    """Values (T, p) that follow a series: columns in its order, times right after its own."""
    frame = nw.from_native(values, eager_only=True, pass_through=True)
    has_time = isinstance(timeline.index, np.ndarray) and timeline.time_name in getattr(frame, "columns", [])
    new, later = read_series(values, "values", timeline.time_name if has_time else None)
    new = in_order(new, later, timeline.names, "values")
    expected = None if timeline.index is None else timeline.after(len(new))
    if _holds_times(later.index) and _holds_times(expected) and not _are_equal(later.index, expected):
        raise ValueError(
            f"values begin at {later.index[0]}, where the series goes on at {expected[0]}, step by step: give all that "
            "follow, with NaN for those that lack, and none that it has."
        )
    return new


def in_order(values: np.ndarray, found: Timeline, names: list[str], what: str) -> np.ndarray:
    """The columns of a frame in the order of `names`; those of an array as they are."""
    if values.shape[1] != len(names):
        raise ValueError(f"{what} has {values.shape[1]} columns; the series has {len(names)}.")
    if found.library is None or len(names) == 1 or found.names == names or _are_numbered(names):
        return values
    if set(found.names) != set(names):
        told = ", ".join(map(str, found.names)), ", ".join(map(str, names))
        raise ValueError(f"{what} has the columns {told[0]}; needed are {told[1]}.")
    return values[:, [found.names.index(name) for name in names]]


def _are_numbered(names: list[str]) -> bool:
    """Whether columns have the names that those of an array get."""
    return names == [f"value_{i}" for i in range(len(names))]


def _holds_times(index: Any) -> bool:
    return isinstance(index, np.ndarray) or type(index).__name__ in ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")


def _are_equal(times: Any, others: Any) -> bool:
    times, others = np.asarray(times), np.asarray(others)
    if times.dtype.kind == "f" or others.dtype.kind == "f":
        return np.allclose(times, others)
    return np.array_equal(times, others)


def fill_gaps(values: np.ndarray) -> np.ndarray:
    """Values (T, p) with NaN on the line between its neighbours, or equal to the nearest value at the ends."""
    seen = ~np.isnan(values)
    if not seen.any(axis=0).all():
        raise ValueError(f"series has no value in column {np.argmin(seen.any(axis=0))}.")
    steps = np.arange(len(values))
    columns = zip(values.T, seen.T, strict=True)
    return np.column_stack([np.interp(steps, steps[known], column[known]) for column, known in columns])


def _as_numbers(values: Any, name: str) -> np.ndarray:
    if np.asarray(values).dtype.kind in "cmM":
        raise ValueError(f"{name} holds {np.asarray(values).dtype} values; real numbers are needed.")
    try:
        values = np.array(values, dtype=np.float64)  # a copy: the caller's may change
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
                f"The index of {name} ({index.inferred_type}, {index.nlevels} levels) is no time axis. Use dates "
                "(pandas.to_datetime), periods or numbers."
            )
        if _holds_labels(index):
            return
        if not index.is_monotonic_increasing or not index.is_unique:
            raise ValueError(f"The time index of {name} does not increase from step to step; sort it, drop duplicates.")
        if len(index) > 2 and _pandas_step(index) is None:
            raise ValueError(
                f"The time index of {name} is irregular. Put the series on a regular grid first, with NaN where there "
                'is no value: in pandas series.asfreq("D"), for days.'
            )
    elif index.dtype.kind not in "iufmM":
        raise ValueError(f"The times of {name} are neither dates nor numbers; the first is {index[0]!r}.")
    elif len(index) > 1:
        if np.any(index[1:] <= index[:-1]):
            raise ValueError(f"The times of {name} do not increase from row to row; sort them, drop duplicates.")
        _continued(index, 1)


def _holds_labels(index: Any) -> bool:
    """Whether an index has names in it rather than times."""
    return index.inferred_type in ("string", "mixed", "categorical", "empty", "boolean")


def _pandas_step(index: Any) -> Any:
    """What to add to go on: an offset, or a number; None if there is no one step."""
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


def _pandas_after(index: Any, steps: int) -> Any:
    import pandas

    if _holds_labels(index):
        return pandas.RangeIndex(len(index), len(index) + steps)
    step = _pandas_step(index)
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


def _continued(times: np.ndarray, steps: int) -> np.ndarray:
    """Times after the last, at a constant step, or at a constant number of months."""
    if len(times) < 2:
        raise ValueError("One time is not enough to know the step to the next.")
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


@dataclass(frozen=True)
class Forecast:
    """What is believed of a series' next values.

    Sampled forecasts hold `paths`, whole futures, from which everything else is computed; the others a Gaussian per
    step. Arrays have the steps first, and a second axis where the series has columns.
    """

    mean: np.ndarray
    std: np.ndarray
    timeline: Timeline = field(repr=False)
    past: np.ndarray = field(repr=False)  # (T, p), what it was made from
    paths: np.ndarray | None = field(default=None, repr=False)  # (n_paths, steps) or (n_paths, steps, p)
    n_diverged: int = 0  # paths that ran out of bounds and were held there

    @classmethod
    def from_paths(cls, paths: np.ndarray, timeline: Timeline, past: np.ndarray, n_diverged: int = 0) -> Forecast:
        """From futures (n_paths, steps, p)."""
        mean, std = paths.mean(axis=0), paths.std(axis=0)
        if timeline.is_flat:
            mean, std, paths = mean[:, 0], std[:, 0], paths[:, :, 0]
        return cls(mean, std, timeline, past, paths, n_diverged)

    @classmethod
    def from_moments(cls, mean: np.ndarray, std: np.ndarray, timeline: Timeline, past: np.ndarray) -> Forecast:
        """From a mean and a standard deviation (steps, p) each."""
        if timeline.is_flat:
            mean, std = mean[:, 0], std[:, 0]
        return cls(mean, std, timeline, past)

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def index(self) -> Any:
        """The times that are forecast: the series' index continued, or the number of steps after its end."""
        return self.timeline.after(len(self))

    def quantile(self, levels: Any) -> np.ndarray:
        """Quantiles: (steps, …) for one level, (levels, steps, …) for several."""
        levels = np.asarray(levels, float)
        if np.any((levels <= 0) | (levels >= 1)) or levels.ndim > 1:
            raise ValueError(f"levels are probabilities between 0 and 1, one or a list of them; got {levels}.")
        if self.paths is not None:
            return np.quantile(self.paths, levels, axis=0)
        return self.mean + ndtri(levels).reshape(levels.shape + (1,) * self.mean.ndim) * self.std

    def to_frame(self, levels: Any = (0.025, 0.25, 0.5, 0.75, 0.975)) -> Any:
        """A tidy frame: a row per step (and column of the series) with mean, std and quantiles, on the time index."""
        levels = np.atleast_1d(levels)
        bands = self.quantile(levels)
        named = {"mean": self.mean, "std": self.std, **{f"q{q:g}": band for q, band in zip(levels, bands, strict=True)}}
        index = self.index
        if self.timeline.is_flat:
            return self.timeline.frame(named, index)
        names, steps = self.timeline.names, len(self)
        columns = {"series": np.tile(names, steps), **{key: np.ravel(value) for key, value in named.items()}}
        repeated = np.repeat(index, len(names)) if isinstance(index, np.ndarray) else index.repeat(len(names))
        return self.timeline.frame(columns, repeated)

    def score(self, truth: Any, first: int | None = None) -> dict[str, float]:
        """MSE, MAE, NLPD, CRPS and coverage of 95 % intervals against what came; NaN in the truth is left out.

        CRPS and coverage are of the paths where there are some; NLPD is of a Gaussian with their moments. `first` is
        how many of the steps count, by default as many as there are truths.
        """
        values, found = read_series(truth, "truth")
        if values.shape[1] != len(self.timeline.names):
            raise ValueError(f"truth has {values.shape[1]} columns, the forecast {len(self.timeline.names)}.")
        values = in_order(values, found, self.timeline.names, "truth")
        if first is not None and first < 1:
            raise ValueError(f"first is how many steps count, at least 1; got {first}.")
        count = min(len(values) if first is None else first, len(values), len(self))
        values = values[:count] if self.mean.ndim > 1 else values[:count, 0]
        mean, std = self.mean[:count], self.std[:count]
        # One path has no spread: its density is nothing anywhere but there.
        some = {name: score for name, score in scores.ALL.items() if name != "NLPD" or (std > 0).all()}
        found = {"NLPD": np.inf} | {name: score(values, mean, np.maximum(std, 1e-140)) for name, score in some.items()}
        if self.paths is not None:
            low, high = np.quantile(self.paths[:, :count], [0.025, 0.975], axis=0)
            seen = ~np.isnan(values)
            found["CRPS"] = scores.sample_crps(values, self.paths[:, :count])
            found["coverage"] = float(np.mean(((low <= values) & (values <= high))[seen]))
        return found

    def plot(self, truth: Any = None, history: int | None = None, axes: Any = None, n_paths: int = 3) -> Any:
        """A fan chart: medians, bands of 50, 80 and 95 %, some of the paths, the past and, if given, the truth."""
        from .plotting.fan import draw_fan, fan_panels

        panels = fan_panels(self, axes)
        draw_fan(self, panels, truth, history, n_paths)
        return panels[0] if len(panels) == 1 else panels
