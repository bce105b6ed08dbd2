"""The contract of a task: which ways there are, and what one of them scores on one split of the data."""

from __future__ import annotations

from typing import Protocol

from ...baselines.tables.coded import CodedTable
from ...columns import Columns, Levels

OURS = "semigp"
COVERAGE = "coverage of 95 %"
Scores = dict[str, float]


class Task(Protocol):
    """What is compared. The first score decides, and smaller is better."""

    about: str  # a phrase that continues "Compared:"
    scores: tuple[str, ...]
    ways: tuple[str, ...]  # ours first
    n_splits: int

    def run(self, way: str, split: int) -> Scores:
        """The scores of a way on a split. Raises ValueError, with a reason, if the way cannot be used here."""


def coded(X: object, columns: Columns) -> CodedTable:
    """A table as the ways of practice take it. Ordered levels count as numbers."""
    labels = {
        j: [str(level) for level in kind.levels]
        for j, kind in enumerate(columns.used)
        if isinstance(kind, Levels) and not kind.is_ordered
    }
    return CodedTable(columns.encode(X), [str(kind.name) for kind in columns.used], labels)
