"""A stream of rows: what a first pass tells of it, and batches of one shape in a new order every time.

Rows of which no output is known say nothing here and are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler

from ..core.local_step import Incomplete
from ..core.statistics import Block
from ..core.stochastic import Batch
from ..core.targets import Targets
from .row_sources import RowSource

# Rows that are shuffled among each other, at least.
_BUFFER_ROWS = 2**16
# Rows of a kind that a batch has room for, more than its share.
_SLACK = 1.1


@dataclass(frozen=True)
class Survey:
    """What is known of all rows after a first pass."""

    n_rows: int
    n_incomplete: int
    outputs_go_together: bool  # every row has all outputs
    x_scaler: StandardScaler
    y_scaler: StandardScaler
    inputs: np.ndarray  # of a sample of rows, in standard units
    targets: np.ndarray


class _Sample:
    """Rows drawn at random from a stream: those with the smallest random numbers."""

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self.size, self.random = size, random
        self.numbers = np.empty(0)
        self.rows: list[np.ndarray] = []

    def add(self, *arrays: np.ndarray) -> None:
        """More rows to draw from."""
        numbers = self.random.random(len(arrays[0]))
        if len(self.numbers) == self.size:  # most blocks have nothing to add
            few = numbers < self.numbers.max()
            numbers, arrays = numbers[few], tuple(array[few] for array in arrays)
        self.numbers = np.concatenate([self.numbers, numbers])
        before = self.rows or [array[:0] for array in arrays]
        self.rows = [np.concatenate(pair) for pair in zip(before, arrays, strict=True)]
        keep = np.sort(np.argsort(self.numbers, kind="stable")[: self.size])
        self.numbers, self.rows = self.numbers[keep], [rows[keep] for rows in self.rows]


def survey(source: RowSource, sample_rows: int, random: np.random.Generator) -> Survey:
    """One pass: counts, means and standard deviations, and a sample."""
    x_scaler, y_scaler, sample = StandardScaler(), StandardScaler(), _Sample(sample_rows, random)
    n_rows = n_incomplete = first = 0
    together, has_value = True, np.zeros(1, bool)
    for block in range(source.n_blocks):
        X, y = source.read(block)
        _check_finite(X, y, first)
        first += len(X)
        has_value = has_value | np.concatenate([~np.isnan(X), ~np.isnan(y)], axis=1).any(axis=0)
        X, y = _with_outputs(X, y)
        if not len(X):
            continue
        with np.errstate(invalid="ignore"):  # of a column without values so far
            x_scaler.partial_fit(X)
            y_scaler.partial_fit(y)
        n_rows, n_incomplete = n_rows + len(X), n_incomplete + int(np.isnan(X).any(axis=1).sum())
        together = together and not np.isnan(y).any()
        sample.add(X, y)
    _check_columns(has_value, n_rows, X.shape[1])
    inputs, targets = x_scaler.transform(sample.rows[0]), y_scaler.transform(sample.rows[1])
    return Survey(n_rows, n_incomplete, together, x_scaler, y_scaler, inputs, targets)


def _check_finite(X: np.ndarray, y: np.ndarray, first: int) -> None:
    for name, values in (("X", X), ("y", y)):
        if np.isinf(values).any():
            row, column = np.argwhere(np.isinf(values))[0]
            raise ValueError(f"{name} is infinite at row {first + row}, column {column}. Mark missing values with NaN.")


def _check_columns(has_value: np.ndarray, n_rows: int, n_inputs: int) -> None:
    for name, seen in (("X", has_value[:n_inputs]), ("y", has_value[n_inputs:])):
        if not seen.all():
            raise ValueError(f"{name} has no value in column {int(np.argmin(seen))}: there is nothing to learn from.")
    if n_rows < 2:
        raise ValueError(f"There is {n_rows} sample with an output; a minimum of 2 is required.")


def _with_outputs(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = ~np.isnan(y).all(axis=1)
    return (X, y) if rows.all() else (X[rows], y[rows])


class Batches:
    """Batches of a stream that all have the same shapes: room for complete and for incomplete rows."""

    def __init__(self, source: RowSource, known: Survey, batch_size: int) -> None:
        self.source, self.known, self.size = source, known, min(batch_size, known.n_rows)
        self.room = tuple(_room(count, self.size, known.n_rows) for count in self._counts)
        p = known.y_scaler.n_features_in_
        self.group = np.zeros(p, np.int32) if known.outputs_go_together else np.arange(p, dtype=np.int32)

    @property
    def _counts(self) -> tuple[int, int]:
        """Complete and incomplete rows of all."""
        return self.known.n_rows - self.known.n_incomplete, self.known.n_incomplete

    def endless(self, random: np.random.Generator) -> Iterator[Batch]:
        """Pass after pass, blocks in random order, rows shuffled among those of several blocks."""
        while True:
            for X, y in self._buffers(random.permutation(self.source.n_blocks)):
                order = random.permutation(len(X))
                # A few rows that are left over would speak for all too loudly.
                if 2 * len(X) >= self.size:
                    yield from self._batches(X[order], y[order])

    def once(self) -> Iterator[Batch]:
        """Every row, once."""
        for X, y in self._buffers(np.arange(self.source.n_blocks)):
            yield from self._batches(X, y)

    def _buffers(self, blocks: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows of several blocks together, in standard units."""
        parts: list[tuple[np.ndarray, np.ndarray]] = []
        for block in blocks:
            parts.append(_with_outputs(*self.source.read(block)))
            if sum(len(X) for X, _ in parts) >= _BUFFER_ROWS:
                yield self._scaled(parts)
                parts = []
        if sum(len(X) for X, _ in parts):
            yield self._scaled(parts)

    def _scaled(self, parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        X, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return self.known.x_scaler.transform(X, copy=False), self.known.y_scaler.transform(y, copy=False)

    def _batches(self, X: np.ndarray, y: np.ndarray) -> Iterator[Batch]:
        """Rows of both kinds, dealt out evenly over as many batches as they need."""
        has_holes = np.isnan(X).any(axis=1)
        kinds = np.flatnonzero(~has_holes), np.flatnonzero(has_holes)
        count = max(-(-len(rows) // room) for rows, room in zip(kinds, self.room, strict=True) if room)
        for complete, incomplete in zip(*(np.array_split(rows, count) for rows in kinds), strict=True):
            if len(complete) + len(incomplete):
                yield self._batch(X, y, complete, incomplete)

    def _batch(self, X: np.ndarray, y: np.ndarray, complete: np.ndarray, incomplete: np.ndarray) -> Batch:
        observed = rows = None
        if self.room[0]:
            observed = Block(_filled(X[complete], self.room[0]), None, self._targets(y[complete], self.room[0]))
        if self.room[1]:
            values = _filled(X[incomplete], self.room[1])
            unknown, targets = np.isnan(values), self._targets(y[incomplete], self.room[1])
            rows = Incomplete(np.where(unknown, 0.0, values), unknown, targets)
        return Batch(observed, rows, np.asarray(self.known.n_rows / (len(complete) + len(incomplete))))

    def regroup(self, targets: Targets) -> Targets:
        """Targets of other rows in the groups of the batches."""
        n_groups = int(self.group.max()) + 1
        first = [int(np.argmax(self.group == g)) for g in range(n_groups)]
        return Targets(targets.values, targets.weights[:, targets.group[first]], self.group)

    def _targets(self, y: np.ndarray, room: int) -> Targets:
        seen = ~np.isnan(y)
        weights = (seen[:, :1] if self.known.outputs_go_together else seen).astype(float)
        return Targets(_filled(np.where(seen, y, 0.0), room), _filled(weights, room), self.group)


def _room(count: int, batch_size: int, n_rows: int) -> int:
    """Rows of a kind, of which there are `count`, that a batch can hold: about its share."""
    return min(count, max(8, int(np.ceil(_SLACK * batch_size * count / n_rows)))) if count else 0


def _filled(values: np.ndarray, room: int) -> np.ndarray:
    """As many rows as there is room for, the last ones 0."""
    return np.pad(values, ((0, room - len(values)), (0, 0)))
