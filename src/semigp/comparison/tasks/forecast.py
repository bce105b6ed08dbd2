"""Forecasting a series: the end is hidden several times, and forecast from what comes before."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np

from ...baselines import AutoRegression
from ...estimators import GPForecaster
from ...estimators.forecasting.seasons import find_seasons
from ...series.forecast import Forecast
from ...series.reading import fill_gaps, read_series
from ...series.timeline import Timeline
from .base import COVERAGE, OURS, Scores

_N_PATHS, _MOST_LAGS = 500, 18
_LEAST = 30  # values before the first forecast


class Forecasting:
    """One series. All forecasts have the same number of steps, one after the other up to the end."""

    scores = ("quantile loss", "MASE", COVERAGE)

    def __init__(self, series: Any, steps: int | None, n_splits: int, seed: int) -> None:
        values, _ = read_series(series)
        if values.shape[1] != 1:
            raise ValueError(f"The series has {values.shape[1]} columns; compare one at a time.")
        self._values, self._seed = values[:, 0], seed
        self._steps = steps or max(1, min(24, len(values) // 10))
        self.n_splits = min(n_splits, (len(values) - _LEAST) // self._steps)
        if self.n_splits < 1:
            raise ValueError(
                f"The series has {len(values)} values; a forecast of {self._steps} steps needs {_LEAST + self._steps}."
            )
        past = values[: len(values) - self.n_splits * self._steps]
        standard = (past - np.nanmean(past)) / (np.nanstd(past) or 1.0)
        self.season = round(max(find_seasons(standard)[:1], default=1))
        self.ways = (OURS, "seasonal naive" if self.season > 1 else "naive", "AR", "ETS")
        self.about = f"forecasts of {self._steps} steps, season {self.season if self.season > 1 else 'none'}"

    def run(self, way: str, split: int) -> Scores:
        """Scores of one forecast; the units of loss and MASE are the mean step over a season in the past."""
        end = len(self._values) - (self.n_splits - split) * self._steps
        past, truth = self._values[:end], self._values[end : end + self._steps]
        found = self._forecast(way, past).score(truth, season=self.season)
        return {"quantile loss": found["quantile loss"], "MASE": found["MASE"], COVERAGE: found["coverage"]}

    def _forecast(self, way: str, past: np.ndarray) -> Forecast:
        if way == OURS:
            return GPForecaster(random_state=self._seed).fit(past).forecast(self._steps, n_paths=_N_PATHS)
        if way in ("AR", "ETS") and importlib.util.find_spec("statsmodels") is None:
            raise ValueError('statsmodels is not installed: pip install "semigp[forecast]".')
        if way == "AR":
            lags = max(1, min(_MOST_LAGS, len(past) // 4))
            return AutoRegression(lags).fit(past).forecast(self._steps, _N_PATHS, self._seed)
        filled, random = fill_gaps(past[:, None])[:, 0], np.random.default_rng(self._seed)
        paths = (_ets if way == "ETS" else _seasonal_naive)(filled, self.season, self._steps, random)
        return Forecast.from_paths(paths[:, :, None], Timeline(["value"], True), past[:, None])


def _seasonal_naive(past: np.ndarray, season: int, steps: int, random: np.random.Generator) -> np.ndarray:
    """The last season again, plus a random walk over seasons with the errors that this made in the past."""
    errors = past[season:] - past[:-season]
    last = past[-season:]
    walks = np.cumsum(random.choice(errors - errors.mean(), size=(_N_PATHS, -(-steps // season), season)), axis=1)
    return (last + walks).reshape(_N_PATHS, -1)[:, :steps]


def _ets(past: np.ndarray, season: int, steps: int, random: np.random.Generator) -> np.ndarray:
    """Exponential smoothing with a damped trend, and with a season if there is one."""
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    has_season = season > 1 and len(past) >= 2 * season
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ETSModel(
            past, trend="add", damped_trend=True,
            seasonal="add" if has_season else None, seasonal_periods=season if has_season else None,
        ).fit(disp=False)  # fmt: skip
        errors = np.sqrt(model.mse) * random.standard_normal((steps, _N_PATHS))
        return np.asarray(model.simulate(steps, "end", _N_PATHS, random_errors=errors)).reshape(steps, _N_PATHS).T
