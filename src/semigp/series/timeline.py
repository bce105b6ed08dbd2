"""The times of a series, and how they continue after its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from .indices import after_by_frequency, holds_labels, in_zone, index_times, like_index
from .steps import Step, recognise


@dataclass(frozen=True)
class Timeline:
    """The times of a series, and how they continue after its end.

    There is a time for every step, gaps included. Series without times count steps.
    """

    names: list[str]
    is_flat: bool  # whether the series was one-dimensional
    library: nw.Implementation | None = None
    index: Any = None  # pandas index, or an array of times
    time_name: str = "time"
    time_zone: str | None = None  # of a column of times, which are kept in UTC here
    step: tuple | None = None  # the fields of a `Step`; None if it is to be read off the times

    def after(self, steps: int) -> Any:
        """The `steps` times after the end."""
        if self.index is None:
            return np.arange(steps)
        if self.has_labels:
            import pandas

            return pandas.RangeIndex(len(self.index), len(self.index) + steps)
        if getattr(self.index, "freq", None) is not None:
            return after_by_frequency(self.index, steps)
        times, zone = self.in_utc()
        later = self.known_step().times(times[0], len(times) + np.arange(steps), zone)
        return later if isinstance(self.index, np.ndarray) else like_index(self.index, later)

    @property
    def has_labels(self) -> bool:
        """Whether the steps have labels instead of times."""
        return not (self.index is None or isinstance(self.index, np.ndarray)) and holds_labels(self.index)

    def in_utc(self) -> tuple[np.ndarray, Any]:
        """The times as an array, in UTC if they have a zone, and the zone."""
        return (self.index, self.time_zone) if isinstance(self.index, np.ndarray) else index_times(self.index)

    def find_step(self) -> Step | None:
        """The step from one time to the next, or None if it cannot be known."""
        if self.index is None or self.has_labels:
            return None
        return Step(*self.step) if self.step is not None else recognise(*self.in_utc())

    def known_step(self) -> Step:
        """The step from one time to the next. Raises ValueError if it cannot be known."""
        found = self.find_step()
        if found is None:
            raise ValueError(
                f"{len(self.index)} times are not enough to know the step to the next, or they are irregular; give at "
                "least two, with the same step from each to the next."
            )
        return found

    def extended(self, steps: int) -> Timeline:
        """The timeline of the series after `steps` more steps."""
        if self.index is None:
            return self
        later = self.after(steps)
        if self.has_labels:
            later = later.astype(str)
        joined = np.concatenate([self.index, later]) if isinstance(later, np.ndarray) else self.index.append(later)
        return replace(self, index=joined)

    def like_the_series(self, values: np.ndarray) -> Any:
        """Values (T, p) in the form of the original series: an array, or a series or frame with its times."""
        if self.library is None:
            return values[:, 0] if self.is_flat else values
        frame = self.frame(dict(zip(self.names, values.T, strict=True)), self.index)
        return frame[self.names[0]] if self.is_flat else frame

    def frame(self, columns: dict[str, Any], index: Any) -> Any:
        """Columns as a frame of the library the series came from, pandas by default."""
        library = self.library or nw.Implementation.PANDAS
        if library.is_pandas():
            import pandas

            if self.time_zone is not None:
                index = in_zone(index, self.time_zone)
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
