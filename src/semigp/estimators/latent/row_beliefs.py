"""q(x) of rows as a mixture of Gaussians: a row with few known entries may belong to several places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ...core.numerics.mixtures import weighted

# Two optima count as the same if their means differ by less than this many standard deviations.
_SAME = 0.1
# Components with a smaller weight than this are dropped.
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class RowBeliefs:
    """A mixture of k Gaussians for each of n rows. Some of them may have weight 0."""

    mean: np.ndarray  # (k, n, q)
    variance: np.ndarray  # (k, n, q)
    weight: np.ndarray  # (k, n), with sum 1 for every row

    @classmethod
    def single(cls, mean: np.ndarray, variance: np.ndarray) -> RowBeliefs:
        """One Gaussian for each row."""
        return cls(mean[None], variance[None], np.ones((1, len(mean))))

    @classmethod
    def weighed(cls, mean: np.ndarray, variance: np.ndarray, bound: np.ndarray) -> RowBeliefs:
        """A mixture of the optima that k starts have found, weighted by exp of their bounds (k, n).

        An optimum that several starts have found counts once.
        """
        bound = bound.copy()
        for later in range(1, len(mean)):
            apart = np.abs(mean[later] - mean[:later]) / np.sqrt(variance[later])
            found_before = np.any(np.max(apart, axis=2) < _SAME, axis=0)
            bound[later, found_before] = -np.inf
        weight = softmax(bound, axis=0)
        weight[weight < _NEGLIGIBLE] = 0.0
        return cls(mean, variance, weight / weight.sum(axis=0))

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each row's mixture (n, q)."""
        return weighted(self.mean, self.variance, self.weight)

    def parts(self) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """For each component: its number, the rows where its weight is not 0, and its means and stds there."""
        for number, (mean, variance, weight) in enumerate(zip(self.mean, self.variance, self.weight, strict=True)):
            rows = np.flatnonzero(weight)
            if len(rows):
                yield number, rows, mean[rows], np.sqrt(variance[rows])
