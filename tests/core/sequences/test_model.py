"""Latent paths over time. Oracles: the Bayesian GP-LVM, which is the case K = I, and dense Gaussians."""

import jax
import numpy as np
import pytest

from semigp.core import RBF
from semigp.core.hyperpriors import LogNormal
from semigp.core.numerics.precision import in_float64
from semigp.core.sequences import model as sequences
from semigp.core.sparse import model as rows_alone

from ... import oracles

marginals = in_float64(jax.jit(sequences.marginals))
P, Q, M = 4, 2, 5
HYPERPRIORS = {"noise_variance": LogNormal(0.1, 1.0), "kernel.lengthscale": LogNormal(1.0, 0.5)}


@pytest.fixture
def series(random):
    made = [random.normal(size=(length, P)) for length in (7, 4)]
    made[0][2:4, 1] = np.nan
    return made


def paths(random, length=7):
    return sequences.Paths(random.normal(size=(length, 2, Q)), np.exp(random.normal(size=(length, 2, Q))))


def test_divergence_is_that_of_dense_gaussians(random, series):
    data, own, lengthscale = sequences.make_data(series), paths(random), np.array([2.0, 9.0])
    belief = marginals(lengthscale, own, data)
    for s, length in enumerate((7, 4)):
        times = np.arange(length)[:, None]
        for j in range(Q):
            prior = oracles.gram(oracles.matern32(1.0, lengthscale[j]), times, times)
            spread = np.linalg.inv(np.linalg.inv(prior) + np.diag(own.precision[:length, s, j]))
            mean = np.linalg.cholesky(prior) @ own.noise[:length, s, j]
            solved = np.linalg.solve(prior, spread)
            logs = np.linalg.slogdet(prior)[1] - np.linalg.slogdet(spread)[1]
            expected = 0.5 * (np.trace(solved) + mean @ np.linalg.solve(prior, mean) - length + logs)
            np.testing.assert_allclose(belief.divergence[s, j], expected, rtol=1e-9)
            np.testing.assert_allclose(belief.mean[:length, s, j], mean, atol=1e-9)
            np.testing.assert_allclose(belief.variance[:length, s, j], np.diag(spread), rtol=1e-9)


def test_without_memory_it_is_the_bayesian_gplvm(random, series):
    """K = I: the mean is u, the variance 1/(1 + λ), and the bound that of rows that know nothing of each other."""
    data, own = sequences.make_data(series, HYPERPRIORS), paths(random)
    kernel, inducing = RBF(1.0, np.array([0.8, 1.5])), random.normal(size=(M, Q))
    noise, scale = np.full(P, 0.2), np.linspace(0.5, 1.5, P)
    model = sequences.SequenceModel(kernel, inducing, noise, scale, np.full(Q, 1e-3), own)
    belief = marginals(model.time_lengthscale, own, data)
    np.testing.assert_allclose(belief.mean[:, 0], own.noise[:, 0], atol=1e-12)
    targets = np.concatenate(series)
    alone = rows_alone.make_data(np.full((len(targets), Q), np.nan), targets, hyperpriors=HYPERPRIORS)
    start = rows_alone.start(alone, kernel, inducing, noise, scale)
    mean, variance = start.mean.copy(), start.variance.copy()
    for moments, free in ((mean, own.noise), (variance, 1.0 / (1.0 + own.precision))):
        moments[: len(targets)] = np.concatenate([free[: len(each), s] for s, each in enumerate(series)])
    start = rows_alone.Model(kernel, inducing, noise, scale, mean, variance)
    expected = in_float64(jax.jit(rows_alone.objective))(start, alone)
    np.testing.assert_allclose(in_float64(jax.jit(sequences.objective))(model, data), expected, rtol=1e-12)


def test_steps_that_fill_up_change_nothing(random, series):
    own, lengthscale = paths(random), np.array([2.0, 9.0])
    short = marginals(lengthscale, own, sequences.make_data(series))
    filled = sequences.Paths(
        *(np.pad(each, [(0, 5), (0, 0), (0, 0)], constant_values=1.0) for each in vars(own).values())
    )
    long = marginals(lengthscale, filled, sequences.make_data(series, length=12))
    np.testing.assert_allclose(long.divergence, short.divergence, rtol=1e-12)
    np.testing.assert_allclose(long.variance[:7], short.variance, rtol=1e-12)


def test_whitened_is_the_inverse(random):
    mean, lengthscale = random.normal(size=(6, 2, Q)), np.array([1.0, 4.0])
    noise = in_float64(sequences.whitened)(mean, lengthscale)
    own = sequences.Paths(noise, np.ones(noise.shape))
    data = sequences.make_data([np.zeros((6, P))] * 2)
    np.testing.assert_allclose(marginals(lengthscale, own, data).mean, mean, atol=1e-10)


def test_rows_are_in_the_order_of_the_series(series):
    data = sequences.make_data(series)
    places = np.asarray(data.rows)[:11]
    steps, number = np.divmod(places, 2)
    np.testing.assert_array_equal(steps, [*range(7), *range(4)])
    np.testing.assert_array_equal(number, [0] * 7 + [1] * 4)
    np.testing.assert_array_equal(np.asarray(data.targets.weights)[11:], 0.0)
