"""Forecasts of a series by a GP of its own past, in a free simulation that carries the uncertainty along."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...core.exact.evidence import NOISE_FLOOR
from ...core.exact.gaps import Gaps, infer_gaps
from ...core.exact.rollout import LEAST_NOISE, propagate, sample_paths
from ...core.numerics import checks
from ...core.search.report import Callback, FitReport
from ...progress import steps as in_steps
from ...progress import told, watched
from ...runtime import computing
from ...series import Forecast, Timeline, fill_gaps, in_order, read_next, read_series
from ..common.all_or_nothing import all_or_nothing
from ..common.reports import Stopwatch, warn_of, worst
from ..common.saving import Saved
from ..common.sklearn_private import Interval, StrOptions
from ..common.units import Units
from .dynamics import choose_window, fit_models, has_enough_windows, lag_relevance, posteriors


class GPForecaster(Saved, BaseEstimator):
    """Auto-regression by Gaussian processes: the next value as a function of the last `window` values.

    The kernel is RBF + linear. Each lag has its own lengthscale and slope, under hyperpriors that are wide enough for
    lags to drop out. Each predicted value becomes an input of the next prediction. By default, whole functions are
    drawn from the posterior and each is rolled forward. What is not known about the dynamics then shows in the spread
    of the paths.

    Gaps (NaN) are inferred together with the dynamics, and drawn several times, so that their uncertainty is in the
    forecast as well.

    Parameters
    ----------
    window : int or "auto"
        The number of lags. "auto" compares several by their evidence for the same values, hyperpriors included, less
        one nat per lag.
    n_draws : int
        How often the gaps are drawn, if there are some.
    max_iter : int
        The largest number of iterations of the optimiser.
    callback : callable, optional
        Called with a `Progress` after every iteration of the optimiser; returning True ends the fit there.
    random_state : int, RandomState or None
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    window_ : int
        The number of lags that was used.
    bound_ : float
        The log evidence of the standardised values, hyperpriors included, summed over the columns. These are exact
        GPs, so that the evidence itself takes the place of a bound.
    lag_relevance_, relevance_ : (window_,) or (window_, p)
        How much each lag matters, lag 1 first: the prior variance of the slope along it, relative to the largest.
    n_iter_ : int
        The number of iterations of the longest search.
    series_names_ : list of str
        The names of the columns.
    noise_variance_ : (p,)
        The noise variance of the values, in their own units squared.
    fit_report_ : FitReport
        The report of the column whose fit went worst.

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

    fit_report_: FitReport
    window_: int
    _parameter_constraints = {  # noqa: RUF012
        "window": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        window: int | str = 18,
        *,
        n_draws: int = 10,
        max_iter: int = 1000,
        callback: Callback | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.window = window
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    # ---- fitting

    @all_or_nothing
    def fit(self, series: Any, covariates: Any = None, time: str | None = None) -> GPForecaster:
        """Learn the dynamics of a series.

        Parameters
        ----------
        series : (T,), (T, p), or a Series or DataFrame of pandas or polars
            The values, with NaN in the gaps.
        covariates : (T, c), optional
            What is known in advance for every step, such as the hour of the day.
        time : str, optional
            The column of a frame that holds the times. A column of dates is recognised without it.
        """
        self._validate_params()
        watch = Stopwatch()
        values, timeline = read_series(series, time=time)
        covariates, self._covariate_names = self._check_covariates(covariates, len(values))
        self._check_length(values)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._scale, self._covariate_scale = Units.of(values), Units.of(covariates)
        with watched("fit", self.verbose), computing():
            self._learn(values, covariates, timeline, watch.told_to(told(self.callback)))
        self.fit_report_ = watch.noted_in(self.fit_report_)
        warn_of(self.fit_report_, is_noise_wrong=False)
        return self

    def _check_covariates(
        self, covariates: Any, steps: int, names: list[str] | None = None
    ) -> tuple[np.ndarray, list[str]]:
        """The values and names of the covariates. If `names` is given, the columns of a frame are put in that order."""
        if covariates is None:
            return np.zeros((steps, 0)), []
        covariates, found = read_series(covariates, "covariates")
        if names is not None and covariates.shape[1] == len(names):
            covariates = in_order(covariates, found, names, "covariates")
        if len(covariates) != steps:
            raise ValueError(f"covariates has {len(covariates)} rows; {steps} are needed, one for every step.")
        if np.isnan(covariates).any():
            raise ValueError("covariates holds NaN; give only covariates that are known at every step.")
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
        least = 3 if isinstance(self.window, str) else self.window + 2
        if len(values) < least:
            raise ValueError(f"series has {len(values)} steps; a window of {self.window} needs {least} or more.")
        if known.min() < 3:
            raise ValueError(f"series has {known.min()} known values in column {int(np.argmin(known))}; 3 are needed.")

    def _learn(self, values: np.ndarray, covariates: np.ndarray, timeline: Timeline, callback: Callback | None) -> None:
        standard, extra = self._scale.standard(values), self._covariate_scale.standard(covariates)
        self.window_, models, reports = self._fit_models(standard, extra, callback)
        self._models = models
        self._remember(values, covariates, timeline)
        self.fit_report_ = worst(reports)
        self.bound_ = sum(report.bound for report in reports)
        self.n_iter_ = max(len(report.trace) for report in reports)
        relevance = lag_relevance(models, self.window_)
        self.lag_relevance_ = self.relevance_ = relevance[:, 0] if timeline.is_flat else relevance
        self.noise_variance_ = np.array([m.noise_variance + NOISE_FLOOR for m in models]) * self._scale.std**2

    def _fit_models(self, standard: np.ndarray, extra: np.ndarray, callback: Callback | None) -> tuple[int, Any, Any]:
        """The window, and the fitted models with their reports. After an interrupt, they are the latest there are."""
        filled, how = fill_gaps(standard), (self.max_iter, callback)
        window: Any = self.window
        starts: list = []
        if isinstance(window, str):
            window, starts, reports = choose_window(filled, extra, *how)
            if worst(reports).status == "interrupted":
                return window, starts, reports
        # The first fit uses the windows without gaps, if there are enough of them. The second uses all windows, with
        # the gaps filled by a draw: their means would fit too well, and the noise would be underestimated.
        is_enough = has_enough_windows(standard, extra, window)
        models, reports = fit_models(standard if is_enough else filled, extra, window, *how, starts)
        if np.isnan(standard).any() and worst(reports).status != "interrupted":
            gaps = infer_gaps(standard, filled, models, window, extra)
            drawn = gaps.filled(standard, gaps.draws(1, self._seed)[0])
            models, reports = fit_models(drawn, extra, window, *how)
        return window, models, reports

    def _remember(self, values: np.ndarray, covariates: np.ndarray, timeline: Timeline) -> None:
        """Keep what a forecast needs from the series: draws of the gaps, posteriors, and the last windows."""
        self._values, self._covariates, self._timeline = values, covariates, timeline
        self.series_names_ = timeline.names
        standard, extra = self._scale.standard(values), self._covariate_scale.standard(covariates)
        self._gaps: Gaps | None = None
        pasts = [standard]
        if np.isnan(standard).any():
            self._gaps = infer_gaps(standard, fill_gaps(standard), self._models, self.window_, extra)
            pasts = [self._gaps.filled(standard, z) for z in self._gaps.draws(self.n_draws, self._seed)]
        self._components = [posteriors(self._models, past, extra, self.window_) for past in pasts]
        self._last = np.stack([past[-self.window_ :] for past in pasts])

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
        """Forecast the next `steps` values.

        Parameters
        ----------
        steps : int
            The number of steps to forecast.
        propagation : {"sample", "full", "diagonal", "none"}
            How uncertainty is carried from step to step. "sample" draws functions from the posterior and rolls each
            forward. "full" matches moments, with the full covariance of the window (between columns, its linear part).
            "diagonal" matches moments with the diagonal of the covariance, as in the paper. "none" carries no
            uncertainty along.
        n_paths : int
            The number of paths, if `propagation` is "sample".
        covariates : (steps, c)
            The covariates of the steps to come, if the model was fitted with some.
        random_state : int, RandomState or None
            By default the forecaster's own.
        """
        check_is_fitted(self)
        checks.check_count("steps", steps)
        checks.check_count("n_paths", n_paths)
        if propagation not in ("sample", "full", "diagonal", "none"):
            raise ValueError(f'propagation is "sample", "full", "diagonal" or "none"; got {propagation!r}.')
        extra = self._covariate_scale.standard(self._future_covariates(covariates, steps))
        with watched("forecast", self.verbose), computing():
            if propagation == "sample":
                return self._sampled(steps, extra, n_paths, random_state)
            return self._matched(propagation, extra)

    def _future_covariates(self, covariates: Any, steps: int) -> np.ndarray:
        count = self._covariates.shape[1]
        if covariates is None and count:
            raise ValueError(f"The model was fitted with {count} covariates; give them for the next {steps} steps.")
        future, _ = self._check_covariates(covariates, steps, self._covariate_names)
        if future.shape[1] != count:
            raise ValueError(f"covariates has {future.shape[1]} columns; the model was fitted with {count}.")
        return future

    def _sampled(self, steps: int, extra: np.ndarray, n_paths: int, random_state: Any) -> Forecast:
        seed = self._seed if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
        standard = self._scale.standard(self._values)
        low, high = np.nanmin(standard, axis=0), np.nanmax(standard, axis=0)
        bounds = low - (high - low), high + (high - low)
        known = self._components, self._last
        paths, ran_out = sample_paths(seed, *known, extra, bounds, n_paths, in_steps)
        if ran_out.mean() > 0.05:
            warnings.warn(
                f"{ran_out.mean():.0%} of the paths ran away and were held at limits: below the series' minimum, or "
                "above its maximum, by the difference of the two. The dynamics are hardly known there. Try another "
                "window, or a longer series.",
                stacklevel=3,
            )
        return Forecast.from_paths(self._scale.natural(paths), self._timeline, self._values, int(ran_out.sum()))

    def _matched(self, propagation: str, extra: np.ndarray) -> Forecast:
        """Forecast by moment matching, with the gaps filled by their means."""
        past = self._scale.standard(self._values)
        if self._gaps is not None:
            past = self._gaps.filled(past)
        models = self._models
        if propagation != "none":
            models = [replace(m, noise_variance=max(float(m.noise_variance), LEAST_NOISE)) for m in models]
        own = self._covariate_scale.standard(self._covariates)
        matched = [posterior.padded() for posterior in posteriors(models, past, own, self.window_)]
        noise = np.array([m.noise_variance + NOISE_FLOOR for m in self._models])
        mean, variance = propagate(propagation, matched, noise, past[-self.window_ :], extra)
        low, high = np.nanmin(past, axis=0), np.nanmax(past, axis=0)
        mean, std = np.clip(mean, 2 * low - high, 2 * high - low), np.minimum(np.sqrt(variance), 3 * (high - low))
        natural = self._scale.natural(mean), std * self._scale.std
        return Forecast.from_moments(*natural, self._timeline, self._values)

    @all_or_nothing
    def update(self, values: Any, covariates: Any = None) -> GPForecaster:
        """Append new values to the series, without another fit. Forecasts then start after them.

        The columns of a frame are matched by their names. Its times, if it has some, must follow those of the series.
        """
        check_is_fitted(self)
        new = read_next(values, self._timeline)
        extra = self._future_covariates(covariates, len(new))
        joined = np.concatenate([self._values, new]), np.concatenate([self._covariates, extra])
        with watched("update", self.verbose), computing():
            self._remember(*joined, self._timeline.extended(len(new)))
        return self

    def impute(self, return_std: bool = False) -> Any:
        """The series with its gaps filled, and on request the standard deviation of every value.

        If the series was a frame, frames are returned.
        """
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
        """Scores of forecasts from several origins.

        The model is fitted up to the first origin, and updated for the others. The origins are spread over the second
        half of the series. Covariates are not used. There is one dictionary for each origin, with the origin and the
        scores of `Forecast.score`.
        """
        checks.check_count("horizon", horizon)
        checks.check_count("n_origins", n_origins)
        values, timeline = read_series(series)
        last, first = len(values) - horizon, len(values) // 2
        if last < first:
            raise ValueError(f"A horizon of {horizon} leaves no room in the second half of {len(values)} steps.")
        origins = np.unique(np.linspace(first, last, n_origins).astype(int))
        flat = values[:, 0] if timeline.is_flat else values
        found = []
        with watched("backtest", self.verbose):
            model = clone(self).fit(flat[: origins[0]])
            for i, origin in enumerate(in_steps(origins, "forecasts")):
                if i:
                    model.update(flat[origins[i - 1] : origin])
                truth = flat[origin : origin + horizon]
                found.append({"origin": int(origin), **model.forecast(horizon, propagation).score(truth)})
        return found
