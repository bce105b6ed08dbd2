"""`GPForecaster` as a forecaster of sktime."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

try:
    import pandas as pd
    from sktime.forecasting.base import BaseForecaster, ForecastingHorizon
except ModuleNotFoundError as error:
    raise ModuleNotFoundError('SktimeGPForecaster needs sktime: pip install "semigp[sktime]".') from error

from ..estimators import GPForecaster
from ..series.forecast import Forecast


class SktimeGPForecaster(BaseForecaster):
    """Gaussian processes of the past and of time, for sktime: `semigp.GPForecaster` with `fit`, `predict` and `update`.

    NaN in y is a gap, which is inferred together with the dynamics. Seasons and trends are found. Several columns are
    forecast jointly, each from the past of all columns. X are covariates known in advance. A forecast passes through
    every step up to the last one in fh, so `predict` needs all of these steps in X, even if fh leaves some out.

    `update` conditions on the values after the end of the series so far; steps that are left out count as gaps. It
    keeps the hyperparameters, whatever `update_params` is. To fit again, use sktime's `UpdateRefitsEvery`.

    Parameters
    ----------
    window : int or "auto"
        Number of lags. "auto" compares several by the likelihood of the same values.
    season : "auto", int, sequence of int or None
        Lengths of seasons in steps. "auto" finds them, None means that there are none.
    trend : "auto", "increments", "time" or None
        "auto" mixes functions of the past, of its increments and of time. None keeps the function of the past, which
        comes back to where the series has been.
    covariate_lags : int
        Number of earlier values of every column of X that are seen, beside that of the step itself.
    positive : "auto" or bool
        Whether values cannot be negative. "auto" means that none of y is.
    n_draws : int
        Number of draws of the gaps, if there are any.
    max_iter : int
        Maximal number of iterations of the optimiser.
    random_state : int, RandomState or None
    n_paths : int
        Number of simulated futures, from which means, variances and quantiles are computed.

    Attributes
    ----------
    forecaster_ : GPForecaster
        The fitted forecaster.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from semigp.adapters.sktime import SktimeGPForecaster
    >>> days = pd.date_range("2024-01-01", periods=60, freq="D")
    >>> y = pd.Series(np.sin(np.arange(60) / 3), index=days)
    >>> forecaster = SktimeGPForecaster(window=4, random_state=0, n_paths=50).fit(y)
    >>> bool(np.abs(forecaster.predict(fh=[1, 5]) - np.sin([20, 64 / 3])).max() < 0.1)
    True
    >>> forecaster.predict_interval(fh=[1, 5], coverage=0.9).shape
    (2, 2)
    """

    _tags = {  # noqa: RUF012
        "authors": ["the semigp developers"],
        "maintainers": ["the semigp developers"],
        "python_dependencies": "semigp",
        "y_inner_mtype": "pd.DataFrame",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": True,
        "capability:exogenous": True,
        "capability:categorical_in_X": False,
        "capability:non_contiguous_X": False,
        "capability:missing_values": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:update": True,
        "capability:random_state": True,
        "property:randomness": "derandomized",
        "requires-fh-in-fit": False,
    }
    # The adapter keeps the series itself. sktime will stop doing so in 1.3, and warns where it still does.
    _config = {"remember_data": False}  # noqa: RUF012

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
        random_state: Any = None,
        n_paths: int = 500,
    ) -> None:
        self.window = window
        self.season = season
        self.trend = trend
        self.covariate_lags = covariate_lags
        self.positive = positive
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_paths = n_paths
        super().__init__()
        # sktime looks for these if a caller switches remember_data on later.
        self._y = self._X = None

    # ---- fitting

    def _fit(self, y: pd.DataFrame, X: pd.DataFrame | None, fh: ForecastingHorizon | None) -> SktimeGPForecaster:
        _check_unit_steps(y.index)
        self._covariate_names = None if X is None else X.columns
        forecaster = GPForecaster(
            self.window,
            season=self.season,
            trend=self.trend,
            covariate_lags=self.covariate_lags,
            positive=self.positive,
            n_draws=self.n_draws,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        self.forecaster_ = forecaster.fit(y, self._covariates(X, y.index))
        # sktime can move its cutoff back, but the forecaster always continues from its own end.
        self._end, self._seen = self.cutoff, y
        return self

    def _update(self, y: pd.DataFrame, X: pd.DataFrame | None = None, update_params: bool = True) -> SktimeGPForecaster:
        names = self._seen.columns
        if set(y.columns) == set(names) and list(y.columns) != list(names):
            raise ValueError(f"y has its columns in another order than in fit: {list(y.columns)}, not {list(names)}.")
        # The windows of sktime's splitters overlap, so some of y may have been seen before.
        is_new = y.index > self._end[0]
        if _differ(y[~is_new], self._seen):
            warnings.warn(
                "y changes values that were seen before; update continues from the end and leaves them unchanged. "
                "Call fit again to use the new ones.",
                stacklevel=3,
            )
        if not is_new.any():
            return self
        times = self._times_until(y.index[is_new])
        new = y.reindex(times)
        self.forecaster_.update(new.to_numpy(), self._covariates(X, times))
        last = times[-1:]
        if isinstance(last, pd.DatetimeIndex):
            last = pd.DatetimeIndex(last, freq=self._end.freq)  # with time zones, sktime loses the frequency
        self._end, self._seen = last, pd.concat([self._seen, new.set_axis(names, axis=1)])
        return self

    def _times_after(self, steps: int) -> pd.Index:
        return ForecastingHorizon(np.arange(1, steps + 1)).to_absolute_index(self._end)

    def _times_until(self, wanted: pd.Index) -> pd.Index:
        """All times from the end of the series to the last wanted time."""
        steps = len(wanted)
        while (times := self._times_after(steps))[-1] < wanted[-1]:
            steps *= 2  # times are missing between the end and the new values, or among the new values
        astray = wanted[~wanted.isin(times)]
        if len(astray):
            raise ValueError(f"y has times that are not on the grid of the series so far, such as {astray[0]}.")
        return times[times <= wanted[-1]]

    def _covariates(self, X: pd.DataFrame | None, times: pd.Index) -> np.ndarray | None:
        """X at these times, with its columns in the order of the fit."""
        if X is None:
            return None  # if covariates are needed, `GPForecaster` raises an error
        if self._covariate_names is None:
            raise ValueError("The forecaster was fitted without X; leave X out here, or fit again with X.")
        for what, needed, given in ("columns", self._covariate_names, X.columns), ("times", times, X.index):
            if not needed.isin(given).all():
                raise ValueError(f"X is missing {what} that are needed: {list(needed[~needed.isin(given)])}.")
        return X.loc[times, self._covariate_names].to_numpy()

    # ---- forecasting

    def _forecast(self, fh: ForecastingHorizon, X: pd.DataFrame | None) -> tuple[Forecast, np.ndarray]:
        """A forecast of every step up to the last one in fh, and which of its rows are in fh."""
        if self.cutoff[0] != self._end[0]:
            raise NotImplementedError(
                f"{type(self).__name__} can not perform in-sample prediction: it has seen values until {self._end[0]}, "
                f"but the forecast should start from {self.cutoff[0]}."
            )
        ahead = np.asarray(fh.to_relative(self._end).to_numpy(), dtype=int)
        steps = int(ahead.max())
        covariates = self._covariates(X, self._times_after(steps))
        # The seed is drawn once, in fit, so that means and quantiles come from the same paths.
        return self.forecaster_.forecast(steps, n_paths=self.n_paths, covariates=covariates), ahead - 1

    def _framed(self, values: np.ndarray, fh: ForecastingHorizon, columns: Any) -> pd.DataFrame:
        return pd.DataFrame(values.reshape(len(values), -1), index=fh.to_absolute_index(self._end), columns=columns)

    def _predict(self, fh: ForecastingHorizon, X: pd.DataFrame | None) -> pd.DataFrame:
        forecast, rows = self._forecast(fh, X)
        return self._framed(forecast.mean[rows], fh, self._get_columns("predict"))

    def _predict_var(self, fh: ForecastingHorizon, X: pd.DataFrame | None = None, cov: bool = False) -> pd.DataFrame:
        forecast, rows = self._forecast(fh, X)
        return self._framed(forecast.std[rows] ** 2, fh, self._get_columns("predict_var"))

    def _predict_quantiles(self, fh: ForecastingHorizon, X: pd.DataFrame | None, alpha: list[float]) -> pd.DataFrame:
        forecast, rows = self._forecast(fh, X)
        quantiles = np.moveaxis(forecast.quantile(alpha)[:, rows], 0, -1)  # [step, column, level]
        return self._framed(quantiles, fh, self._get_columns("predict_quantiles", alpha=alpha))

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Parameters for sktime's checks, small enough for hundreds of fits."""
        small = {"window": 2, "n_draws": 2, "max_iter": 20, "random_state": 0, "n_paths": 20}
        return [{**small, "season": None, "trend": None}, {**small, "max_iter": 5}]


def _differ(values: pd.DataFrame, seen: pd.DataFrame) -> bool:
    before = seen.reindex(values.index).to_numpy()
    return not np.array_equal(values.to_numpy(dtype=float), before.astype(float), equal_nan=True)


def _check_unit_steps(index: pd.Index) -> None:
    """Refuse an index such as 0, 2, 4, …: the step after 4 is 5 for sktime, but 6 for `GPForecaster`."""
    if pd.api.types.is_integer_dtype(index.dtype) and len(index) > 1 and index[1] - index[0] != 1:
        raise ValueError(
            f"y is indexed in steps of {index[1] - index[0]}, but sktime counts in steps of 1. Renumber its index."
        )
