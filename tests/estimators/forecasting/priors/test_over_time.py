"""Functions of time. Oracles: the trend and the season that made a series, and posteriors of the core."""

import numpy as np

from semigp.core.exact.over_time import TimePosterior
from semigp.estimators.forecasting.priors import OverTime
from semigp.estimators.forecasting.searches import Searches


def _standard(values):
    return (values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0)


def test_a_trend_and_a_season_go_on():
    """Within 3 standard errors of the forecast at nineteen of twenty steps or more; and these errors are no excuse."""
    time, random = np.arange(140), np.random.default_rng(0)
    truth = 0.05 * time + np.sin(2 * np.pi * time / 12) + 0.3 * (time % 12 == 3)
    series = _standard((truth + 0.1 * random.normal(size=140))[:120, None])
    units = (truth[:120] + 0.1 * np.random.default_rng(0).normal(size=140)[:120]).std()
    prior = OverTime.fitted(series, (12.0,), 200, Searches(None))
    paths, ran_out = prior.paths(series, np.zeros((140, 0)), 500, 0)
    mean, std = paths.mean(axis=0)[:, 0], paths.std(axis=0)[:, 0]
    expected = (truth[120:] - (truth + 0.1 * np.random.default_rng(0).normal(size=140))[:120].mean()) / units
    assert np.mean(np.abs(mean - expected) < 3.0 * std) >= 0.95
    assert std.max() < 0.5  # the whole series has 1
    assert not ran_out.any()


def test_paths_have_the_moments_of_the_posterior(random):
    """4000 paths: means to 4 standard errors, standard deviations to 5 %."""
    series = _standard(np.cumsum(random.normal(size=(60, 2)), axis=0))
    prior = OverTime.fitted(series, (), 50, Searches(None))
    paths, _ = prior.paths(series, np.zeros((64, 0)), 4000, 0)
    for column, model in enumerate(prior.models):
        mean, covariance = TimePosterior.given(model, series[:, column]).moments(np.arange(60, 64))
        std = np.sqrt(np.diagonal(covariance))
        assert (np.abs(paths[:, :, column].mean(axis=0) - mean) < 4.0 * std / np.sqrt(4000)).all()
        np.testing.assert_allclose(paths[:, :, column].std(axis=0), std, rtol=0.05)


def test_only_the_latest_values_count(random):
    """What was before the last 30 values changes nothing but the limits."""
    series = _standard(random.normal(size=(90, 1)))
    other = series.copy()
    other[:60] = other[:60][::-1]
    fits = [OverTime.fitted(each, (), 50, Searches(None), latest=30) for each in (series, other)]
    np.testing.assert_array_equal(fits[0].models[0].logs, fits[1].models[0].logs)
    one, two = (fits[0].paths(each, np.zeros((95, 0)), 20, 0)[0] for each in (series, other))
    np.testing.assert_array_equal(one, two)


def test_seasons_that_are_too_long_are_left_out(random):
    series = _standard(random.normal(size=(40, 1)))
    assert OverTime.fitted(series, (7.0, 30.0), 20, Searches(None)).models[0].seasons == (7.0,)


def test_what_other_series_say_is_cut_to_the_seasons_that_are_used(random):
    """Ten numbers for one season, of which a series that is too short uses seven; they are obeyed, if narrow."""
    series = _standard(random.normal(size=(20, 1)))
    shared = np.full(10, 0.5), np.full(10, 1e-3)
    wide, narrow = (OverTime.fitted(series, (12.0,), 50, Searches(None), shared=each) for each in (None, shared))
    assert narrow.models[0].logs.shape == wide.models[0].logs.shape == (7,)
    from semigp.core.exact.over_time import hyperprior

    np.testing.assert_allclose(narrow.models[0].logs, hyperprior(series[:, 0], ())[0] + 0.5, atol=0.02)


def test_posteriors_skip_gaps(random):
    series = _standard(random.normal(size=(50, 1)))
    prior = OverTime.fitted(series, (), 20, Searches(None))
    series[[3, 10]] = np.nan
    (posterior,) = prior.posteriors(series)
    np.testing.assert_array_equal(posterior.steps, np.delete(np.arange(50), [3, 10]))
