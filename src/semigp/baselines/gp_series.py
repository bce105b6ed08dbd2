"""Auto-regressive GPs that the paper compares, and its own: one RBF kernel, moment matching or nothing.

All fit by maximum likelihood in standard units, and forecast with a Gaussian per step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.exact.gp import ExactModel, ExactRows, condition, fit_exact
from ..core.exact.rollout import LEAST_NOISE, propagate
from ..core.kernels import RBF
from ..core.search.stages import Stage
from ..core.sparse.fit import SIGNAL_AND_NOISE, fit
from ..core.sparse.model import make_data, posterior, start
from ..series.forecast import Forecast
from ..series.reading import read_series


class _AutoRegressiveGP(BaseEstimator):
    """A GP of the last `window` values of a series without gaps."""

    _propagation = "none"

    def __init__(self, window: int = 18, random_state: int = 0) -> None:
        self.window = window
        self.random_state = random_state

    def fit(self, series: Any) -> _AutoRegressiveGP:
        """Fit to a series of one dimension, without gaps."""
        values, self._timeline = read_series(series)
        if values.shape[1] > 1 or np.isnan(values).any() or len(values) < self.window + 2:
            raise ValueError(f"{self} takes one series without gaps, longer than its window.")
        self._values, self._centre, self._scale = values, values.mean(), values.std()
        standard = (values[:, 0] - self._centre) / self._scale
        inputs = np.lib.stride_tricks.sliding_window_view(standard[:-1], self.window)
        self._last = standard[-self.window :, None]
        self._posterior, self._noise = self._fit(inputs, standard[self.window :])
        return self

    def forecast(self, steps: int, n_paths: int = 0, random_state: Any = None) -> Forecast:
        """A Gaussian for each of the next steps."""
        check_is_fitted(self, "_posterior")
        noise, nothing = np.array([self._noise]), np.zeros((steps, 0))
        mean, variance = propagate(self._propagation, [self._posterior], noise, self._last, nothing)
        # What runs away is held, so that nothing becomes infinite.
        mean, std = np.clip(np.nan_to_num(mean), -10.0, 10.0), np.sqrt(np.clip(np.nan_to_num(variance), 1e-12, 100.0))
        natural = mean * self._scale + self._centre, std * self._scale
        return Forecast.from_moments(*natural, self._timeline, self._values)

    def _fit(self, inputs: np.ndarray, targets: np.ndarray) -> tuple[Any, float]:
        random = np.random.default_rng(self.random_state)
        lengthscale = np.sqrt(self.window) * np.exp(0.3 * random.normal(size=self.window))
        rows = ExactRows.of(inputs, targets)
        model, _ = fit_exact(ExactModel(RBF(1.0, lengthscale), 1e-2), rows, {}, 1000)
        noise = float(model.noise_variance)
        if self._propagation != "none":
            noise = max(noise, LEAST_NOISE)
        return condition(ExactModel(model.kernel, noise), rows), noise


class NaiveGP(_AutoRegressiveGP):
    """Its own means are fed back as if they were observed."""


class GirardGP(_AutoRegressiveGP):
    """GP_uncert: exact moment matching with the full covariance of the window."""

    _propagation = "full"


class PublishedGP(_AutoRegressiveGP):
    """The paper's forecaster: a sparse GP, started at a signal-to-noise ratio of 100 that is held at first.

    The window's variances are fed back, its covariances are not. Short runs of the optimiser give the published errors;
    at convergence they are larger.
    """

    _propagation = "diagonal"

    def __init__(self, window: int = 18, n_inducing: int = 30, max_iter: int = 20, random_state: int = 0) -> None:
        super().__init__(window, random_state)
        self.n_inducing = n_inducing
        self.max_iter = max_iter

    def _fit(self, inputs: np.ndarray, targets: np.ndarray) -> tuple[Any, float]:
        random = np.random.default_rng(self.random_state)
        chosen = inputs[random.permutation(len(inputs))[: self.n_inducing]]
        data = make_data(inputs, targets[:, None])
        model = start(data, RBF(1.0, np.full(self.window, np.sqrt(self.window))), chosen, 0.01, 1.0)
        idle = ("output_scale",)
        stages = [Stage("held signal-to-noise", 50, (*SIGNAL_AND_NOISE, *idle)), Stage("all", self.max_iter, idle)]
        model, _ = fit(model, data, stages)
        return posterior(model, data), float(np.ravel(model.noise_variance)[0])
