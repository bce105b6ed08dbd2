"""The next increment as a linear function of the last ones: a series that comes from anywhere and may go anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.exact.lines import LineModel, LineSums, condition_lines, fit_lines
from ....core.exact.rollout import Watch
from ....core.exact.windows import window_table
from ....core.hyperpriors import LogNormal
from ..searches import Searches
from .base import in_silence, limits

_SPREAD, _TOTAL_VARIANCE = 3.0, 0.1
_WINDOWS = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36)


@dataclass(frozen=True)
class Increments:
    """Linear in the increments at some lags, for each column by itself, around a random walk."""

    models: list[LineModel]
    lags: list[np.ndarray]
    scales: np.ndarray  # (p,) standard deviations of the increments

    @classmethod
    def fitted(
        cls, values: np.ndarray, covariates: np.ndarray, seasonal: np.ndarray, max_iter: int, searches: Searches
    ) -> Increments:
        """Fitted to a series without gaps. The window is the one with the highest evidence, less one nat per lag."""
        steps = np.diff(values, axis=0)
        scales = np.maximum(steps.std(axis=0), 1e-9)
        models, lags = zip(
            *(_chosen(column[:, None], covariates[1:], seasonal, max_iter, searches) for column in (steps / scales).T),
            strict=True,
        )
        return cls(list(models), list(lags), scales)

    def paths(self, past, covariates, n_paths, seed, watch: Watch = in_silence):
        """Slopes are drawn from their posterior. Each path follows one draw, with noise."""
        steps, (low, high) = len(covariates) - len(past), limits(past)
        random, paths = np.random.default_rng([seed, len(self.models)]), np.empty((n_paths, steps, past.shape[1]))
        for column, scale in enumerate(self.scales):
            increments = np.diff(past[:, column]) / scale
            rolled = self._rolled(column, increments, covariates, n_paths, random)
            paths[:, :, column] = past[-1, column] + scale * np.cumsum(rolled, axis=1)
        held = np.clip(paths, low, high)
        return held, (held != paths).any(axis=(1, 2))

    def _rolled(self, column, increments, covariates, n_paths, random):
        """Increments (n_paths, steps) of one column, in its own units."""
        model, lags, known = self.models[column], self.lags[column], len(increments) + 1
        table, targets = window_table(increments[:, None], covariates[1:known], lags)
        slopes = condition_lines(model, LineSums.of(table, targets[:, 0])).draws(n_paths, random)
        tau, steps = int(lags[0]), len(covariates) - known
        values = np.empty((n_paths, tau + steps))
        values[:, :tau] = increments[-tau:]
        noise = np.sqrt(model.noise_variance) * random.normal(size=(n_paths, steps))
        driven = slopes[:, len(lags) :] @ covariates[known:].T + noise
        lowest, highest = limits(increments[:, None])
        for step in range(steps):
            new = np.einsum("sk,sk->s", values[:, step + tau - lags], slopes[:, : len(lags)]) + driven[:, step]
            values[:, step + tau] = np.clip(new, lowest, highest)
        return values[:, tau:]


def _chosen(increments, covariates, seasonal, max_iter, searches) -> tuple[LineModel, np.ndarray]:
    """The model with the best window, of one column."""
    windows = [tau for tau in _WINDOWS if tau <= max(1, len(increments) // 4)]
    first = max(windows[-1], *seasonal, 1)
    tried = []
    for tau in windows:
        lags = np.union1d(np.arange(1, tau + 1), seasonal)[::-1].astype(int)
        table, targets = window_table(increments, covariates, lags)
        late = slice(first - lags[0], None)
        sums = LineSums.of(table[late], targets[late, 0])
        prior = LogNormal(_TOTAL_VARIANCE / table.shape[1], _SPREAD)
        model, report = fit_lines(sums, prior, max_iter, searches.told("trial"))
        searches.note(report)
        tried.append((report.bound - tau, model, lags))
    _, model, lags = max(tried, key=lambda each: each[0])
    return model, lags
