"""Baselines for forecasting: the next value is a function of the last few values, plus a random deviation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from ..series.forecast import Forecast
from ..series.reading import fill_gaps, read_series

FARTHEST = 10.0  # diverging paths are held at this many standard deviations from the training mean
N_FOLDS = 5


class SeriesBaseline(BaseEstimator):
    """Fills gaps, standardises, and simulates each dimension on its own by means of `_fit`, `_next` and `_draw`."""

    lags = 1  # how many past values `_next` uses

    def fit(self, series: Any) -> SeriesBaseline:
        """Fit to a series. NaN is interpolated between its neighbours."""
        values, timeline = read_series(series)
        if self.lags < 1:
            raise ValueError(f"lags must be at least 1; got {self.lags}.")
        if len(values) < self._shortest():
            raise ValueError(f"{self} needs a series of at least {self._shortest()} steps; got {len(values)}.")
        filled = fill_gaps(values)
        self._centre = filled.mean(axis=0)
        self._scale = np.where(np.ptp(filled, axis=0) > 0, filled.std(axis=0), 1.0)
        standard = (filled - self._centre) / self._scale
        known = ~np.isnan(values)
        self._models = [self._fit(*both) for both in zip(standard.T, known.T, strict=True)]
        self._recent = standard[-self.lags :]
        self._past, self._timeline = values, timeline
        return self

    def forecast(self, steps: int, n_paths: int = 500, random_state: int | None = None) -> Forecast:
        """A forecast from simulated continuations of the fitted series."""
        check_is_fitted(self, "_models")
        if steps < 1 or n_paths < 1:
            raise ValueError(f"steps and n_paths must be at least 1; got {steps} and {n_paths}.")
        random = np.random.default_rng(random_state)
        columns = zip(self._models, self._recent.T, strict=True)
        paths = np.stack([self._simulate(model, recent, steps, n_paths, random) for model, recent in columns], axis=2)
        n_diverged = int(np.sum(np.any(np.abs(paths) == FARTHEST, axis=(1, 2))))
        return Forecast.from_paths(self._centre + self._scale * paths, self._timeline, self._past, n_diverged)

    def _simulate(
        self, model: Any, recent: np.ndarray, steps: int, n_paths: int, random: np.random.Generator
    ) -> np.ndarray:
        """Paths (n_paths, steps) of one dimension."""
        left_over = self._draw(model, (n_paths, steps), random)
        values = np.empty((n_paths, self.lags + steps))
        values[:, : self.lags] = recent
        for step in range(steps):
            following = self._next(model, values[:, step : step + self.lags]) + left_over[:, step]
            values[:, self.lags + step] = np.clip(following, -FARTHEST, FARTHEST)
        return values[:, self.lags :]

    def _shortest(self) -> int:
        """The length of the shortest series that can be fitted."""
        raise NotImplementedError

    def _fit(self, values: np.ndarray, is_known: np.ndarray) -> Any:
        """The model of one dimension (T,), which `_next` and `_draw` need. Unknown values have been filled in."""
        raise NotImplementedError

    def _next(self, model: Any, windows: np.ndarray) -> np.ndarray:
        """The mean of the next value (n,) after windows (n, lags), which have the oldest value first."""
        raise NotImplementedError

    def _draw(self, model: Any, shape: tuple[int, int], random: np.random.Generator) -> np.ndarray:
        """Random deviations from the mean of `_next`."""
        raise NotImplementedError


class Climatology(SeriesBaseline):
    """Past values drawn at random: a constant forecast with the spread of the series."""

    def _shortest(self):
        return 2

    def _fit(self, values, is_known):
        return values[is_known]

    def _next(self, model, windows):
        return np.zeros(len(windows))

    def _draw(self, model, shape, random):
        return random.choice(model, size=shape)


class Persistence(SeriesBaseline):
    """A random walk from the last value. Its Gaussian steps have the variance of the training differences."""

    def _shortest(self):
        return 3  # two differences, for a variance

    def _fit(self, values, is_known):
        steps, is_seen = np.diff(values), is_known[1:] & is_known[:-1]
        return (steps[is_seen] if is_seen.sum() > 1 else steps).std(ddof=1)

    def _next(self, model, windows):
        return windows[:, -1]

    def _draw(self, model, shape, random):
        return model * random.standard_normal(shape)


class AutoRegression(SeriesBaseline):
    """Linear autoregression with Gaussian noise. Its order is the one up to `lags` with the lowest AIC."""

    def __init__(self, lags: int = 18) -> None:
        self.lags = lags

    def _shortest(self):
        return 3 * self.lags + 2  # two rows per coefficient: with fewer, AIC prefers the order that interpolates

    def _fit(self, values, is_known):
        fitted = _lowest_aic(values, self.lags)
        weights = np.zeros(self.lags)
        weights[: len(fitted.params) - 1] = fitted.params[1:]  # the latest value's first
        return fitted.params[0], weights[::-1], np.sqrt(fitted.sigma2)

    def _next(self, model, windows):
        constant, weights, _ = model
        return constant + windows @ weights

    def _draw(self, model, shape, random):
        return model[2] * random.standard_normal(shape)


class BoostedRecursion(SeriesBaseline):
    """Gradient-boosted trees on windows of `lags` values; forecasts plus out-of-fold residuals are fed back."""

    def __init__(self, lags: int = 18) -> None:
        self.lags = lags

    def _shortest(self):
        return self.lags + 4 * N_FOLDS  # every fold then leaves 16 windows to learn from, enough for a tree to split

    def _fit(self, values, is_known):
        windows = sliding_window_view(values, self.lags + 1)
        before, after = windows[:, :-1], windows[:, -1]
        trees = HistGradientBoostingRegressor(max_iter=200, min_samples_leaf=5, random_state=0)
        # Training residuals are far too small. Folds are contiguous because neighbouring windows are nearly equal.
        residuals = after - cross_val_predict(trees, before, after, cv=KFold(N_FOLDS))
        return trees.fit(before, after), residuals

    def _next(self, model, windows):
        return model[0].predict(windows)

    def _draw(self, model, shape, random):
        return random.choice(model[1], size=shape)


def _lowest_aic(values: np.ndarray, lags: int) -> Any:
    """The fitted AutoReg of statsmodels with the lowest AIC."""
    try:
        from statsmodels.tools.sm_exceptions import ModelWarning
        from statsmodels.tsa.ar_model import ar_select_order
    except ImportError as error:
        raise ImportError('AutoRegression needs statsmodels: pip install "semigp[forecast]".') from error
    # Without noise, lags are collinear and residuals zero. Then the pseudo-inverse and an AIC of -∞ are correct.
    with warnings.catch_warnings(), np.errstate(divide="ignore"):
        warnings.simplefilter("ignore", ModelWarning)
        return ar_select_order(values, lags, ic="aic", glob=False).model.fit()
