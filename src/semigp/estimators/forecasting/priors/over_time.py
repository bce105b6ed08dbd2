"""A series as a function of time: trend, seasons, a level that wanders, and noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.exact.over_time import TimeModel, TimePosterior, fit_over_time, gaussian_draws
from ....core.exact.rollout import Watch
from ..searches import Searches
from .base import in_silence, limits


@dataclass(frozen=True)
class OverTime:
    """A GP over time for each column by itself."""

    models: list[TimeModel]
    latest: int = 0  # how many of the latest values it looks at; 0 means all

    @classmethod
    def fitted(
        cls,
        values: np.ndarray,
        seasons: tuple[float, ...],
        max_iter: int,
        searches: Searches,
        latest: int = 0,
        shared: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> OverTime:
        """Fitted to a series, in which NaN is a gap. `shared` is what other series say of the parameters."""
        models = []
        for column in values[-latest:].T:
            used = tuple(season for season in seasons if 2.5 * season <= len(column))
            prior = None if shared is None else (shared[0][: 7 + 3 * len(used)], shared[1][: 7 + 3 * len(used)])
            model, report = fit_over_time(column, used, max_iter, searches.told("trial"), prior)
            searches.note(report)
            models.append(model)
        return cls(models, latest)

    def paths(self, past, covariates, n_paths, seed, watch: Watch = in_silence):
        """Draws from the posterior of the values to come."""
        recent, steps = past[-self.latest :], len(covariates) - len(past)
        random, low_high = np.random.default_rng([seed, 17]), limits(past)
        at = len(recent) + np.arange(steps)
        columns = zip(self.models, recent.T, strict=True)
        moments = [TimePosterior.given(model, column).moments(at) for model, column in columns]
        paths = np.stack([gaussian_draws(*each, n_paths, random) for each in moments], axis=2)
        held = np.clip(paths, *low_high)
        return held, (held != paths).any(axis=(1, 2))

    def posteriors(self, values: np.ndarray) -> list[TimePosterior]:
        """The posterior of each column, given the values that are not NaN."""
        return [TimePosterior.given(m, column) for m, column in zip(self.models, values[-self.latest :].T, strict=True)]
