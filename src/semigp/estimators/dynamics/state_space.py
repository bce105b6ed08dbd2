"""StateSpaceGP: series whose outputs are functions of latent states with nonlinear dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...core.numerics import checks
from ...core.numerics.padding import round_up
from ...core.search.report import Callback, FitReport
from ...progress import told, watched
from ...runtime import computing
from ...series import Forecast, Timeline, read_series
from ...series.reading import fill_gaps, in_order
from ..common.all_or_nothing import all_or_nothing
from ..common.notebook import ShownInNotebooks
from ..common.reports import Stopwatch, warn_of
from ..common.saving import Saved
from ..common.sklearn_private import Interval, StrOptions
from ..common.units import Units
from ..forecasting.checks import check_length, read_covariates
from .backtests import backtest
from .kinds import KINDS, Dynamics, Settings

# The default number of inducing points is one for this many steps, up to a round number, but between these two numbers.
# Series of nearly the same length then share one compiled program.
_STEPS_PER_INDUCING, _ROUND, _INDUCING = 10, 5, (15, 40)


class StateSpaceGP(Saved, ShownInNotebooks):
    """A state-space model with Gaussian processes: latent states, their dynamics, and what is measured of them.

        x_t = f(x_{t-1}, u_t) + noise,    y_t = g(x_t) + noise

    Both functions are GPs, with RBF + linear kernels. The posterior of the states is a Gaussian with correlations in
    time. As noise on the measurements is told from noise on the states, the dynamics are learned from states, and not
    from noisy values as in `GPForecaster`. Gaps (NaN) are steps at which nothing was measured, and need no filling in.

    Parameters
    ----------
    n_states : int
        The number of latent states, q.
    dynamics : str
        "markov" is the model above. With "time" the states are smooth functions of time, each with its own
        lengthscale, and there are no inputs: for series with many outputs of which some are missing for a while.
    n_inducing : int, optional
        The number of inducing points of each function. By default about a tenth of the steps, from 15 to 40.
    max_iter : int
        The largest number of iterations of the optimiser.
    callback : callable, optional
        Called with a `Progress` after every iteration. Returning True ends the fit there.
    random_state : int, RandomState or None
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    states_, states_std_ : (T, n_states)
        Mean and standard deviation of the states at every step of the series; lists, if there are several series.
    bound_ : float
        The bound on the log evidence, in standard units, hyperpriors included.
    fit_report_ : FitReport
        Status, message, trace and every stage of the fit.
    n_iter_ : int
        The number of iterations of the optimiser, over all stages.
    series_names_ : list
        The names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import StateSpaceGP
    >>> random = np.random.default_rng(0)
    >>> series = np.sin(np.arange(80) / 4) + 0.1 * random.normal(size=80)
    >>> forecast = StateSpaceGP(n_states=2, random_state=0).fit(series).forecast(10)
    >>> bool(np.abs(forecast.mean - np.sin(np.arange(80, 90) / 4)).max() < 0.3)
    True
    """

    fit_report_: FitReport
    _dynamics: Dynamics
    states_: Any
    states_std_: Any
    _parameter_constraints = {  # noqa: RUF012
        "n_states": [Interval(Integral, 1, None, closed="left")],
        "dynamics": [StrOptions(set(KINDS))],
        "n_inducing": [Interval(Integral, 2, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_states: int = 2,
        *,
        dynamics: str = "markov",
        n_inducing: int | None = None,
        max_iter: int = 300,
        callback: Callback | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_states = n_states
        self.dynamics = dynamics
        self.n_inducing = n_inducing
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    # ---- fitting

    @all_or_nothing
    def fit(self, series: Any, inputs: Any = None, time: str | None = None) -> StateSpaceGP:
        """Learn the dynamics of a series, or of several series that follow the same dynamics.

        Parameters
        ----------
        series : (T,), (T, p), or a Series or DataFrame of pandas or polars, or a list of such
            The values, with NaN in the gaps. Missing times are gaps too.
        inputs : (T, c), or a list of such, optional
            What drives the system, known for every step; the input of a step acts on the state of the same step. NaN
            is filled along a straight line.
        time : str, optional
            The column of frames that holds the times. A column of dates is recognised without it.
        """
        self._validate_params()
        watch = Stopwatch()
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._is_list = _is_several(series)
        values, self._timelines = self._read(series, time)
        # States over time are learned from all series together: one of them may lack a column, or hold it constant.
        if self.dynamics == "time":
            check_length(np.concatenate(values), "auto")
        else:
            for number, one in enumerate(values):
                check_length(one, "auto", f"series {number}" if self._is_list else "series")
        known, self._input_names = self._read_inputs(inputs, [len(one) for one in values], None)
        self._units, self._input_units = Units.of(np.concatenate(values)), Units.of(np.concatenate(known))
        self._series, self._inputs = values, known
        with watched("fit", self.verbose), computing():
            callback = watch.told_to(told(self.callback))
            self._dynamics = KINDS[self.dynamics](
                self._standard(values), self._standard_inputs(known), self._settings(callback)
            )
        return self._keep(watch)

    def _settings(self, callback: Callback | None) -> Settings:
        steps = sum(map(len, self._series))
        n_inducing = self.n_inducing or int(np.clip(round_up(steps // _STEPS_PER_INDUCING, _ROUND), *_INDUCING))
        return Settings(self.n_states, n_inducing, self.max_iter, self._seed, callback)

    def _keep(self, watch: Stopwatch) -> StateSpaceGP:
        self.fit_report_ = watch.noted_in(self._dynamics.report)
        self.bound_, self.n_iter_ = self.fit_report_.bound, len(self.fit_report_.trace)
        self.series_names_ = self._timelines[0].names
        mean, std = map(list, zip(*self._dynamics.states(), strict=True))
        self.states_, self.states_std_ = (mean, std) if self._is_list else (mean[0], std[0])
        # The iteration limit is no failure here: more iterations raise the bound, but seldom improve forecasts.
        warn_of(self.fit_report_, ("failed",))
        return self

    # ---- reading

    def _read(
        self, series: Any, time: str | None = None, names: list | None = None
    ) -> tuple[list[np.ndarray], list[Timeline]]:
        """The values (T, p) and timelines of one series or of several, with columns in the order of `names`.

        By default the names are those of the first series.
        """
        several = list(series) if _is_several(series) else [series]
        read = [read_series(one, time=time) for one in several]
        what = "the given series" if names else "another series"
        names = names or read[0][1].names
        return [in_order(values, timeline, names, what) for values, timeline in read], [line for _, line in read]

    def _read_inputs(self, inputs: Any, lengths: list[int], names: list | None) -> tuple[list[np.ndarray], list]:
        """The inputs (T, c) of every series; `names` are those of the fit, if there was one."""
        several = list(inputs) if self._is_list and inputs is not None else [inputs] * len(lengths)
        if len(several) != len(lengths):
            raise ValueError(f"inputs is a list of {len(several)}; give one array for each of {len(lengths)} series.")
        if names and inputs is None:
            raise ValueError(f"The model was fitted with {len(names)} inputs; give them for the {lengths[0]} steps.")
        read = [read_covariates(one, steps, names, "inputs") for one, steps in zip(several, lengths, strict=True)]
        if any(values.shape[1] != read[0][0].shape[1] for values, _ in read):
            raise ValueError("inputs must have the same columns for every series.")
        return [fill_gaps(values) if values.shape[1] else values for values, _ in read], read[0][1]

    def _standard(self, series: list[np.ndarray]) -> list[np.ndarray]:
        return [self._units.standard(values) for values in series]

    def _standard_inputs(self, inputs: list[np.ndarray]) -> list[np.ndarray] | None:
        return [self._input_units.standard(known) for known in inputs] if len(self._input_units) else None

    # ---- forecasting

    def forecast(self, steps: int, *, inputs: Any = None, n_paths: int = 500, random_state: Any = None) -> Any:
        """Forecast the next `steps` values, by paths of drawn functions from drawn states.

        Parameters
        ----------
        steps : int
            The number of steps to forecast.
        inputs : (steps, c), or a list of such for several series
            The inputs of the steps to come, if the model was fitted with some.
        n_paths : int
            The number of paths.
        random_state : int, RandomState or None
            By default the model's own.

        Returns
        -------
        Forecast, or a list with one for each series
        """
        check_is_fitted(self)
        checks.check_count("steps", steps)
        checks.check_count("n_paths", n_paths)
        known, _ = self._read_inputs(inputs, [steps] * len(self._series), self._input_names)
        standard = self._standard_inputs(known)
        ahead: Sequence[Any] = [None] * len(self._series) if standard is None else standard
        seed = self._seed if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
        with watched("forecast", self.verbose), computing():
            found = [self._one(number, steps, each, n_paths, seed) for number, each in enumerate(ahead)]
        return found if self._is_list else found[0]

    def _one(self, number: int, steps: int, inputs: np.ndarray | None, n_paths: int, seed: int) -> Forecast:
        random = np.random.default_rng([seed, number])
        paths = self._units.natural(self._dynamics.simulate(steps, inputs, n_paths, random, number))
        return Forecast.from_paths(paths, self._timelines[number], self._series[number])

    def impute(self, series: Any = None, inputs: Any = None, return_std: bool = False) -> Any:
        """Series with their gaps filled, and on request the standard deviation of every value, noise included.

        By default the training series. Known values come back as they are, with standard deviation 0. If the series
        was a frame, frames are returned; for several series, lists.
        """
        check_is_fitted(self)
        if series is None:
            values, timelines, standard, known = self._series, self._timelines, None, None
        else:
            values, timelines = self._read(series, names=self.series_names_)
            driving, _ = self._read_inputs(inputs, [len(one) for one in values], self._input_names)
            standard, known = self._standard(values), self._standard_inputs(driving)
        with watched("impute", self.verbose), computing():
            found = self._dynamics.complete(standard, known)
        filled = [self._filled(*each) for each in zip(values, timelines, found, strict=True)]
        means, stds = (list(part) for part in zip(*filled, strict=True))
        is_list = self._is_list if series is None else _is_several(series)
        if not is_list:
            means, stds = means[0], stds[0]
        return (means, stds) if return_std else means

    def _filled(self, values: np.ndarray, timeline: Timeline, found: tuple[np.ndarray, np.ndarray]) -> tuple[Any, Any]:
        is_gap = np.isnan(values)
        mean = np.where(is_gap, self._units.natural(found[0]), values)
        std = np.where(is_gap, np.sqrt(found[1]) * self._units.std, 0.0)
        return timeline.like_the_series(mean), timeline.like_the_series(std)

    def backtest(
        self, series: Any, horizon: int, n_origins: int = 5, *, inputs: Any = None, time: str | None = None,
        season: int = 1,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Scores of forecasts from several origins of one series.

        The model is fitted anew up to each origin; the origins are spread over the second half of the series. There is
        one dictionary for each origin, with the origin and the scores of `Forecast.score`; the mean step over `season`
        is the unit of MASE and of the quantile loss.
        """
        checks.check_count("horizon", horizon)
        checks.check_count("n_origins", n_origins)
        with watched("backtest", self.verbose):
            values, timeline = read_series(series, time=time)
            known, _ = read_covariates(inputs, len(values), None, "inputs")
            return backtest(self, values, known, timeline, horizon, n_origins, season)


def _is_several(series: Any) -> bool:
    """Whether these are several series: a list of arrays or frames. A list of numbers, or of lists, is one series."""
    return isinstance(series, (list, tuple)) and len(series) > 0 and all(hasattr(one, "shape") for one in series) and (
        all(len(one.shape) > 0 for one in series)
    )  # fmt: skip
