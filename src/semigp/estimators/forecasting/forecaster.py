"""Forecasts of series that may have gaps, by a mixture of Gaussian processes of their past and of time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...core.exact.evidence import NOISE_FLOOR
from ...core.numerics import checks
from ...core.search.report import Callback, FitReport
from ...progress import told, watched
from ...runtime import computing
from ...series import Forecast, Panel, PanelForecast, read_next, read_series
from ..common.all_or_nothing import all_or_nothing
from ..common.notebook import ShownInNotebooks
from ..common.reports import Stopwatch, warn_of, worst
from ..common.saving import Saved
from ..common.sklearn_private import Interval, StrOptions
from .backtests import backtest
from .checks import check_length, check_season, read_covariates, read_scenarios
from .dynamics import lag_relevance
from .learning import Settings, learn
from .panels import extend_panel, learn_panel, read_whole_panel
from .series_model import SeriesModel


class GPForecaster(Saved, ShownInNotebooks):
    """Forecasts by Gaussian processes: the next value as a function of the last values, and of time.

    Four priors take part. The first is a function of the values at some lags, with an RBF + linear kernel: each lag has
    its own lengthscale and slope, under hyperpriors that are wide enough for lags to drop out. The second is linear in
    the last increments, around a random walk. The third and the fourth are functions of time: a line, a slope that
    changes, a level that wanders, seasons and noise; one is learned from all values, one from the latest. A forecast
    mixes paths of all, with weights for which earlier forecasts of this series would have been best. A system that is
    driven by covariates, and remembers them, has a prior of its own: see `covariate_lags`.

    Paths carry all that is not known: functions are drawn from the posterior and each is rolled forward. Gaps (NaN) are
    inferred together with the parameters, and drawn several times.

    Parameters
    ----------
    window : int or "auto"
        The number of lags. "auto" compares several by their evidence for the same values, hyperpriors included, less
        one nat per lag. A driven system (`covariate_lags`) has several windows; this one is then 10, and is used for
        its gaps and for moments.
    season : "auto", int, sequence of int or None
        The lengths of seasons in steps. "auto" takes those of the calendar (if the series has dates) or of any length
        that the series shows clearly. With a calendar, the hour of the day, the day of the week and the time of the
        year are seen too. None means that there are none.
    trend : "auto", "increments", "time" or None
        "auto" mixes all priors. None keeps only the function of the past, which comes back to where the series has
        been; with `season=None` this is the model of the paper. "increments" and "time" keep only these priors.
    covariate_lags : int
        The largest lag of the covariates. If it is above 0, the series is a system that is driven by its covariates: a
        forecast mixes functions of earlier values and of covariates at several lags, chosen by how well each simulates
        parts of the series that were held back. This needs 60 values, and `trend="auto"`; otherwise the covariates at
        all lags are seen by all priors. 20 is a good choice for most systems.
    positive : "auto" or bool
        Whether values cannot be negative. "auto" means that none of the series is. Such series are learned as
        logarithms if these are clearly more likely.
    n_draws : int
        How often the gaps are drawn, if there are some.
    max_iter : int
        The largest number of iterations of the optimiser.
    n_jobs : int or None
        The number of processes for a panel; -1 means all cores.
    callback : callable, optional
        Called with a `Progress` after every iteration of the optimiser; returning True ends the fit there. Not with
        several processes.
    random_state : int, RandomState or None
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    window_ : int
        The number of consecutive lags that was used.
    lags_ : (k,)
        All lags that were used, those of seasons included.
    seasons_ : tuple of float
        The seasons that were found or given.
    weights_ : dict
        The share of each prior in the paths of a forecast. For a panel a list, with one for each series.
    bound_ : float
        The log evidence of the function of the past, in standard units, hyperpriors included, summed over the columns.
        These are exact GPs, so that the evidence itself takes the place of a bound.
    lag_relevance_, relevance_ : (k,) or (k, p)
        How much each lag matters: the prior variance of the slope along it, relative to the largest.
    n_iter_ : int
        The number of iterations of the longest search.
    series_names_ : list
        The names of the columns, or of the series of a panel.
    noise_variance_ : (p,)
        The noise variance of the values, in their own units squared.
    fit_report_ : FitReport
        The report of the column whose fit went worst.

    Attributes that describe one series are those of the first if there is a panel.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import GPForecaster
    >>> series = np.sin(np.arange(60) / 3)
    >>> forecast = GPForecaster(window=4, random_state=0).fit(series).forecast(10)
    >>> bool(np.abs(forecast.mean - np.sin(np.arange(60, 70) / 3)).max() < 0.1)
    True
    """

    fit_report_: FitReport
    window_: int
    _models: list[SeriesModel]
    _panel: Panel | None
    _parameter_constraints = {  # noqa: RUF012
        "window": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "season": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), "array-like", None],
        "trend": [StrOptions({"auto", "increments", "time"}), None],
        "covariate_lags": [Interval(Integral, 0, None, closed="left")],
        "positive": [StrOptions({"auto"}), "boolean"],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        window: int | str = "auto",
        *,
        season: Any = "auto",
        trend: str | None = "auto",
        covariate_lags: int = 0,
        positive: bool | str = "auto",
        n_draws: int = 10,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.window = window
        self.season = season
        self.trend = trend
        self.covariate_lags = covariate_lags
        self.positive = positive
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    # ---- fitting

    @all_or_nothing
    def fit(
        self,
        series: Any,
        covariates: Any = None,
        time: str | None = None,
        *,
        id: str | None = None,  # noqa: A002
        value: str | None = None,
    ) -> GPForecaster:
        """Learn a series, or a panel of series.

        Parameters
        ----------
        series : (T,), (T, p), or a Series or DataFrame of pandas or polars
            The values, with NaN in the gaps. Missing times are gaps too. For a panel, a frame with a row for each
            series and time.
        covariates : (T, c), optional
            What is known in advance for every step, such as a price. NaN is filled along a straight line. For a panel,
            the names of columns of the frame.
        time : str, optional
            The column of a frame that holds the times. A column of dates is recognised without it, except in a panel.
        id, value : str, optional
            The columns of a panel that hold the names of the series and their values.
        """
        self._validate_params()
        check_season(self.season)
        watch = Stopwatch()
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if id is not None:
            return self._fit_panel(series, covariates, time, id, value, watch)
        values, timeline = read_series(series, time=time)
        known, self._covariate_names = read_covariates(covariates, len(values))
        check_length(values, self.window)
        with watched("fit", self.verbose), computing():
            callback = watch.told_to(told(self.callback))
            model, reports = learn(values, known, timeline, self._settings(), callback)
        self._panel = None
        return self._keep([model], reports, timeline.names, watch)

    def _fit_panel(self, frame: Any, covariates: Any, time: Any, id: str, value: Any, watch: Stopwatch):  # noqa: A002
        panel, self._covariate_names = read_whole_panel(frame, covariates, time, id, value)
        for name, values in zip(panel.names, panel.series, strict=True):
            check_length(values, self.window, f"series {name!r}")
        with watched("fit", self.verbose), computing():
            callback = watch.told_to(told(self.callback))
            models, reports = learn_panel(panel, self._settings(), self.n_jobs, callback)
        self._panel = panel
        return self._keep(models, reports, panel.names, watch)

    def _settings(self) -> Settings:
        asked = self.window, self.season, self.trend, self.positive, self.covariate_lags
        return Settings(*asked, self.n_draws, self.max_iter, self._seed)

    def _keep(self, models: list[SeriesModel], reports: list[FitReport], names: list, watch: Stopwatch) -> GPForecaster:
        self._models, first = models, models[0]
        self.series_names_, self.window_, self.seasons_ = names, first.window, first.seasons
        self.lags_ = first.past.lags[::-1].copy()
        weights = [dict(zip(model.priors, model.weights.tolist(), strict=True)) for model in models]
        self.weights_ = weights[0] if self._panel is None else weights
        self.bound_ = sum(report.bound for report in reports)
        self.n_iter_ = max(len(report.trace) for report in reports)
        relevance = lag_relevance(first.past.models, first.past.lags)
        self.lag_relevance_ = self.relevance_ = relevance[:, 0] if first.timeline.is_flat else relevance
        noise = np.array([model.noise_variance + NOISE_FLOOR for model in first.past.models])
        self.noise_variance_ = noise * first.scale.spread(first.values) ** 2
        self.fit_report_ = watch.noted_in(worst(reports))
        warn_of(self.fit_report_, is_noise_wrong=False)
        return self

    # ---- forecasting

    def forecast(
        self,
        steps: int,
        propagation: str = "sample",
        *,
        n_paths: int = 500,
        covariates: Any = None,
        random_state: Any = None,
    ) -> Any:
        """Forecast the next `steps` values.

        Parameters
        ----------
        steps : int
            The number of steps to forecast.
        propagation : {"sample", "full", "diagonal", "none"}
            How uncertainty is carried from step to step. "sample" mixes paths of all priors. The others use only the
            function of the past. "full" matches moments, with the full covariance of the window (between columns, its
            linear part). "diagonal" matches moments with the diagonal of the covariance, as in the paper. "none"
            carries no uncertainty along.
        n_paths : int
            The number of paths, if `propagation` is "sample".
        covariates : (steps, c), or a dictionary
            The covariates of the steps to come, if the model was fitted with some. For a panel, a frame with the
            columns of the fit. A dictionary holds several scenarios, and gives a dictionary of forecasts: they use the
            same random numbers, so that their differences are due to the covariates.
        random_state : int, RandomState or None
            By default the forecaster's own.

        Returns
        -------
        Forecast, or PanelForecast for a panel
        """
        check_is_fitted(self)
        checks.check_count("steps", steps)
        checks.check_count("n_paths", n_paths)
        if propagation not in ("sample", "full", "diagonal", "none"):
            raise ValueError(f'propagation is "sample", "full", "diagonal" or "none"; got {propagation!r}.')
        seed = self._seed if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
        with watched("forecast", self.verbose), computing():
            if isinstance(covariates, Mapping):
                some = read_scenarios(covariates)
                return {name: self._forecast(steps, propagation, n_paths, each, seed) for name, each in some.items()}
            return self._forecast(steps, propagation, n_paths, covariates, seed)

    def _forecast(self, steps: int, propagation: str, n_paths: int, covariates: Any, seed: int) -> Any:
        known = self._future(covariates, steps)
        found = [
            self._one(model, propagation, ahead, n_paths, seed)
            for model, ahead in zip(self._models, known, strict=True)
        ]
        return found[0] if self._panel is None else PanelForecast(self._panel, found)

    def _future(self, covariates: Any, steps: int) -> Sequence[np.ndarray]:
        """The covariates of the steps to come, for each series."""
        names = self._covariate_names
        if covariates is None and names:
            raise ValueError(
                f"The model was fitted with {len(names)} covariates; give them for the next {steps} steps."
            )
        if self._panel is None:
            ahead, _ = read_covariates(covariates, steps, names)
            return [ahead]
        return self._panel.ahead(covariates, names, steps)

    def _one(self, model: SeriesModel, propagation: str, ahead: np.ndarray, n_paths: int, seed: int) -> Forecast:
        if propagation != "sample":
            return Forecast.from_moments(*model.matched(propagation, ahead), model.timeline, model.values)
        paths, ran_out = model.paths(ahead, n_paths, seed)
        if ran_out.mean() > 0.05:
            warnings.warn(
                f"{ran_out.mean():.0%} of the paths ran away and were held at limits: below the series' minimum, or "
                "above its maximum, by the difference of the two. The dynamics are hardly known there. Try another "
                "window, or a longer series.",
                stacklevel=4,
            )
        return Forecast.from_paths(paths, model.timeline, model.values, int(ran_out.sum()))

    # ---- going on

    @all_or_nothing
    def update(self, values: Any, covariates: Any = None) -> GPForecaster:
        """Append new values to the series, without another fit. Forecasts then start after them.

        The columns of a frame are matched by their names. Its times, if it has some, must follow those of the series.
        A panel takes a frame with the columns of the fit, which may leave some of the series out.
        """
        check_is_fitted(self)
        settings = self._settings()
        with watched("update", self.verbose), computing():
            if self._panel is not None:
                more = values, self._covariate_names, settings
                self._panel, self._models = extend_panel(self._panel, self._models, *more)
                return self
            model = self._models[0]
            new = read_next(values, model.timeline)
            (extra,) = self._future(covariates, len(new))
            self._models = [model.extended(new, extra, model.timeline.extended(len(new)), settings)]
        return self

    def impute(self, return_std: bool = False) -> Any:
        """The series with its gaps filled, and on request the standard deviation of every value.

        If the series was a frame, frames are returned; for a panel a long one, with a column of standard deviations on
        request.
        """
        check_is_fitted(self)
        if self._panel is not None:
            parts = [model.filled() for model in self._models]
            columns = [
                {self._panel.value_name: mean[:, 0], **({"std": std[:, 0]} if return_std else {})}
                for mean, std in parts
            ]
            return self._panel.frame(columns, is_future=False)
        model = self._models[0]
        found = tuple(model.timeline.like_the_series(part) for part in model.filled())
        return found if return_std else found[0]

    def backtest(
        self,
        series: Any,
        horizon: int,
        n_origins: int = 10,
        propagation: str = "sample",
        *,
        covariates: Any = None,
        time: str | None = None,
        id: str | None = None,  # noqa: A002
        value: str | None = None,
        season: int = 1,
    ) -> Any:
        """Scores of forecasts from several origins.

        The model is fitted up to the first origin, and updated for the others. The origins are spread over the second
        half of each series. There is one dictionary for each origin, with the origin and the scores of
        `Forecast.score`; the mean step over `season` is the unit of MASE and of the quantile loss. For a panel there is
        one frame, with a row for each series and origin.
        """
        checks.check_count("horizon", horizon)
        checks.check_count("n_origins", n_origins)
        with watched("backtest", self.verbose):
            if id is None:
                values, timeline = read_series(series, time=time)
                known, _ = read_covariates(covariates, len(values))
                return backtest(self, values, known, timeline, horizon, n_origins, propagation, season)
            panel, _ = read_whole_panel(series, covariates, time, id, value)
            rows = []
            parts = panel.names, panel.series, panel.covariates, panel.timelines
            for name, values, known, timeline in zip(*parts, strict=True):
                found = backtest(self, values, known, timeline, horizon, n_origins, propagation, season)
                rows += [{panel.id_name: name, **row} for row in found]
        return panel.rows(rows)
