"""Batches of a stream of rows, all of the same shape, in a new random order on every pass.

Rows without any output are left out, because nothing can be learned from them here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.numerics.padding import pad_rows
from ...core.rows.losses import IncompleteRows
from ...core.sparse.statistics import Block
from ...core.sparse.targets import Targets
from ...core.stream.objective import Batch
from .first_pass import FirstPass, rows_with_outputs
from .row_sources import RowSource

# The smallest number of rows that are shuffled together, if there are that many.
_BUFFER_ROWS = 2**16
# A batch has room for this many times its share of complete rows, and of incomplete rows.
_SLACK = 1.1


class Batches:
    """Batches of a stream. All have the same shape, with room for some complete and some incomplete rows."""

    def __init__(self, source: RowSource, known: FirstPass, batch_size: int) -> None:
        self.source, self.known, self.size = source, known, min(batch_size, known.n_rows)
        self.room = tuple(_room(count, self.size, known.n_rows) for count in self._counts)
        p = len(known.y_units)
        self.group = np.zeros(p, np.int32) if known.outputs_go_together else np.arange(p, dtype=np.int32)

    @property
    def _counts(self) -> tuple[int, int]:
        """The numbers of complete and of incomplete rows in the stream."""
        return self.known.n_rows - self.known.n_incomplete, self.known.n_incomplete

    def endless(self, random: np.random.Generator) -> Iterator[Batch]:
        """Batches of pass after pass. Blocks come in random order, and the rows of several blocks are shuffled."""
        while True:
            for X, y in self._buffers(random.permutation(self.source.n_blocks)):
                order = random.permutation(len(X))
                # A batch of a few left-over rows is skipped: scaled up to all rows, it would have too much influence.
                if 2 * len(X) >= self.size:
                    yield from self._batches(X[order], y[order])

    def once(self) -> Iterator[Batch]:
        """Batches of a single pass, in which every row comes once."""
        for X, y in self._buffers(np.arange(self.source.n_blocks)):
            yield from self._batches(X, y)

    def _buffers(self, blocks: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The rows of several blocks together, in standard units."""
        parts: list[tuple[np.ndarray, np.ndarray]] = []
        for block in blocks:
            parts.append(rows_with_outputs(*self.source.read(block)))
            if sum(len(X) for X, _ in parts) >= _BUFFER_ROWS:
                yield self._scaled(parts)
                parts = []
        if sum(len(X) for X, _ in parts):
            yield self._scaled(parts)

    def _scaled(self, parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        X, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return self.known.x_units.standard(X, in_place=True), self.known.y_units.standard(y, in_place=True)

    def _batches(self, X: np.ndarray, y: np.ndarray) -> Iterator[Batch]:
        """Complete and incomplete rows, distributed evenly over as many batches as they need."""
        has_holes = np.isnan(X).any(axis=1)
        kinds = np.flatnonzero(~has_holes), np.flatnonzero(has_holes)
        count = max(-(-len(rows) // room) for rows, room in zip(kinds, self.room, strict=True) if room)
        for complete, incomplete in zip(*(np.array_split(rows, count) for rows in kinds), strict=True):
            if len(complete) + len(incomplete):
                yield self._batch(X, y, complete, incomplete)

    def _batch(self, X: np.ndarray, y: np.ndarray, complete: np.ndarray, incomplete: np.ndarray) -> Batch:
        observed = rows = None
        if self.room[0]:
            observed = Block(pad_rows(X[complete], self.room[0]), None, self._targets(y[complete], self.room[0]))
        if self.room[1]:
            values = pad_rows(X[incomplete], self.room[1])
            unknown, targets = np.isnan(values), self._targets(y[incomplete], self.room[1])
            rows = IncompleteRows(np.where(unknown, 0.0, values), unknown, targets)
        return Batch(observed, rows, np.asarray(self.known.n_rows / (len(complete) + len(incomplete))))

    def regroup(self, targets: Targets) -> Targets:
        """The targets of other rows, in the same groups of outputs as those of the batches."""
        n_groups = int(self.group.max()) + 1
        first = [int(np.argmax(self.group == g)) for g in range(n_groups)]
        return Targets(targets.values, targets.weights[:, targets.group[first]], self.group)

    def _targets(self, y: np.ndarray, room: int) -> Targets:
        seen = ~np.isnan(y)
        weights = (seen[:, :1] if self.known.outputs_go_together else seen).astype(float)
        return Targets(pad_rows(np.where(seen, y, 0.0), room), pad_rows(weights, room), self.group)


def _room(count: int, batch_size: int, n_rows: int) -> int:
    """How many rows of a kind a batch has room for, if the stream has `count` of them in `n_rows`."""
    return min(count, max(8, int(np.ceil(_SLACK * batch_size * count / n_rows)))) if count else 0
