"""One series and what was learned of it. Oracles: series without exceptions, loops over steps, and each prior."""

import numpy as np
import pandas as pd
import pytest

from semigp.core.exact.gp import ExactModel
from semigp.core.exact.in_numpy import bumps_and_lines
from semigp.core.exact.windows import window_table
from semigp.core.kernels import RBF, Linear
from semigp.estimators.forecasting import series_model
from semigp.estimators.forecasting.learning import learn
from semigp.series import read_series
from tests.estimators.forecasting.test_learning import _settings


def _learned(series, covariates=None, **changes):
    values, timeline = read_series(series)
    known = np.zeros((len(values), 0)) if covariates is None else covariates
    return learn(values, known, timeline, _settings(**changes), None)[0]


def _extended(model, values, **changes):
    values = np.asarray(values, float)[:, None]
    return model.extended(values, np.zeros((len(values), 0)), model.timeline, _settings(**changes))


@pytest.fixture(scope="module")
def walk():
    return np.cumsum(np.random.default_rng(0).normal(size=90))


def test_paths_are_shared_out_by_weight(walk):
    """With all weight on one prior, the paths are those of that prior alone, in another order."""
    model = _learned(walk)
    names = list(model.priors)
    for number, name in enumerate(names):
        only = model.with_priors(model.priors, np.eye(len(names))[number])
        own = int(np.random.SeedSequence([7, number, 0]).generate_state(1)[0])
        expected, _ = model.priors[name].paths(model.pasts[0], np.zeros((95, 0)), 40, own)
        found, _ = only.paths(np.zeros((5, 0)), 40, 7)
        expected = model.scale.natural(expected)
        np.testing.assert_allclose(np.sort(found[:, 0, 0]), np.sort(expected[:, 0, 0]), rtol=1e-12)


def test_positive_series_have_no_negative_paths():
    """Counts near 0: nothing below, whatever the prior. A column that may be negative is."""
    counts = np.random.default_rng(0).poisson(0.7, size=80).astype(float)
    assert _learned(counts).paths(np.zeros((30, 0)), 200, 0)[0].min() == 0.0
    assert _learned(counts, positive=False).paths(np.zeros((30, 0)), 200, 0)[0].min() < 0.0


def test_more_values_leave_the_parameters_and_move_the_start(walk):
    """The model of 80 values, and 10 more: its past is that of all 90 values, in the units of the 80."""
    model = _learned(walk[:80])
    longer = _extended(model, walk[80:])
    assert longer.priors is model.priors
    np.testing.assert_allclose(longer.scale.natural(longer.pasts[0])[:, 0], walk, rtol=1e-9)
    assert len(longer.values) == len(longer.offsets) == len(longer.covariates) == 90


def test_spikes_stay_out_after_an_update():
    """A series with a spike, and more values: as if the spike had been a gap all along."""
    values = np.random.default_rng(0).normal(size=130)
    spiky, gap = values.copy(), values.copy()
    spiky[50], gap[50] = 1000.0, np.nan
    one, other = (_extended(_learned(each[:120]), each[120:]) for each in (spiky, gap))
    np.testing.assert_array_equal(one.pasts, other.pasts)
    late = values[120:].copy()
    late[4] = 1000.0
    assert np.nanmax(np.abs(_extended(_learned(values[:120]), late).standard())) < 10.0


def test_jumps_stay_out_after_an_update():
    values = np.random.default_rng(0).normal(size=130) + 100.0 * (np.arange(130) >= 60)
    model = _learned(values[:120])
    np.testing.assert_allclose(_extended(model, values[120:]).standard()[:120], model.standard())
    assert _extended(model, values[120:]).offsets[120:].sum() == 0.0


def test_gaps_are_filled_in_the_values_own_units():
    """Values 100 higher after a jump: gaps on both sides are filled on their own side. What is known stays."""
    values = np.sin(np.arange(140) / 4) + 0.05 * np.random.default_rng(0).normal(size=140)
    values += 100.0 * (np.arange(140) >= 70)
    truth = values.copy()
    values[[30, 100]] = np.nan
    mean, std = _learned(values).filled()
    known = ~np.isnan(values)
    np.testing.assert_array_equal(mean[known, 0], values[known])
    assert (std[known] == 0.0).all()
    np.testing.assert_allclose(mean[~known, 0], truth[~known], atol=0.5)
    assert (std[~known] > 0.0).all()


def test_without_gaps_there_is_nothing_to_fill(walk):
    mean, std = _learned(walk).filled()
    np.testing.assert_array_equal(mean[:, 0], walk)
    assert not std.any()


def test_features_are_covariates_their_lags_and_the_calendar(walk, random):
    covariates = random.normal(size=(90, 1))
    dated = pd.Series(walk, pd.date_range("2024", periods=90, freq="D"))
    model = _learned(dated, covariates, covariate_lags=2, season="auto")
    found = series_model.features(model, covariates, 90)
    for lag in range(3):
        for step in range(90):
            assert found[step, lag] == covariates[max(step - lag, 0), 0]
    waves = found[:, 3:]
    assert waves.shape[1] >= 2
    np.testing.assert_allclose(waves[: 90 - 7, 0], waves[7:, 0], atol=1e-9)  # the day of the week comes first
    half = waves.shape[1] // 2
    np.testing.assert_allclose(waves[:, :half] ** 2 + waves[:, half:] ** 2, 2.0, atol=1e-12)


def test_a_function_of_some_lags_is_one_of_the_whole_window(random):
    """Lags 5 and 1 of two columns, and a covariate: the same covariances, to the 1e-9 that unseen lags are given."""
    lags = np.array([5, 1])
    kernel = RBF(0.8, np.array([1.0, 2.0, 0.7, 3.0, 1.5])) + Linear(np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    model = ExactModel(kernel, 0.1)
    whole = series_model._in_window(model, lags, 2)
    values, covariates = random.normal(size=(20, 2)), random.normal(size=(20, 1))
    some, _ = window_table(values, covariates, lags)
    every, _ = window_table(values, covariates, 5)
    expected = bumps_and_lines(model.kernel, 5)(some, some)
    np.testing.assert_allclose(bumps_and_lines(whole.kernel, 11)(every, every), expected, atol=1e-9)
    assert series_model._in_window(model, np.array([2, 1]), 2) is model


@pytest.mark.parametrize("kind", ["full", "diagonal", "none"])
def test_matched_moments_are_near_those_of_paths(kind):
    """A linear process with a known spread: within 20 % for one step, by every way of matching."""
    random, values = np.random.default_rng(0), np.zeros(200)
    for t in range(1, 200):
        values[t] = 0.8 * values[t - 1] + random.normal()
    model = _learned(values, trend=None)
    mean, std = model.matched(kind, np.zeros((5, 0)))
    assert mean.shape == std.shape == (5, 1)
    assert std[0, 0] == pytest.approx(1.0, rel=0.2)
    assert mean[0, 0] == pytest.approx(0.8 * values[-1], abs=0.3)
