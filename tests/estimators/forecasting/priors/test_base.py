"""What every prior promises: one battery for all of them. Oracles: the shapes of the contract, limits, and seeds."""

import numpy as np
import pytest

from semigp.core.exact.gp import ExactModel
from semigp.core.exact.lines import LineModel
from semigp.core.exact.over_time import TimeModel, hyperprior
from semigp.core.kernels import RBF, Linear
from semigp.estimators.forecasting.priors import Increments, OverTime, Past, past
from semigp.estimators.forecasting.priors.base import in_silence, limits

LAGS = np.array([4, 2, 1])


def _prior(name, values):
    """Two columns and a covariate."""
    if name == "past":
        kernel = RBF(1.0, np.full(7, 3.0)) + Linear(np.full(7, 0.1))
        return Past([ExactModel(kernel, 0.05)] * 2, LAGS)
    if name == "increments":
        return Increments([LineModel(np.full(4, 0.1), 0.9)] * 2, [LAGS] * 2, np.array([0.5, 2.0]))
    models = [TimeModel(hyperprior(column, ())[0], (), (len(values) - 1) / 2) for column in values.T]
    return OverTime(models, 20 if name == "recent" else 0)


NAMES = ["past", "increments", "time", "recent"]


@pytest.fixture
def series(random):
    return np.cumsum(random.normal(size=(60, 2)), axis=0) / 4.0, random.normal(size=(70, 1))


@pytest.mark.parametrize("name", NAMES)
def test_paths_have_the_shape_of_the_future_and_follow_the_seed(name, series):
    values, covariates = series
    prior = _prior(name, values)
    paths, ran_out = prior.paths(values, covariates, 30, 3)
    assert paths.shape == (30, 10, 2)
    assert (ran_out.shape, ran_out.dtype) == ((30,), bool)
    np.testing.assert_array_equal(prior.paths(values, covariates, 30, 3)[0], paths)
    assert not np.array_equal(prior.paths(values, covariates, 30, 4)[0], paths)
    assert prior.paths(values, covariates, 1, 3)[0].shape == (1, 10, 2)


@pytest.mark.parametrize("name", NAMES)
def test_a_covariate_changes_nothing_before_its_step(name, series, monkeypatch):
    """Another value at the last step: nine of ten steps are the same; the last differs where covariates are seen.

    Limits are far away: a path that leaves them goes on from another path, with its earlier values.
    """
    monkeypatch.setattr(past, "_BEYOND", 100.0)
    values, covariates = series
    prior, other = _prior(name, values), covariates.copy()
    other[-1] += 3.0
    one, two = (prior.paths(values, each, 20, 0)[0] for each in (covariates, other))
    np.testing.assert_array_equal(one[:, :9], two[:, :9])
    assert np.array_equal(one[:, 9], two[:, 9]) == (name in ("time", "recent"))


@pytest.mark.parametrize("name", NAMES)
def test_paths_stay_within_limits_and_tell_if_they_were_held(name, series):
    """In 300 steps walks go beyond; whoever did not is strictly inside."""
    values, _ = series
    low, high = limits(values)
    paths, ran_out = _prior(name, values).paths(values, np.zeros((60 + 300, 1)), 10, 0)
    assert (paths >= low).all()
    assert (paths <= high).all()
    assert ((low < paths) & (paths < high))[~ran_out].all()
    if name in ("increments", "time"):
        assert ran_out.any()


@pytest.mark.parametrize("name", NAMES)
def test_paths_start_where_the_series_ends(name, series):
    """The median of the first step is within two of its interquartile ranges of the last value: all are continuous."""
    values, covariates = series
    paths, _ = _prior(name, values).paths(values, covariates[:61], 400, 0)
    low, middle, high = np.quantile(paths[:, 0], [0.25, 0.5, 0.75], axis=0)
    assert (np.abs(middle - values[-1]) < 2.0 * (high - low)).all()


def test_limits_are_as_far_again_as_the_values_span():
    low, high = limits(np.array([[0.0, 5.0], [np.nan, 7.0], [3.0, 5.5]]))
    np.testing.assert_array_equal([low, high], [[-3.0, 3.0], [6.0, 9.0]])


def test_silence():
    assert list(in_silence([1, 2], "paths")) == [1, 2]
