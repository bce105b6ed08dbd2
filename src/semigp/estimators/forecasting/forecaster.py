"""Forecasts of a series by a GP of its own past, simulated freely with the uncertainty that it has."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any

import jax
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ...core.exact.gaps import Gaps, infer_gaps
from ...core.exact.gp import NOISE_FLOOR, ExactModel, ExactPosterior, ExactRows, condition, fit_exact
from ...core.exact.rollout import LEAST_NOISE, propagate, sample_paths
from ...core.hyperpriors import LogNormal
from ...core.kernels import RBF, Linear
from ...core.numerics import checks
from ...core.search.report import Callback, FitReport, labelled
from ...runtime import computing
from ...series.forecast import Forecast
from ...series.reading import fill_gaps, in_order, read_next, read_series
from ...series.timeline import Timeline
from ..common.all_or_nothing import all_or_nothing
from ..common.saving import Saved
from ..common.units import Scale

# Windows that hyperparameters are fitted to, and that a forecast is conditioned on, at most.
_MAX_TO_FIT, _MAX_TO_CONDITION = 500, 2000
# Wide priors let the lags that do not matter go: of two dozen, a system may need two.
_SPREAD, _SIGNAL_SPREAD = 3.0, 1.0
_LINEAR_VARIANCE, _START_NOISE = 0.1, 1e-3
_CANDIDATES = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36)


class GPForecaster(Saved, BaseEstimator):
    """Auto-regression by Gaussian processes: the next value as a function of the last `window`.

    The kernel is RBF + linear, each lag with its own lengthscale and slope, under priors wide enough for lags to drop
    out. Forecasts feed on themselves; in the default, sampled, form whole functions are drawn from the posterior and
    each is rolled forward, so that what is not known of the dynamics shows in the spread of the paths.

    Gaps (NaN) are inferred together with the dynamics, and drawn several times, so that their uncertainty is in the
    forecast as well.

    Parameters
    ----------
    window : int or "auto"
        Lags. "auto" compares several by the evidence for the same values, hyperpriors included, less one nat per lag.
    n_draws : int
        Draws of the gaps, where there are some.
    max_iter : int
        Of the optimiser.
    callback : callable, optional
        Called with a `Progress` after every iteration of the optimiser; returning True ends the fit there.
    random_state : int, RandomState or None

    Attributes
    ----------
    window_ : int
    lag_relevance_ : (window_,) or (window_, p)
        Which lags matter, lag 1 first: the prior variance of the slope along each, the largest being 1.
    series_names_ : list of str
        Of the columns.
    noise_variance_ : (p,)
        Of the values, in their own units squared.
    fit_report_ : FitReport
        Of the column whose fit went worst.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import GPForecaster
    >>> series = np.sin(np.arange(60) / 3)
    >>> forecast = GPForecaster(window=4, random_state=0).fit(series).forecast(10)
    >>> bool(np.abs(forecast.mean - np.sin(np.arange(60, 70) / 3)).max() < 0.1)
    True
    """

    _covariate_names: list[str] | None = None

    _parameter_constraints = {  # noqa: RUF012
        "window": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        window: int | str = 18,
        *,
        n_draws: int = 10,
        max_iter: int = 1000,
        callback: Callback | None = None,
        random_state: Any = None,
    ) -> None:
        self.window = window
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state

    # ---- fitting

    @all_or_nothing
    def fit(self, series: Any, covariates: Any = None, time: str | None = None) -> GPForecaster:
        """Learn the dynamics of a series.

        Parameters
        ----------
        series : (T,), (T, p), or a Series or DataFrame of pandas or polars
            NaN is a gap.
        covariates : (T, c), optional
            What is known in advance of every step, such as the hour of the day.
        time : str, optional
            The column of a frame that holds the times; a column of dates needs no telling.
        """
        self._validate_params()
        values, timeline = read_series(series, time=time)
        covariates, self._covariate_names = self._check_covariates(covariates, len(values))
        self._check_length(values)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._scale, self._covariate_scale = Scale.of(values), Scale.of(covariates)
        with computing():
            self._learn(values, covariates, timeline)
        if self.fit_report_.status in ("iteration limit", "failed"):
            warnings.warn(self.fit_report_.message, ConvergenceWarning, stacklevel=3)
        return self

    def _check_covariates(
        self, covariates: Any, steps: int, names: list[str] | None = None
    ) -> tuple[np.ndarray, list[str]]:
        """Values and names; where names are given, the columns of a frame come in their order."""
        if covariates is None:
            return np.zeros((steps, 0)), []
        covariates, found = read_series(covariates, "covariates")
        if names is not None and covariates.shape[1] == len(names):
            covariates = in_order(covariates, found, names, "covariates")
        if len(covariates) != steps:
            raise ValueError(f"covariates has {len(covariates)} rows; {steps} are needed, one for every step.")
        if np.isnan(covariates).any():
            raise ValueError("covariates holds NaN; what is known in advance has no gaps.")
        return covariates, found.names

    def _check_length(self, values: np.ndarray) -> None:
        known = (~np.isnan(values)).sum(axis=0)
        if known.min() == 0:
            raise ValueError(f"series has no value in column {int(np.argmin(known))}: there is nothing to learn from.")
        spans, sizes = np.nanmax(values, axis=0) - np.nanmin(values, axis=0), np.nanmax(np.abs(values), axis=0)
        if np.any(spans <= 1e-12 * sizes):
            column = int(np.argmax(spans <= 1e-12 * sizes))
            raise ValueError(f"series is constant in column {column}: there are no dynamics to learn.")
        if not (spans.min() > 1e-150 and sizes.max() < 1e150):
            raise ValueError("series has values beyond 1e150, or that differ by less than 1e-150; change its units.")
        least = 3 if self.window == "auto" else self.window + 2
        if len(values) < least:
            raise ValueError(f"series has {len(values)} steps; a window of {self.window} needs {least} or more.")
        if known.min() < 3:
            raise ValueError(f"series has {known.min()} known values in column {int(np.argmin(known))}; 3 are needed.")

    def _learn(self, values: np.ndarray, covariates: np.ndarray, timeline: Timeline) -> None:
        standard, extra = self._scale.standard(values), self._covariate_scale.standard(covariates)
        filled = fill_gaps(standard)
        self.window_ = self._choose_window(filled, extra) if self.window == "auto" else self.window
        # What is seen whole comes first, if there is enough of it; then everything, the gaps filled by a draw: their
        # means would fit too well, and leave no noise.
        inputs, targets = _windows(standard, extra, self.window_)
        whole = np.sum(~np.isnan(np.column_stack([inputs, targets])).any(axis=1))
        models, reports = self._fit_models(standard if whole >= max(30, 5 * self.window_) else filled, extra)
        if np.isnan(standard).any():
            gaps = infer_gaps(standard, filled, models, self.window_, extra)
            models, reports = self._fit_models(gaps.filled(standard, gaps.draws(1, self._seed)[0]), extra)
        self._models = models
        self._remember(values, covariates, timeline)
        order = ("failed", "interrupted", "stalled", "iteration limit", "converged")
        self.fit_report_ = min(reports, key=lambda report: order.index(report.status))
        self.lag_relevance_ = self._relevance()
        self.noise_variance_ = np.array([m.noise_variance + NOISE_FLOOR for m in models]) * self._scale.std**2

    def _choose_window(self, filled: np.ndarray, extra: np.ndarray) -> int:
        """The window of highest evidence for the values that all can see, a little likelihood per lag asked for.

        All are tried: evidence need not rise steadily. A system with a delay has a second, higher maximum there.
        """
        candidates = [tau for tau in _CANDIDATES if tau <= max(1, len(filled) // 4)]
        longest, found = candidates[-1], {}
        for tau in candidates:
            _, reports = self._fit_models(filled[longest - tau :], extra[longest - tau :], tau)
            found[tau] = sum(report.bound for report in reports) - tau * filled.shape[1]
        return max(found, key=lambda tau: found[tau])

    def _fit_models(
        self, filled: np.ndarray, extra: np.ndarray, window: int | None = None
    ) -> tuple[list[ExactModel], list[FitReport]]:
        inputs, targets = _windows(filled, extra, window or self.window_)
        phase = "fit" if window is None else "trial"
        usable = np.flatnonzero(~np.isnan(inputs).any(axis=1) & ~np.isnan(targets).any(axis=1))
        some = usable[np.unique(np.linspace(0, len(usable) - 1, min(_MAX_TO_FIT, len(usable))).astype(int))]
        q = inputs.shape[1]
        start = ExactModel(RBF(1.0, np.full(q, np.sqrt(q))) + Linear(np.full(q, _LINEAR_VARIANCE / q)), _START_NOISE)
        fits = []
        for column in range(targets.shape[1]):
            rows = ExactRows.of(inputs[some], targets[some, column])
            told = labelled(self.callback, phase=phase, part=column + 1, parts=targets.shape[1])
            fits.append(fit_exact(start, rows, _hyperpriors(q), self.max_iter, callback=told))
        return [model for model, _ in fits], [report for _, report in fits]

    def _remember(self, values: np.ndarray, covariates: np.ndarray, timeline: Timeline) -> None:
        """Everything a forecast needs from the series itself: gaps drawn, posteriors, last windows."""
        self._values, self._covariates, self._timeline = values, covariates, timeline
        self.series_names_ = timeline.names
        standard, extra = self._scale.standard(values), self._covariate_scale.standard(covariates)
        self._gaps: Gaps | None = None
        pasts = [standard]
        if np.isnan(standard).any():
            self._gaps = infer_gaps(standard, fill_gaps(standard), self._models, self.window_, extra)
            pasts = [self._gaps.filled(standard, z) for z in self._gaps.draws(self.n_draws, self._seed)]
        self._components = [_posteriors(self._models, past, extra, self.window_) for past in pasts]
        self._last = np.stack([past[-self.window_ :] for past in pasts])

    def _relevance(self) -> np.ndarray:
        p, slopes = self._values.shape[1], []
        for model in self._models:
            rbf, linear = model.kernel.kernels
            slope = rbf.variance / np.asarray(rbf.lengthscale) ** 2 + np.asarray(linear.variances)
            slopes.append(slope[: self.window_ * p].reshape(self.window_, p)[::-1])
        mean = np.mean(slopes, axis=0)
        return (mean / mean.max())[:, 0] if self._timeline.is_flat else mean / mean.max()

    # ---- forecasting

    def forecast(
        self,
        steps: int,
        propagation: str = "sample",
        *,
        n_paths: int = 500,
        covariates: Any = None,
        random_state: Any = None,
    ) -> Forecast:
        """The next `steps` values.

        Parameters
        ----------
        steps : int
        propagation : {"sample", "full", "diagonal", "none"}
            How uncertainty is carried on: functions drawn from the posterior and rolled forward; moment matching with
            the full covariance of the window (between columns, its linear part); with its diagonal, as in the paper; or
            not at all.
        n_paths : int
            Of the sampled forecast.
        covariates : (steps, c)
            Of the steps to come, where the model was fitted with some.
        random_state : int, RandomState or None
            By default the forecaster's own.
        """
        check_is_fitted(self)
        checks.check_count("steps", steps)
        checks.check_count("n_paths", n_paths)
        if propagation not in ("sample", "full", "diagonal", "none"):
            raise ValueError(f'propagation is "sample", "full", "diagonal" or "none"; got {propagation!r}.')
        extra = self._covariate_scale.standard(self._future_covariates(covariates, steps))
        with computing():
            if propagation == "sample":
                return self._sampled(steps, extra, n_paths, random_state)
            return self._matched(propagation, extra)

    def _future_covariates(self, covariates: Any, steps: int) -> np.ndarray:
        count = self._covariates.shape[1]
        if covariates is None and count:
            raise ValueError(f"The model was fitted with {count} covariates; give those of the next {steps} steps.")
        future, _ = self._check_covariates(covariates, steps, self._covariate_names)
        if future.shape[1] != count:
            raise ValueError(f"covariates has {future.shape[1]} columns; the model was fitted with {count}.")
        return future

    def _sampled(self, steps: int, extra: np.ndarray, n_paths: int, random_state: Any) -> Forecast:
        seed = self._seed if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
        standard = self._scale.standard(self._values)
        low, high = np.nanmin(standard, axis=0), np.nanmax(standard, axis=0)
        bounds = low - (high - low), high + (high - low)
        paths, ran_out = sample_paths(jax.random.key(seed), self._components, self._last, extra, bounds, n_paths)
        if ran_out.mean() > 0.05:
            warnings.warn(
                f"{ran_out.mean():.0%} of the paths ran away and were held, as far beyond the values seen as these are "
                "apart; the dynamics are hardly known there. Try another window, or a longer series.",
                stacklevel=3,
            )
        return Forecast.from_paths(self._scale.natural(paths), self._timeline, self._values, int(ran_out.sum()))

    def _matched(self, propagation: str, extra: np.ndarray) -> Forecast:
        """By moment matching, from the mean of what is believed of the gaps."""
        past = self._scale.standard(self._values)
        if self._gaps is not None:
            past = self._gaps.filled(past)
        models = self._models
        if propagation != "none":
            models = [replace(m, noise_variance=max(m.noise_variance, LEAST_NOISE)) for m in models]
        own = self._covariate_scale.standard(self._covariates)
        posteriors = _posteriors(models, past, own, self.window_)
        noise = np.array([m.noise_variance + NOISE_FLOOR for m in self._models])
        mean, variance = propagate(propagation, posteriors, noise, past[-self.window_ :], extra)
        low, high = np.nanmin(past, axis=0), np.nanmax(past, axis=0)
        mean, std = np.clip(mean, 2 * low - high, 2 * high - low), np.minimum(np.sqrt(variance), 3 * (high - low))
        natural = self._scale.natural(mean), std * self._scale.std
        return Forecast.from_moments(*natural, self._timeline, self._values)

    def update(self, values: Any, covariates: Any = None) -> GPForecaster:
        """Go on from new values, which follow the ones so far, without fitting anew.

        Columns of a frame go by their names; its times, if it has some, are those right after the series.
        """
        check_is_fitted(self)
        new = read_next(values, self._timeline)
        extra = self._future_covariates(covariates, len(new))
        joined = np.concatenate([self._values, new]), np.concatenate([self._covariates, extra])
        with computing():
            self._remember(*joined, self._timeline.extended(len(new)))
        return self

    def impute(self, return_std: bool = False) -> Any:
        """The series with its gaps filled, and on request the standard deviation of every value; frames as frames."""
        check_is_fitted(self)
        mean, std = self._values.copy(), np.zeros(self._values.shape)
        if self._gaps is not None:
            mean = self._scale.natural(self._gaps.filled(self._scale.standard(self._values)))
            mean = np.where(np.isnan(self._values), mean, self._values)
            std[self._gaps.steps, self._gaps.columns] = np.sqrt(np.diagonal(self._gaps.covariance))
            std = std * self._scale.std
        found = tuple(self._timeline.like_the_series(part) for part in (mean, std))
        return found if return_std else found[0]

    def backtest(self, series: Any, horizon: int, n_origins: int = 10, propagation: str = "sample") -> list[dict]:
        """Scores of forecasts from several origins: fitted up to the first, continued to the others.

        The origins are spread over the second half of the series, which is taken without covariates. One dictionary for
        each, with the origin and the scores of `Forecast.score`.
        """
        checks.check_count("horizon", horizon)
        checks.check_count("n_origins", n_origins)
        values, timeline = read_series(series)
        last, first = len(values) - horizon, len(values) // 2
        if last < first:
            raise ValueError(f"A horizon of {horizon} leaves no room in the second half of {len(values)} steps.")
        origins = np.unique(np.linspace(first, last, n_origins).astype(int))
        flat = values[:, 0] if timeline.is_flat else values
        model = clone(self).fit(flat[: origins[0]])
        found = []
        for i, origin in enumerate(origins):
            if i:
                model.update(flat[origins[i - 1] : origin])
            truth = flat[origin : origin + horizon]
            found.append({"origin": int(origin), **model.forecast(horizon, propagation).score(truth)})
        return found


def _hyperpriors(q: int) -> dict[str, LogNormal]:
    return {
        "kernel*lengthscale": LogNormal(np.sqrt(q), _SPREAD),
        "kernel*variances": LogNormal(_LINEAR_VARIANCE / q, _SPREAD),
        "kernel.kernels.0.variance": LogNormal(1.0, _SIGNAL_SPREAD),
    }


def _windows(values: np.ndarray, covariates: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (T - window, window·p + c), oldest lag first, and targets (T - window, p)."""
    lags = np.lib.stride_tricks.sliding_window_view(values[:-1], window, axis=0)  # [T - window, p, window]
    flat = np.swapaxes(lags, 1, 2).reshape(len(lags), -1)
    return np.column_stack([flat, covariates[window:]]), values[window:]


def _posteriors(
    models: list[ExactModel], past: np.ndarray, covariates: np.ndarray, window: int
) -> list[ExactPosterior]:
    """One for each column, given the latest windows that are known."""
    inputs, targets = _windows(past, covariates, window)
    known = np.flatnonzero(~np.isnan(inputs).any(axis=1))[-_MAX_TO_CONDITION:]
    return [condition(m, ExactRows.of(inputs[known], targets[known, column])) for column, m in enumerate(models)]
