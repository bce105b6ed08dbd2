"""New series with holes. Oracle: a linear function of one path, whose slopes are known, is exact GP regression."""

import numpy as np
import pytest
import scipy.optimize

from semigp.core import Linear
from semigp.core.numerics.precision import in_float64
from semigp.core.sequences.model import Paths, SequenceModel
from semigp.core.sequences.new_series import complete_series
from semigp.core.sparse.statistics import Block, collect
from semigp.core.sparse.targets import Targets

from ... import oracles

SLOPES, NOISE, LENGTHSCALE, T = np.array([1.0, -0.5, 2.0]), np.array([0.1, 0.2, 0.3]), 6.0, 16


@pytest.fixture
def trained(random):
    """Statistics of so many training rows that the slopes are known to four digits."""
    states = random.normal(size=(50, 1))
    block = Block(states, None, Targets.of(states * SLOPES))
    statistics = in_float64(collect)(Linear(np.ones(1)), np.ones((1, 1)), (block,))
    many = {name: 1e6 * value for name, value in statistics.sums().items()}
    nothing = Paths(np.zeros((0, 0, 1)), np.zeros((0, 0, 1)))
    model = SequenceModel(Linear(np.ones(1)), np.ones((1, 1)), NOISE, np.ones(3), np.array([LENGTHSCALE]), nothing)
    return model, type(statistics)(**many, group=statistics.group)


def regression(series, inflation):
    """Mean, variance and log evidence of the path by GP regression over time, with noise variances κ σ²."""
    times, noise = np.arange(T)[:, None], inflation * NOISE
    prior = oracles.gram(oracles.matern32(1.0, LENGTHSCALE), times, times)
    seen = ~np.isnan(series)
    values = series[seen]
    slopes = np.broadcast_to(SLOPES, series.shape)[seen]
    steps = np.broadcast_to(times, series.shape)[seen]
    noisy = slopes[:, None] * slopes * prior[np.ix_(steps, steps)] + np.diag(np.broadcast_to(noise, series.shape)[seen])
    gain = np.linalg.solve(noisy, slopes[:, None] * prior[steps]).T
    evidence = -0.5 * (np.linalg.slogdet(noisy)[1] + values @ np.linalg.solve(noisy, values))
    return gain @ values, np.diag(prior - gain @ (slopes[:, None] * prior[steps])), evidence


@pytest.mark.parametrize("noisier", [1.0, 6.0])
def test_linear_functions_are_exact_gp_regression(random, trained, noisier):
    """q(X) is exact here, so that the bound is the evidence: κ is where evidence and prior of κ are highest."""
    model, statistics = trained
    times = np.arange(T)[:, None]
    path = np.linalg.cholesky(oracles.gram(oracles.matern32(1.0, LENGTHSCALE), times, times)) @ random.normal(size=T)
    series = path[:, None] * SLOPES + np.sqrt(noisier * NOISE) * random.normal(size=(T, 3))
    series[5:11, 0] = np.nan
    series[8:10] = np.nan  # nothing is known
    starts = [(np.zeros((T, 1)), np.zeros(T)), (path[:, None], np.ones(T))]
    found = complete_series(model, statistics, series, starts, np.array([10.0]), 1e-6)

    def loss(more):
        return 0.5 * (more + 2.0) ** 2 - regression(series, 1.0 + np.exp(more))[2]

    best = 1.0 + np.exp(scipy.optimize.minimize_scalar(loss, (-4.0, 3.0)).x)
    # The search ends where an iteration gains 1e-8 of a bound of some hundred nats: 1e-3 of a standard deviation.
    np.testing.assert_allclose(found.inflation, best, rtol=1e-2)
    mean, variance, _ = regression(series, found.inflation)
    np.testing.assert_allclose(found.mean, mean[:, None] * SLOPES, atol=5e-3)
    expected = variance[:, None] * SLOPES**2 + found.inflation * NOISE
    np.testing.assert_allclose(found.variance, expected, rtol=1e-2)
