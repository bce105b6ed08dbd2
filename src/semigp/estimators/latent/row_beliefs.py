"""q(x) of rows as a mixture: rows of which little is known may belong to several places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ...core.numerics.mixtures import weighted

# Two optima are one if their means differ by less than this many standard deviations.
_SAME = 0.1
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class RowBeliefs:
    """k Gaussians for each of n rows, some of which may have no weight."""

    mean: np.ndarray  # (k, n, q)
    variance: np.ndarray  # (k, n, q)
    weight: np.ndarray  # (k, n), adding up to 1

    @classmethod
    def single(cls, mean: np.ndarray, variance: np.ndarray) -> RowBeliefs:
        """One Gaussian for each row."""
        return cls(mean[None], variance[None], np.ones((1, len(mean))))

    @classmethod
    def weighed(cls, mean: np.ndarray, variance: np.ndarray, bound: np.ndarray) -> RowBeliefs:
        """Optima that were found from k starts, by their bounds (k, n); those found twice count once."""
        bound = bound.copy()
        for later in range(1, len(mean)):
            apart = np.abs(mean[later] - mean[:later]) / np.sqrt(variance[later])
            found_before = np.any(np.max(apart, axis=2) < _SAME, axis=0)
            bound[later, found_before] = -np.inf
        weight = softmax(bound, axis=0)
        weight[weight < _NEGLIGIBLE] = 0.0
        return cls(mean, variance, weight / weight.sum(axis=0))

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the mixtures (n, q)."""
        return weighted(self.mean, self.variance, self.weight)

    def parts(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Component by component: its number, the rows that have it, its means and standard deviations there."""
        for number, (mean, variance, weight) in enumerate(zip(self.mean, self.variance, self.weight, strict=True)):
            rows = np.flatnonzero(weight)
            if len(rows):
                yield number, rows, mean[rows], np.sqrt(variance[rows])
