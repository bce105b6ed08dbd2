"""Many series at once: a long frame with a column of names, or a wide frame with a column for each series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np

from .grid import Grid, check_known, regular_grid, shown
from .indices import column_times
from .reading import as_numbers, check_columns, read_series
from .steps import Step, recognise
from .timeline import Timeline, are_equal

_UNTIMED = "step"  # the name of the column that counts the steps of series without times
_SPARSE = 2  # with fewer steps per row than this, a short series follows the step of the others


@dataclass(frozen=True)
class Panel:
    """Many series, each with its own times."""

    names: list[Any]
    series: list[np.ndarray] = field(repr=False)  # values (T, 1), NaN in gaps
    covariates: list[np.ndarray] = field(repr=False)  # (T, c)
    timelines: list[Timeline] = field(repr=False)
    id_name: str
    time_name: str
    value_name: str
    library: nw.Implementation
    name_kind: str = ""  # the type of the names in the library

    def __len__(self) -> int:
        return len(self.names)

    def frame(self, columns_by_series: Sequence[Mapping[str, np.ndarray]], is_future: bool = True) -> Any:
        """One long frame of names, times and the columns given for each series.

        The rows of a series are those after its end, or with `is_future=False` its own. Series without times have a
        column `step` instead, which counts from their start.
        """
        if len(columns_by_series) != len(self):
            raise ValueError(f"There are columns for {len(columns_by_series)} series, but the panel has {len(self)}.")
        counts = [len(next(iter(columns.values()))) for columns in columns_by_series]
        times = self._times(counts, is_future)
        joined = {key: np.concatenate([each[key] for each in columns_by_series]) for key in columns_by_series[0]}
        frame = nw.from_native(replace(self.timelines[0], library=self.library).frame(joined, times))
        if self.library.is_pandas():  # there the times are the index
            frame = nw.from_native(nw.to_native(frame).rename_axis(self.time_name).reset_index())
        names = self._repeated_names(counts)
        return nw.to_native(frame.with_columns(names).select(self.id_name, self.time_name, *joined))

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Dictionaries as a frame of the user's library."""
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        return nw.to_native(nw.from_dict(columns, backend=self.library))

    def ahead(self, frame: Any, names: Sequence[str], steps: int) -> list[np.ndarray]:
        """The covariates (steps, c) of the steps after the end of each series, from a long frame."""
        if not names:
            return [np.zeros((steps, 0))] * len(self)
        found = self.following(frame, names, steps, "covariates")
        for name, timeline in zip(self.names, self.timelines, strict=True):
            missing = np.isnan(found[name]).any(axis=1) if name in found else np.ones(steps, bool)
            if missing.any():
                first = int(np.argmax(missing))
                time = "" if timeline.index is None else f", {shown(timeline.after(steps)[first], timeline.time_zone)}"
                raise ValueError(
                    f"covariates must hold {', '.join(names)} of {steps} steps for series {name!r}; step {first + 1}"
                    f"{time} is missing. Give a row for each series and each step after its end."
                )
        return [found[name] for name in self.names]

    def following(self, frame: Any, names: Sequence[str], steps: int, what: str) -> dict[Any, np.ndarray]:
        """Columns of a long frame at the steps after the end of each series, (steps, c) with NaN where there is no row.

        Rows are found by their times. Without times, the rows of a series are those after its end. Rows and series
        that are not asked for are left out, and series without a row are not in the result.
        """
        table = nw.from_native(frame, eager_only=True)
        is_timed = self.timelines[0].index is not None
        check_columns(table, [self.id_name, *([self.time_name] if is_timed else []), *names], what)
        given, codes = _named(table.get_column(self.id_name))
        numbers = as_numbers(table.select(*names).to_numpy(), what)
        times = column_times(table.get_column(self.time_name), what)[0] if is_timed else None
        order = np.argsort(codes, kind="stable")
        rows_of = dict(zip(given, _split(order, codes), strict=True))
        found = {}
        for name, timeline in zip(self.names, self.timelines, strict=True):
            if name in rows_of:
                rows = rows_of[name]
                places = np.arange(len(rows)) if times is None else _places(times[rows], timeline.after(steps))
                found[name] = np.full((steps, len(names)), np.nan)
                within = (places >= 0) & (places < steps)
                found[name][places[within]] = numbers[rows[within]]
        return found

    def read_more(self, frame: Any, value: str, covariates: Sequence[str] = ()) -> Panel:
        """Another frame with the same columns of names and times."""
        time = None if self.timelines[0].index is None else self.time_name
        return read_panel(frame, self.id_name, time, value, covariates)

    def check_follows(self, later: Panel, what: str) -> None:
        """Raise ValueError if the times of a series in another panel are not those after its end in this one."""
        for name, timeline in zip(later.names, later.timelines, strict=True):
            if timeline.index is None or name not in self.names:
                continue
            expected = self.timelines[self.names.index(name)].after(len(timeline.index))
            if not are_equal(timeline.index, expected):
                raise ValueError(
                    f"{what} of series {name!r} begin at {timeline.index[0]}, but the series continues at "
                    f"{expected[0]}, step by step: give all steps after its end, with NaN for missing values."
                )

    def _times(self, counts: list[int], is_future: bool) -> Any:
        """The times of all rows, one series after the other."""
        parts = []
        for timeline, values, count in zip(self.timelines, self.series, counts, strict=True):
            if not is_future and count != len(values):
                raise ValueError(f"The columns of a series have {count} rows, but the series has {len(values)} steps.")
            if timeline.index is None:
                parts.append(np.arange(count) + len(values) * is_future)
            else:
                parts.append(timeline.after(count) if is_future else timeline.index)
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else parts[0].append(parts[1:])

    def _repeated_names(self, counts: list[int]) -> nw.Series:
        rows = np.repeat(np.arange(len(self)), counts)
        if self.library.is_pandas():
            import pandas

            column = pandas.Series(self.names, name=self.id_name, dtype=self.name_kind or None)
            return nw.from_native(column.iloc[rows].reset_index(drop=True), series_only=True)
        kind = getattr(nw, self.name_kind, None)
        column = nw.new_series(self.id_name, self.names, kind, backend=self.library)
        return column[rows.tolist()]


def read_panel(frame: Any, id: str, time: str | None, value: str, covariates: Sequence[str] = ()) -> Panel:  # noqa: A002
    """The series of a long frame, which has a row for each series and time.

    Rows may be in any order; without `time`, the rows of a series are in order. Every series is put on its own regular
    grid, with NaN where a time is missing, also in its covariates. A series that is too short to tell its step has that
    of the others.
    """
    table = nw.from_native(frame, eager_only=True)
    check_columns(table, [id, *([] if time is None else [time]), value, *covariates], "frame")
    names, codes = _named(table.get_column(id))
    numbers = as_numbers(table.select(value, *covariates).to_numpy(), "frame")
    timeline = Timeline([value], True, table.implementation, None, _UNTIMED if time is None else time)
    if time is None:
        parts = [(numbers[rows], timeline) for rows in _split(np.argsort(codes, kind="stable"), codes)]
    else:
        parts = list(_timed(numbers, codes, names, table.get_column(time), timeline))
    return Panel(
        names,
        [values[:, :1] for values, _ in parts],
        [values[:, 1:] for values, _ in parts],
        [own for _, own in parts],
        id,
        timeline.time_name,
        value,
        table.implementation,
        _kind(table.get_column(id)),
    )


def _timed(
    numbers: np.ndarray, codes: np.ndarray, names: list[Any], column: nw.Series, timeline: Timeline
) -> Iterator[tuple[np.ndarray, Timeline]]:
    """The numbers of each series on its grid, and its timeline."""
    times, zone = column_times(column, "frame")
    check_known(times, "frame")
    order = np.lexsort((times, codes))
    _check_once(names, codes[order], times[order], zone)
    rows_of = list(_split(order, codes))
    grids = _grids([times[rows] for rows in rows_of], names, zone)
    for rows, grid in zip(rows_of, grids, strict=True):
        step = None if grid.step is None else astuple(grid.step)
        yield grid.spread(numbers[rows]), replace(timeline, index=grid.times, time_zone=zone, step=step)


def read_wide(frame: Any, time: str | None = None) -> Panel:
    """The series of a wide frame, which has a column for each. `time` is its column of times, as in `read_series`."""
    values, timeline = read_series(frame, "frame", time)
    if timeline.library is None:
        raise ValueError("A wide frame of pandas or polars is needed, with a column for each series.")
    index_name = _UNTIMED if timeline.index is None else getattr(timeline.index, "name", None)
    timeline = replace(timeline, time_name=index_name or timeline.time_name)
    return Panel(
        timeline.names,
        [column[:, None] for column in values.T],
        [np.zeros((len(values), 0)) for _ in timeline.names],
        [replace(timeline, names=[name], is_flat=True) for name in timeline.names],
        "series",
        timeline.time_name,
        "value",
        timeline.library,
    )


def _named(column: nw.Series) -> tuple[list[Any], np.ndarray]:
    """The names of the series in order of appearance, and for each row the number of its series."""
    missing = column.is_null().to_numpy()
    if missing.any():
        raise ValueError(
            f"Column {column.name!r} has no name of a series in {missing.sum()} rows, first in row "
            f"{np.argmax(missing)}. Fill it in, or leave these rows out."
        )
    seen: dict[Any, int] = {}
    codes = np.array([seen.setdefault(name, len(seen)) for name in column.to_list()], np.int64)
    if not len(codes):
        raise ValueError("frame has no rows.")
    return list(seen), codes


def _kind(column: nw.Series) -> str:
    """The type of a column, by its name in the library."""
    kind = nw.to_native(column).dtype if column.implementation.is_pandas() else column.dtype
    return str(kind)


def _split(order: np.ndarray, codes: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of each series, in order."""
    yield from np.split(order, np.cumsum(np.bincount(codes))[:-1])


def _places(times: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The places of times among those that are wanted, which increase; -1 where a time is none of them."""
    if wanted.dtype.kind != times.dtype.kind and "M" in (wanted.dtype.kind, times.dtype.kind):
        return np.full(len(times), -1)
    right = np.clip(np.searchsorted(wanted, times), 0, len(wanted) - 1)
    left = np.maximum(right - 1, 0)
    near = np.where(np.abs(wanted[left] - times) < np.abs(wanted[right] - times), left, right)
    are_numbers = times.dtype.kind == "f" or wanted.dtype.kind == "f"
    hit = np.isclose(wanted[near], times, rtol=1e-9, atol=0.0) if are_numbers else wanted[near] == times
    return np.where(hit, near, -1)


def _check_once(names: list[Any], codes: np.ndarray, times: np.ndarray, zone: Any) -> None:
    """Raise ValueError if a series has two rows for one time."""
    twice = (codes[1:] == codes[:-1]) & (times[1:] == times[:-1])
    if twice.any():
        row = int(np.argmax(twice))
        raise ValueError(
            f"{twice.sum()} rows repeat a series and a time, first {names[codes[row]]!r} at "
            f"{shown(times[row], zone)}. Keep one row of each, or average them."
        )


def _grids(times: list[np.ndarray], names: list[Any], zone: Any) -> Iterator[Grid]:
    """The grid of each series, of which many may have the same times."""
    own: dict[bytes, Step | None] = {}
    for each in times:
        if each.tobytes() not in own:
            own[each.tobytes()] = recognise(each, zone)
    common = _common([(own[each.tobytes()], len(each)) for each in times])
    if common is None:  # all are short: together they may still tell
        common = recognise(np.unique(np.concatenate(times)), zone)
    done: dict[bytes, Grid] = {}
    for each, name in zip(times, names, strict=True):
        key = each.tobytes()
        if key not in done:
            step = _chosen(each, own[key], common, zone)
            done[key] = regular_grid(each, f"series {name!r}", zone, step)
        yield done[key]


def _common(steps: list[tuple[Step | None, int]]) -> Step | None:
    """The step with the most rows, if some series are long enough to tell theirs."""
    counts: Counter[Step] = Counter()
    for step, rows in steps:
        if step is not None and rows > 2:
            counts[step] += rows
    return max(counts, key=lambda step: counts[step]) if counts else None


def _chosen(times: np.ndarray, own: Step | None, common: Step | None, zone: Any) -> Step | None:
    """The common step where it suits a series, otherwise its own."""
    if common is None or own == common:
        return own
    places = common.places(times, zone)
    is_short = len(times) < 3
    suits = places is not None and (is_short or places[-1] < _SPARSE * len(places))
    return common if suits else own
