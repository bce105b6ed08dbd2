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
    sample: Table | None = None  # of the rows of all processes, where these are those of one

    @property
    def shared(self) -> Table:
        """What is the same in all processes is chosen and decided by these rows."""
        return self if self.sample is None else self.sample

    @property
    def is_uncertain(self) -> np.ndarray:
        """Entries that are missing or have an error bar."""
        return np.isnan(self.inputs) | (self.error > 0)

    @property
    def is_certain(self) -> np.ndarray:
        """Rows whose inputs are all known exactly."""
        return np.all(~self.is_uncertain, axis=1)

    @property
    def is_complete(self) -> np.ndarray:
        """Rows without missing inputs, with error bars or not."""
        return np.all(~np.isnan(self.inputs), axis=1)

    def take(self, rows: np.ndarray) -> Table:
        """Some of the rows."""
        return Table(self.inputs[rows], self.targets[rows], self.error[rows])

    @property
    def is_certain_with_output(self) -> np.ndarray:
        """Rows that are complete and have an output."""
        return self.is_certain & ~np.isnan(self.targets).all(axis=1)

    def certain_with_output(self) -> Table:
        """Those rows; where a process has none, a row without outputs in their place."""
        rows = self.take(np.flatnonzero(self.is_certain_with_output))
        if not len(rows.inputs):
            certain, nothing = np.zeros((1, self.inputs.shape[1])), np.full((1, self.targets.shape[1]), np.nan)
            rows = Table(certain, nothing, certain)
        return replace(rows, sample=self.sample and self.sample.certain_with_output())
