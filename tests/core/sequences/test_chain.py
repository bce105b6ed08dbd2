"""Chains over time. Oracle: the same Gaussians as dense matrices, in NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.sequences.chain import Transition, given_precisions

from ... import oracles

pytestmark = pytest.mark.usefixtures("x64")
T, LENGTHSCALE = 9, np.array([3.0, 0.7, 40.0])
# Rounding: the smallest eigenvalue of K is about 1e-5 for the slowest path, so that eps/1e-5 can be lost.
ATOL = 1e-10


def dense(lengthscale):
    times = np.arange(T)[:, None]
    return oracles.gram(oracles.matern32(1.0, lengthscale), times, times)


@pytest.fixture
def precision(random):
    """Two series. The second ends after six steps."""
    precision = np.exp(2.0 * random.normal(size=(T, 2, 3)))
    precision[6:, 1] = 0.0
    return precision


def prior():
    return Transition.of(jnp.asarray(LENGTHSCALE[None]))


def test_variances_and_log_determinant(precision):
    chain = given_precisions(prior(), jnp.asarray(precision))
    variances, last = chain.variances()
    for j, lengthscale in enumerate(LENGTHSCALE):
        covariance = dense(lengthscale)
        for s in range(2):
            weighted = np.eye(T) + covariance * precision[:, s, j]  # I + K Λ
            np.testing.assert_allclose(variances[:, s, j], np.diag(np.linalg.solve(weighted, covariance)), atol=ATOL)
            np.testing.assert_allclose(chain.log_determinant[s, j], np.linalg.slogdet(weighted)[1], atol=ATOL)
    np.testing.assert_array_equal(last[0], variances[-1])


def test_gains_are_the_cholesky_factor(precision):
    gains = given_precisions(prior(), jnp.asarray(precision)).gains()
    noise = np.random.default_rng(1).normal(size=(T, 2, 3))
    paths, last = gains.paths(jnp.asarray(noise))
    for j, lengthscale in enumerate(LENGTHSCALE):
        covariance = dense(lengthscale)
        for s in range(2):
            spread = np.linalg.solve(np.eye(T) + covariance * precision[:, s, j], covariance)
            factor = np.linalg.cholesky(0.5 * (spread + spread.T))
            np.testing.assert_allclose(paths[:, s, j], factor @ noise[:, s, j], atol=1e-7)
    back, same = gains.innovations(paths)
    np.testing.assert_allclose(back, noise, atol=1e-8)
    np.testing.assert_allclose(same, last, atol=1e-10)


def test_last_state_is_the_slope_of_the_path():
    """E[x′(T) | x] = k′ K⁻¹ x, with the derivative of the covariance in the second time."""
    gains = given_precisions(prior(), jnp.zeros((T, 1, 3))).gains()
    path = np.sin(np.arange(T) / 2.0)
    _, (_, slope) = gains.innovations(jnp.asarray(np.tile(path[:, None, None], (1, 1, 3))))
    for j, lengthscale in enumerate(LENGTHSCALE):
        r, lag = np.sqrt(3.0) / lengthscale, T - 1 - np.arange(T)
        derivative = -(r**2) * lag * np.exp(-r * lag)  # d/dt k(t - t′) at t = T
        expected = derivative @ np.linalg.solve(dense(lengthscale), path) / r
        np.testing.assert_allclose(slope[0, j], expected, atol=1e-9)


def test_no_memory():
    """With a lengthscale near 0, K = I: every step is by itself."""
    precision = np.full((T, 1, 1), 3.0)
    chain = given_precisions(Transition.of(jnp.full((1, 1), 1e-3)), jnp.asarray(precision))
    np.testing.assert_array_equal(chain.variances()[0], np.full((T, 1, 1), 0.25))
    np.testing.assert_allclose(chain.log_determinant, T * np.log(4.0), rtol=1e-14)
