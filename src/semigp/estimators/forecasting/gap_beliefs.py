"""What is believed of the missing values of a series: a mixture of what two priors say, weighed by their evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special

from ...core.exact.gap_candidates import weigh_candidates
from ...core.exact.gaps import Gaps, infer_gaps
from .priors import OverTime, Past
from .weights import shares


@dataclass(frozen=True)
class GapBelief:
    """Gaussians over all missing values, and their weights."""

    parts: list[Gaps]
    weights: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, covariates: np.ndarray, over_time: OverTime, past: Past | None) -> GapBelief:
        """The belief about the NaN of a series (T, p) in standard units."""
        by_time = gaps_over_time(values, over_time)
        if past is None:
            return cls([by_time], np.ones(1))
        how = past.models, past.lags, covariates[: len(values)]
        by_past = infer_gaps(values, by_time.filled(values), *how)
        by_past = weigh_candidates(values, by_past, by_time, *how)
        evidence = _evidence(values, covariates, over_time, past, by_past.filled(values))
        return cls([by_time, by_past], np.round(scipy.special.softmax(evidence), 6))

    def draws(self, n_draws: int, seed: int) -> np.ndarray:
        """Draws (n_draws, M) of the missing values."""
        counts = shares(self.weights, n_draws)
        return np.concatenate([part.draws(int(count), seed) for part, count in zip(self.parts, counts, strict=True)])

    def filled(self, values: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """The series with `entries` in its gaps."""
        return self.parts[0].filled(values, entries)

    def moments(self, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of every value, 0 where it is not missing."""
        means = np.stack([part.mean for part in self.parts])
        variances = np.stack([np.diagonal(part.covariance) for part in self.parts])
        centre = self.weights @ means
        spread = self.weights @ (variances + (means - centre) ** 2)
        found = np.zeros((2, *shape))
        found[:, self.parts[0].steps, self.parts[0].columns] = centre, np.sqrt(spread)
        return found[0], found[1]


def gaps_over_time(values: np.ndarray, over_time: OverTime) -> Gaps:
    """What a GP over time says of the missing values: a Gaussian, exactly."""
    steps, columns = np.nonzero(np.isnan(values))
    mean, covariance = np.zeros(len(steps)), np.zeros((len(steps), len(steps)))
    for column, posterior in enumerate(over_time.posteriors(values)):
        own = np.flatnonzero(columns == column)
        if len(own):
            mean[own], covariance[np.ix_(own, own)] = posterior.moments(steps[own])
    return Gaps(steps, columns, mean, covariance)


def _evidence(
    values: np.ndarray, covariates: np.ndarray, over_time: OverTime, past: Past, filled: np.ndarray
) -> np.ndarray:
    """The log density of the known values under both priors, each value given those before it."""
    by_past = past.log_densities(filled, covariates)
    first, total = len(values) - len(by_past), np.zeros(2)
    for column, posterior in enumerate(over_time.posteriors(values)):
        both = posterior.steps >= first
        total[0] += posterior.log_densities()[both].sum()
        total[1] += by_past[posterior.steps[both] - first, column].sum()
    return total
