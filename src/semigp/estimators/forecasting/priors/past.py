"""The next value as a function of the last ones: an exact GP for each column, rolled forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ....core.exact.gp import ExactModel
from ....core.exact.rollout import Watch, sample_paths
from ..dynamics import posteriors
from .base import in_silence, limits

# How far paths may go beyond the values of the past, as a share of what these span: dynamics are known only there.
_BEYOND = 0.25


@dataclass(frozen=True)
class Past:
    """A function of the values at some lags. It may be any function, and comes back to where the series has been."""

    models: list[ExactModel]  # one for each column
    lags: np.ndarray  # largest first

    def paths(self, past, covariates, n_paths, seed, watch: Watch = in_silence):
        """Functions are drawn from the posterior, and each is rolled forward with noise."""
        known, ahead = covariates[: len(past)], covariates[len(past) :]
        components = [posteriors(self.models, past, known, self.lags)]
        last = past[-self.lags[0] :][None]
        return sample_paths(seed, components, last, ahead, limits(past, _BEYOND), n_paths, self.lags, watch)

    def log_densities(self, past: np.ndarray, covariates: np.ndarray) -> np.ndarray:
        """The log density of every value after the first window, given those before it, (T - τ, p)."""
        found = []
        for posterior in posteriors(self.models, past, covariates[: len(past)], self.lags):
            whitened = scipy.linalg.solve_triangular(posterior.cholesky, posterior.rows.known()[1], lower=True)
            found.append(-0.5 * (whitened**2 + np.log(2.0 * np.pi)) - np.log(np.diagonal(posterior.cholesky)))
        return np.column_stack(found)
