"""The cycles of the calendar that a series may follow: days, weeks and years."""

from __future__ import annotations

import numpy as np

from .indices import index_times
from .steps import Step
from .timeline import Timeline
from .zones import to_local

_DAY, _WEEK, _YEAR = 86_400.0, 7 * 86_400.0, 365.25 * 86_400.0
_MONTH = _YEAR / 12


def cycles(timeline: Timeline) -> tuple[float, ...]:
    """Natural lengths of seasons, in steps: of a day, a week or a year.

    Steps below a day have days and weeks, days have weeks and years, and longer steps have years. There are none if
    steps are years, or if the times are numbers.
    """
    step = _calendar_step(timeline)
    if step is None:
        return ()
    if step.unit == "weekday":
        return 5.0, 261.0
    seconds = _seconds(step)
    spans = (_DAY, _WEEK) if seconds < _DAY else (_WEEK, _YEAR)
    return tuple(span / seconds for span in spans if span / seconds > 1.999)


def phases(timeline: Timeline, first: int, count: int) -> tuple[np.ndarray, list[str]]:
    """Where steps are in the cycles of the calendar, (count, c) in [0, 1), and the names of the cycles.

    Steps are counted from the start of the series, and may lie beyond its end. The hour of the day counts with its
    minutes, weeks begin on Monday, and years on the first of January, in local time if there is a zone. Cycles in which
    all steps would be at the same place are left out.
    """
    step = _calendar_step(timeline)
    if step is None:
        return np.zeros((count, 0)), []
    times = _local_times(timeline, first, count)
    seconds = _seconds(step)
    found = {
        "hour of day": _within(times, "D") if _varies(seconds, _DAY) else None,
        "day of week": _day_of_week(times) if _varies(seconds, _WEEK) else None,
        "time of year": _time_of_year(times, step) if _varies(seconds, _YEAR) else None,
    }
    names = [name for name, phase in found.items() if phase is not None]
    return np.column_stack([found[name] for name in names]) if names else np.zeros((count, 0)), names


def _calendar_step(timeline: Timeline) -> Step | None:
    """The step between dates; None for numbers, spans, labels, and where it is not known."""
    if timeline.index is None or timeline.has_labels or timeline.in_utc()[0].dtype.kind != "M":
        return None
    found = timeline.find_step()
    if found is None and len(timeline.index) > 1:  # one that only pandas knows, such as the last weekday of a month
        usual = Step("constant", np.median(np.diff(timeline.in_utc()[0])))
        months = round(_seconds(usual) / _MONTH)
        return Step("month", months) if months else usual
    return found


def _seconds(step: Step) -> float:
    """The length of a step in seconds, on average."""
    if step.unit == "constant":
        return float(step.size / np.timedelta64(1, "ns")) * 1e-9
    return step.size * (_MONTH if step.unit == "month" else _DAY)


def _varies(seconds: float, cycle: float) -> bool:
    """Whether steps of this length are at different places of a cycle that is longer."""
    return seconds < 0.999 * cycle


def _local_times(timeline: Timeline, first: int, count: int) -> np.ndarray:
    """The times of steps, as clocks show them."""
    times, zone = timeline.in_utc()
    beyond = first + count - len(times)
    if beyond > 0:
        after = timeline.after(beyond)
        times = np.concatenate([times, after if isinstance(after, np.ndarray) else index_times(after)[0]])
    return to_local(times[first : first + count], zone)


def _within(times: np.ndarray, unit: str) -> np.ndarray:
    """The share of the day, month or year that has passed."""
    begin = times.astype(f"datetime64[{unit}]")
    end = begin + np.array(1, f"timedelta64[{unit}]")
    length = end.astype(times.dtype) - begin.astype(times.dtype)
    return (times - begin.astype(times.dtype)) / length


def _day_of_week(times: np.ndarray) -> np.ndarray:
    """Monday is 0, Tuesday 1/7."""
    days = times.astype("datetime64[D]").astype(np.int64)
    return (days + 3) % 7 / 7  # 1970 began on a Thursday


def _time_of_year(times: np.ndarray, step: Step) -> np.ndarray:
    """January is 0 and February 1/12 if steps are months; otherwise the share of the days of the year."""
    if step.unit == "month":
        return times.astype("datetime64[M]").astype(np.int64) % 12 / 12
    return _within(times.astype("datetime64[D]"), "Y")
