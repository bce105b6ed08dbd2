"""Training rows in standard units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Table:
    """Training rows in standard units."""

    inputs: np.ndarray  # (n, q), NaN where q(x) is free
    targets: np.ndarray  # (n, p), NaN where missing
    error: np.ndarray  # (n, q) error bars
    moments: tuple[np.ndarray, np.ndarray] | None = None  # mean and variance of the inputs that q(x) starts from
    sample: Table | None = None  # a sample of the rows of all processes, if this table has the rows of only one

    @property
    def shared(self) -> Table:
        """The rows by which all processes make their common choices: the sample, or this table if there is none."""
        return self if self.sample is None else self.sample

    @property
    def is_uncertain(self) -> np.ndarray:
        """Which entries are missing or have an error bar, (n, q)."""
        return np.isnan(self.inputs) | (self.error > 0)

    @property
    def is_certain(self) -> np.ndarray:
        """Which rows have only inputs that are known exactly, (n,)."""
        return np.all(~self.is_uncertain, axis=1)

    @property
    def is_complete(self) -> np.ndarray:
        """Which rows have no missing input, (n,). Their inputs may have error bars."""
        return np.all(~np.isnan(self.inputs), axis=1)

    def take(self, rows: np.ndarray) -> Table:
        """A table of some of the rows."""
        return Table(self.inputs[rows], self.targets[rows], self.error[rows])

    @property
    def is_certain_with_output(self) -> np.ndarray:
        """Which rows are certain and have at least one output, (n,)."""
        return self.is_certain & ~np.isnan(self.targets).all(axis=1)

    def certain_with_output(self) -> Table:
        """The certain rows that have an output. A process without any gets a single row without outputs instead."""
        rows = self.take(np.flatnonzero(self.is_certain_with_output))
        if not len(rows.inputs):
            certain, nothing = np.zeros((1, self.inputs.shape[1])), np.full((1, self.targets.shape[1]), np.nan)
            rows = Table(certain, nothing, certain)
        return replace(rows, sample=self.sample and self.sample.certain_with_output())
