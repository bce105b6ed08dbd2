"""Ways that run here: ours, the true model of a simulated series, and two baselines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri

from ... import baselines
from ...estimators import GPForecaster
from .plan import AR, CLIMATOLOGY, LEVELS, OURS, OURS_18, TRUTH
from .problems import Problem

Way = Callable[[Problem], np.ndarray]  # quantiles (levels, steps)
MOST_LAGS = 52


def _ours(**settings: Any) -> Way:
    def way(problem: Problem) -> np.ndarray:
        forecaster = GPForecaster(random_state=0, **settings).fit(problem.past)
        return forecaster.forecast(len(problem.future)).quantile(LEVELS)

    return way


def _truth(problem: Problem) -> np.ndarray:
    if problem.exact is None:
        raise ValueError(f"nobody knows the true model of {problem.part}.")
    mean, std = problem.exact
    return mean + ndtri(np.array(LEVELS))[:, None] * std


def _baseline(build: Callable[[Problem], Any]) -> Way:
    def way(problem: Problem) -> np.ndarray:
        return build(problem).fit(problem.past).forecast(len(problem.future), random_state=0).quantile(LEVELS)

    return way


WAYS: dict[str, Way] = {
    OURS: _ours(),
    OURS_18: _ours(window=18, season=None, trend=None),
    TRUTH: _truth,
    CLIMATOLOGY: _baseline(lambda problem: baselines.Climatology()),
    AR: _baseline(lambda problem: baselines.AutoRegression(min(MOST_LAGS, len(problem.past) // 4))),
}
