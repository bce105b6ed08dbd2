"""New series with holes. Oracle: a linear function of one path, whose slopes are known, is exact GP regression."""

import numpy as np
import pytest

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


def test_linear_functions_are_exact_gp_regression(random, trained):
    model, statistics = trained
    times = np.arange(T)[:, None]
    prior = oracles.gram(oracles.matern32(1.0, LENGTHSCALE), times, times)
    path = np.linalg.cholesky(prior) @ random.normal(size=T)
    series = path[:, None] * SLOPES + np.sqrt(NOISE) * random.normal(size=(T, 3))
    series[5:11, 0] = np.nan
    series[8:10] = np.nan  # nothing is known
    seen = ~np.isnan(series)
    precision = seen @ (SLOPES**2 / NOISE)
    spread = np.linalg.inv(np.linalg.inv(prior) + np.diag(precision))
    mean = spread @ (np.where(seen, series, 0.0) @ (SLOPES / NOISE))
    starts = [(np.zeros((T, 1)), np.zeros(T)), (path[:, None], np.ones(T))]
    found, variance = complete_series(model, statistics, series, starts, np.array([10.0]), 1e-6)
    # The search ends where an iteration gains 1e-8 of a bound of some hundred nats: 1e-3 of a standard deviation.
    np.testing.assert_allclose(found, mean[:, None] * SLOPES, atol=3e-3)
    np.testing.assert_allclose(variance, np.diag(spread)[:, None] * SLOPES**2, rtol=2e-2)
