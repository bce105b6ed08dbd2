"""The adapter for sktime: its own battery of checks, and that nothing is lost or shifted on the way."""

import numpy as np
import pytest

pytest.importorskip("sktime")

import pandas as pd
from sktime.utils.estimator_checks import check_estimator

from semigp import GPForecaster
from semigp.adapters.sktime import SktimeGPForecaster

PARAMETERS = {"window": 2, "season": [12], "trend": "auto", "covariate_lags": 1, "n_draws": 2, "random_state": 0}
N_PATHS, STEPS = 20, 5
HORIZON = [2, 5]
ROWS = np.array(HORIZON) - 1


@pytest.fixture(scope="module")
def series() -> pd.Series:
    """Monthly, as months have no constant length; with a gap."""
    noise = 0.05 * np.random.default_rng(0).normal(size=40)
    months = pd.date_range("2020-01-01", periods=40, freq="MS")
    series = pd.Series(np.sin(np.arange(40) / 3) + noise, index=months, name="level")
    series.iloc[12:15] = np.nan
    return series


@pytest.fixture(scope="module")
def covariates() -> pd.DataFrame:
    months = pd.date_range("2020-01-01", periods=50, freq="MS")
    return pd.DataFrame({"a": np.cos(np.arange(50.0)), "b": np.arange(50.0) % 3}, index=months)


def adapter() -> SktimeGPForecaster:
    return SktimeGPForecaster(**PARAMETERS, n_paths=N_PATHS)


def direct() -> GPForecaster:
    return GPForecaster(**PARAMETERS)


def test_parameters_are_those_of_the_forecaster():
    """All but those that concern panels and terminals, with the same defaults."""
    others = {"callback", "n_jobs", "verbose"}
    expected = {name: value for name, value in GPForecaster().get_params().items() if name not in others}
    assert SktimeGPForecaster().get_params() == {**expected, "n_paths": 500}
    given = {"season": 4, "trend": None, "positive": True, "covariate_lags": 2, "max_iter": 7}
    y = pd.Series(np.sin(np.arange(30.0)) + 2.0)
    fitted = SktimeGPForecaster(2, **given, n_paths=5).fit(y, pd.DataFrame({"x": np.cos(np.arange(30.0))}))
    found = fitted.forecaster_.get_params()
    assert {name: found[name] for name in given} == given


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # a few iterations are not enough, and say so
def test_check():
    results = check_estimator(SktimeGPForecaster, raise_exceptions=True, verbose=False)
    assert len(results) >= 500  # a guard: the battery does not shrink unseen


def test_forecasts_are_those_of_the_forecaster(series):
    expected = direct().fit(series).forecast(STEPS, n_paths=N_PATHS)
    fitted = adapter().fit(series)
    mean = fitted.predict(fh=HORIZON)
    variance = fitted.predict_var(fh=HORIZON)
    quantiles = fitted.predict_quantiles(fh=HORIZON, alpha=[0.9, 0.1])
    interval = fitted.predict_interval(fh=HORIZON, coverage=0.8)

    whole = pd.Series(expected.mean, expected.index, name="level")
    pd.testing.assert_series_equal(mean, whole.iloc[ROWS], check_freq=False, check_exact=True)
    np.testing.assert_array_equal(variance["level"], expected.std[ROWS] ** 2)
    np.testing.assert_array_equal(quantiles["level"], expected.quantile([0.9, 0.1])[:, ROWS].T)
    np.testing.assert_allclose(interval["level"], expected.quantile([0.1, 0.9])[:, ROWS].T, rtol=1e-12)
    assert list(quantiles.columns) == [("level", 0.9), ("level", 0.1)]
    assert interval.index.equals(mean.index)
    # The same horizon, said by its dates.
    pd.testing.assert_series_equal(fitted.predict(fh=mean.index), mean)


def test_columns_are_not_mixed_up(series):
    pair = pd.DataFrame({"low": series, "high": 100 + 2 * series**2})
    expected = direct().fit(pair).forecast(STEPS, n_paths=N_PATHS)
    fitted = adapter().fit(pair)
    quantiles = fitted.predict_quantiles(fh=HORIZON, alpha=[0.1, 0.9])
    for column, name in enumerate(pair):
        np.testing.assert_array_equal(quantiles[name], expected.quantile([0.1, 0.9])[:, ROWS, column].T)
    with pytest.raises(ValueError, match="another order"):
        fitted.update(pair[["high", "low"]])


def test_update_goes_on_from_the_end(series):
    """Overlapping windows, and a hole before the new values: as if these had been NaN."""
    early = series.iloc[:30]
    expected = direct().fit(early).update(series.iloc[30:].where(np.arange(10) >= 4)).forecast(STEPS, n_paths=N_PATHS)
    fitted = adapter().fit(early)
    fitted.update(series.iloc[25:30], update_params=False)
    fitted.update(series.iloc[34:], update_params=False)
    mean = fitted.predict(fh=HORIZON)
    np.testing.assert_array_equal(mean, expected.mean[ROWS])
    assert mean.index[0] == pd.Timestamp("2023-06-01")

    with pytest.warns(UserWarning, match="y changes values that were seen before"):
        fitted.update(series.iloc[30:])
    with pytest.raises(ValueError, match="not on the grid"):
        fitted.update(pd.Series([1.0], index=pd.DatetimeIndex(["2023-05-10"]), name="level"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_one_value_at_a_time(zone):
    """One time has no frequency; what is known from the fit must do."""
    days = pd.DatetimeIndex(pd.date_range("2020-01-01", periods=24, tz=zone), freq=None)
    y = pd.Series(np.sin(np.arange(24.0)), index=days)
    fitted = adapter().set_params(max_iter=5).fit(y.iloc[:20])
    for step in 20, 21:
        fitted.update(y.iloc[[step]], update_params=False)
    assert list(fitted.predict(fh=[1, 2]).index) == list(days[22:])


def test_past_is_not_forecast(series):
    fitted = adapter().fit(series)
    with pytest.raises(NotImplementedError, match="in-sample"):
        fitted.predict(fh=[-1, 2])
    fitted.update(series.iloc[:10])  # moves the cutoff of sktime back
    with pytest.raises(NotImplementedError, match="in-sample"):
        fitted.predict(fh=[1])


def test_covariates_by_name_and_time(series, covariates):
    known, future = covariates.iloc[:40], covariates.iloc[40 : 40 + STEPS]
    expected = direct().fit(series, known).forecast(STEPS, n_paths=N_PATHS, covariates=future)
    fitted = adapter().fit(series, covariates)
    np.testing.assert_array_equal(fitted.predict(fh=HORIZON, X=covariates[["b", "a"]]), expected.mean[ROWS])
    with pytest.raises(ValueError, match="X is missing times"):
        fitted.predict(fh=HORIZON, X=future.iloc[ROWS])
    with pytest.raises(ValueError, match=r"X is missing columns that are needed: \['b'\]"):
        fitted.predict(fh=HORIZON, X=future[["a"]])
    with pytest.raises(ValueError, match="fitted with 2 covariates"):
        fitted.predict(fh=HORIZON)


def test_steps_are_those_of_sktime():
    with pytest.raises(ValueError, match="steps of 2"):
        adapter().fit(pd.Series(np.arange(20.0) % 5, index=np.arange(0, 40, 2)))
