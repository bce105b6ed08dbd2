"""Beliefs about gaps. Oracles: moments of many draws, conditional Gaussians, and the prior that made the series."""

import numpy as np
import pytest

from semigp.core.exact.gaps import Gaps
from semigp.core.exact.over_time import TimePosterior
from semigp.estimators.forecasting.dynamics import fit_models
from semigp.estimators.forecasting.gap_beliefs import GapBelief, gaps_over_time
from semigp.estimators.forecasting.priors import OverTime, Past
from semigp.estimators.forecasting.searches import Searches


def _standard(values):
    return (values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0)


@pytest.fixture(scope="module")
def logistic():
    """A chaotic map, observed without noise: known to a function of the past, and noise to a function of time."""
    values = np.full((200, 1), 0.3)
    for t in range(1, 200):
        values[t] = 3.8 * values[t - 1] * (1.0 - values[t - 1])
    complete = _standard(values)
    series = complete.copy()
    series[[50, 90, 91, 150]] = np.nan
    over_time = OverTime.fitted(series, (), 50, Searches(None))
    models, _ = fit_models(series, np.zeros((200, 0)), 1, 200, Searches(None))
    return complete, series, over_time, Past(models, np.array([1]))


def test_moments_are_those_of_draws():
    """A mixture of two Gaussians, 3 to 1: 40,000 draws, standard errors below 0.01."""
    steps, columns = np.array([1, 3]), np.array([0, 1])
    parts = [
        Gaps(steps, columns, np.array([0.0, 1.0]), np.array([[1.0, 0.5], [0.5, 1.0]])),
        Gaps(steps, columns, np.array([4.0, 1.0]), 0.25 * np.eye(2)),
    ]
    belief = GapBelief(parts, np.array([0.75, 0.25]))
    mean, std = belief.moments((5, 2))
    draws = belief.draws(40_000, 0)
    np.testing.assert_allclose(mean[steps, columns], draws.mean(axis=0), atol=0.04)
    np.testing.assert_allclose(std[steps, columns], draws.std(axis=0), atol=0.04)
    assert mean.sum() == pytest.approx(mean[steps, columns].sum())
    assert (draws[:30_000, 0].mean(), draws[30_000:, 0].mean()) == pytest.approx((0.0, 4.0), abs=0.05)


def test_a_gp_over_time_gives_its_own_posterior(random):
    """Two columns with gaps of their own: the blocks of the covariance are those of each column, and 0 between."""
    series = _standard(np.cumsum(random.normal(size=(60, 2)), axis=0))
    series[[5, 6, 59], 0], series[[6, 30], 1] = np.nan, np.nan
    over_time = OverTime.fitted(series, (), 50, Searches(None))
    gaps = gaps_over_time(series, over_time)
    for column, at in enumerate([[5, 6, 59], [6, 30]]):
        own = gaps.columns == column
        np.testing.assert_array_equal(gaps.steps[own], at)
        mean, covariance = TimePosterior.given(over_time.models[column], series[:, column]).moments(np.array(at))
        np.testing.assert_allclose(gaps.mean[own], mean)
        np.testing.assert_allclose(gaps.covariance[np.ix_(own, own)], covariance)
        assert (gaps.covariance[np.ix_(own, ~own)] == 0.0).all()


def test_the_prior_that_explains_the_series_fills_its_gaps(logistic):
    """A chaotic map: the function of the past has all the weight, and is right to 0.1 in standard units."""
    complete, series, over_time, past = logistic
    belief = GapBelief.of(series, np.zeros((200, 0)), over_time, past)
    assert belief.weights[1] > 0.999
    mean, std = belief.moments(series.shape)
    gaps = np.isnan(series)
    assert np.abs(mean - complete)[gaps].max() < 0.1
    assert (std[~gaps] == 0.0).all()
    filled = belief.filled(series, belief.draws(1, 0)[0])
    np.testing.assert_array_equal(filled[~gaps], series[~gaps])
    assert not np.isnan(filled).any()


def test_without_a_function_of_the_past_time_alone_speaks(logistic):
    _, series, over_time, _ = logistic
    belief = GapBelief.of(series, np.zeros((200, 0)), over_time, None)
    np.testing.assert_array_equal(belief.weights, [1.0])
    np.testing.assert_array_equal(belief.parts[0].mean, gaps_over_time(series, over_time).mean)
