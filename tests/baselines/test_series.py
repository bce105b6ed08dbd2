"""Forecasting competitors: one interface, each against an oracle or the property that makes it what it is."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from statsmodels.tsa.ar_model import AutoReg

from semigp import baselines
from semigp.series.reading import fill_gaps

ALL = {
    "climatology": baselines.Climatology(),
    "persistence": baselines.Persistence(),
    "autoregression": baselines.AutoRegression(lags=4),
    "boosted": baselines.BoostedRecursion(lags=4),
}
CONSTANT, WEIGHTS = 3.0, (1.2, -0.5)


@pytest.fixture(scope="module")
def second_order():
    """AR(2) with unit innovations: 4,000 values, once the start is forgotten."""
    shocks = np.random.default_rng(0).normal(size=4200)
    values = np.zeros(4200)
    for t in range(2, 4200):
        values[t] = CONSTANT + WEIGHTS[0] * values[t - 1] + WEIGHTS[1] * values[t - 2] + shocks[t]
    return values[200:]


@pytest.fixture
def wave():
    random = np.random.default_rng(1)
    t = np.arange(60)
    return np.column_stack([np.sin(t / 3), 1e6 + 50 * np.cos(t / 4)]) + 0.1 * random.normal(size=(60, 2))


@pytest.mark.parametrize("name", ALL)
def test_one_interface(name, wave):
    frame = pd.DataFrame(wave, columns=["a", "b"], index=pd.date_range("2024-01-01", periods=60, freq="D"))
    frame.iloc[[0, 20, 21, 59], [0, 0, 0, 1]] = np.nan
    forecast = ALL[name].fit(frame).forecast(5, n_paths=50, random_state=0)
    assert forecast.paths.shape == (50, 5, 2)
    assert np.isfinite(forecast.paths).all()
    assert np.all(forecast.std > 0)
    assert np.all(np.abs(forecast.mean - np.nanmean(frame, axis=0)) < 3 * np.nanstd(frame, axis=0))
    assert forecast.index[0] == pd.Timestamp("2024-03-01")
    np.testing.assert_array_equal(forecast.past, frame.to_numpy())  # as it came, gaps and all
    flat = ALL[name].fit(frame["a"]).forecast(5, n_paths=50)
    assert flat.paths.shape == (50, 5)


@pytest.mark.parametrize("name", ALL)
def test_same_seed_same_forecast(name, wave):
    model = ALL[name].fit(wave)
    one, same, other = (model.forecast(4, 20, random_state=seed).paths for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)


@pytest.mark.parametrize("name", ALL)
def test_constant_series_stays(name):
    """Oracle: the constant, within rounding."""
    forecast = ALL[name].fit(np.full(40, 0.1)).forecast(5, n_paths=10)
    np.testing.assert_allclose(forecast.paths, 0.1, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_errors_say_what_is_wrong(name, wave):
    with pytest.raises(NotFittedError):
        type(ALL[name])().forecast(3)
    with pytest.raises(ValueError, match="at least"):
        ALL[name].fit(wave[:1])
    with pytest.raises(ValueError, match="no value in column 1"):
        ALL[name].fit(np.column_stack([wave[:, 0], np.full(60, np.nan)]))
    with pytest.raises(ValueError, match="steps"):
        ALL[name].fit(wave[:, 0]).forecast(0)
    with pytest.raises(ValueError, match="n_paths"):
        ALL[name].forecast(3, n_paths=0)


@pytest.mark.parametrize("kind", [baselines.AutoRegression, baselines.BoostedRecursion])
def test_lags_and_length_are_checked(kind):
    with pytest.raises(ValueError, match="lags"):
        kind(lags=0).fit(np.arange(50.0))
    model = kind(lags=5)
    shortest = np.random.default_rng(0).normal(size=model._shortest())
    assert np.isfinite(model.fit(shortest).forecast(3, 10).paths).all()
    with pytest.raises(ValueError, match=f"at least {len(shortest)} steps; got {len(shortest) - 1}"):
        model.fit(shortest[:-1])


def test_gaps_are_filled_by_lines():
    """Oracle: by hand, exact."""
    values = np.array([[np.nan, 1.0], [2.0, np.nan], [np.nan, np.nan], [4.0, 7.0], [np.nan, 0.0]])
    np.testing.assert_array_equal(fill_gaps(values), [[2, 1], [2, 3], [3, 5], [4, 7], [4, 0]])


def test_climatology_covers_white_noise():
    """Oracle: 95 % intervals hold 95 % of 2,000 values not seen.

    Tolerance .02, two standard errors: .005 from the values to come, .007 from the 1,000 that set the quantiles.
    """
    values = np.random.default_rng(0).normal(3.0, 2.0, size=3000)
    forecast = baselines.Climatology().fit(values[:1000]).forecast(2000, n_paths=1000, random_state=0)
    assert abs(forecast.score(values[1000:])["coverage"] - 0.95) < 0.02
    drawn = forecast.paths[:5].ravel()
    assert np.abs(drawn[:, None] - values[:1000]).min(axis=1).max() < 1e-12  # past values, and nothing else


def test_persistence_is_a_random_walk():
    """Oracle: last value; variance h var(differences) after h steps. Tolerance four standard errors of 4,000 paths."""
    values = np.cumsum(np.random.default_rng(0).normal(size=400))
    forecast = baselines.Persistence().fit(values).forecast(50, n_paths=4000, random_state=0)
    variance = np.arange(1, 51) * np.var(np.diff(values), ddof=1)
    assert np.all(np.abs(forecast.mean - values[-1]) < 4 * np.sqrt(variance / 4000))
    np.testing.assert_allclose(forecast.std**2, variance, rtol=4 * np.sqrt(2 / 4000))
    assert forecast.n_diverged == 0


def test_autoregression_finds_the_process(second_order):
    """Oracle: the recursion with the true weights, and the stationary spread.

    Tolerances: .2 for the mean, four standard errors of the fitted process mean, 1/(.3 √4000); 5 % for the width.
    """
    forecast = baselines.AutoRegression(lags=6).fit(second_order).forecast(60, n_paths=4000, random_state=0)
    oracle = list(second_order[-2:])
    for _ in range(60):
        oracle.append(CONSTANT + WEIGHTS[0] * oracle[-1] + WEIGHTS[1] * oracle[-2])
    np.testing.assert_allclose(forecast.mean, oracle[2:], atol=0.2)
    one, two = WEIGHTS
    stationary = np.sqrt((1 - two) / ((1 + two) * ((1 - two) ** 2 - one**2)))
    low, high = forecast.quantile([0.025, 0.975])
    np.testing.assert_allclose(np.mean((high - low)[30:]), 2 * 1.96 * stationary, rtol=0.05)


def test_autoregression_is_that_of_statsmodels(second_order):
    """Oracle: AutoReg of the same order on the raw values. Tolerance four standard errors of 4,000 paths."""
    values = second_order[:300]
    model = baselines.AutoRegression(lags=6).fit(values)
    forecast = model.forecast(20, n_paths=4000, random_state=0)
    order = np.count_nonzero(model._models[0][1])
    oracle = AutoReg(values, order).fit().get_prediction(300, 319)
    assert 2 <= order <= 6
    assert np.all(np.abs(forecast.mean - oracle.predicted_mean) < 4 * oracle.se_mean / np.sqrt(4000))
    np.testing.assert_allclose(forecast.std, oracle.se_mean, rtol=4 / np.sqrt(2 * 4000))


def test_autoregression_far_from_zero(second_order):
    """Oracle: the same series near zero, shifted. Tolerance 1e-5: 1e9 leaves seven decimals."""
    near, far = (
        baselines.AutoRegression(lags=3).fit(second_order[:200] + shift).forecast(10, 20, random_state=0).paths
        for shift in (0.0, 1e9)
    )
    np.testing.assert_allclose(far - 1e9, near, atol=1e-5)


def test_autoregression_says_what_to_install(monkeypatch, wave):
    monkeypatch.setitem(sys.modules, "statsmodels.tsa.ar_model", None)
    with pytest.raises(ImportError, match=r"semigp\[forecast\]"):
        baselines.AutoRegression(lags=4).fit(wave)


def test_boosting_continues_a_sine():
    """Oracle: the sine, of period 20 and without noise. Tolerance .3 over the next period."""
    t = np.arange(220)
    values = np.sin(2 * np.pi * t / 20)
    forecast = baselines.BoostedRecursion().fit(values[:200]).forecast(20, n_paths=100, random_state=0)
    np.testing.assert_allclose(forecast.mean, values[200:], atol=0.3)


def test_boosting_knows_what_it_does_not_know():
    """Oracle: of white noise nothing can be known, so the spread is at least its own, less 10 %.

    The training residuals, which the trees have fitted, would be a small part of that.
    """
    values = np.random.default_rng(0).normal(size=200)
    model = baselines.BoostedRecursion(lags=4).fit(values)
    assert 0.9 < model.forecast(1, n_paths=2000, random_state=0).std[0] / values.std() < 1.4
    trees = model._models[0][0]
    windows = np.lib.stride_tricks.sliding_window_view((values - values.mean()) / values.std(), 5)
    assert np.std(windows[:, -1] - trees.predict(windows[:, :-1])) < 0.5


def test_runaways_are_held():
    """Oracle: an unstable process leaves any bound; ours is ten standard deviations, and 1e-9 for rounding."""
    values = 1.08 ** np.arange(100) + np.random.default_rng(0).normal(size=100)
    forecast = baselines.AutoRegression(lags=2).fit(values).forecast(500, n_paths=50, random_state=0)
    assert np.isfinite(forecast.paths).all()
    assert np.all(np.abs(forecast.paths - values.mean()) <= (10 + 1e-9) * values.std())
    assert forecast.n_diverged == 50
