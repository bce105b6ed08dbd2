"""Functions drawn from the posterior. Oracle: its moments."""

import jax
import numpy as np
import pytest

from semigp.core.exact.at_points import BumpsAndLines
from semigp.core.exact.draws import draw_exact, draw_given
from semigp.core.exact.gp import ExactModel, ExactRows, condition
from semigp.core.kernels import RBF, Linear
from semigp.core.numerics.precision import in_float64

KERNEL = RBF(0.7, np.array([0.9, 1.6])) + Linear(np.array([0.3, 0.1]))
moments = in_float64(jax.jit(lambda posterior, mean: posterior.moments(mean, None)))


@pytest.fixture
def posterior(random):
    inputs = random.normal(size=(13, 2))
    return condition(ExactModel(KERNEL, 0.01), ExactRows.of(inputs, np.sin(inputs[:, 0]) + 0.5 * inputs[:, 1]))


@pytest.mark.parametrize("is_padded", [False, True])
def test_draws_have_the_posterior_moments(posterior, is_padded):
    """4000 draws in 200 sets of features, at two points: within five standard errors. Masked rows do not count."""
    points = np.array([[1.5, -0.5], [0.1, 0.3]])
    randoms = [np.random.default_rng(group) for group in range(200)]
    draws = draw_exact(posterior.padded() if is_padded else posterior, randoms, 20, 200)
    mean, variance = (part[:, 0] for part in moments(posterior, points))
    for i, point in enumerate(points):
        values = draws.each(np.broadcast_to(point, (200, 20, 2)))
        assert values.mean() == pytest.approx(mean[i], abs=5 * np.sqrt(variance[i] / 200))
        assert values.var() == pytest.approx(variance[i], rel=0.25)


def test_draws_pass_through_noise_free_targets(random):
    """Noise of 1e-8: every function is within five of its standard deviations, 5e-4, of every target."""
    inputs = random.normal(size=(30, 2))
    targets = np.sin(inputs[:, 0]) * inputs[:, 1]
    posterior = condition(ExactModel(KERNEL, 0.0), ExactRows.of(inputs, targets))
    draws = draw_exact(posterior, [np.random.default_rng(0)], 10, 256)
    for point, target in zip(inputs, targets, strict=True):
        np.testing.assert_allclose(draws.each(np.broadcast_to(point, (1, 10, 2))), target, atol=5e-4)


def test_a_function_is_the_same_function_everywhere(posterior):
    """The waves at one point and at all points at once: single precision, 1e-5."""
    waves = draw_exact(posterior, [np.random.default_rng(0)], 3, 64).waves
    points = posterior.rows.inputs
    together = waves.everywhere(points)
    alone = np.stack([waves.each(np.broadcast_to(point, (1, 3, 2))) for point in points], axis=-1)
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_everywhere_is_each_at_the_same_inputs(random):
    """Two ways to the same values, of which waves are in single precision: 1e-5."""
    points = random.normal(size=(12, 2))
    kernel = BumpsAndLines(1.0, np.array([0.8, 1.5]), np.array([0.2, 0.1]))
    factor = np.linalg.cholesky(kernel(points, points) + 0.1 * np.eye(12))
    draws = draw_given(kernel, factor, points, np.sin(points[:, 0]), 0.1, random.spawn(3), 2, 100)
    new = random.normal(size=(4, 2))
    found = draws.everywhere(new)
    for place, row in enumerate(new):
        np.testing.assert_allclose(found[..., place], draws.each(np.broadcast_to(row, (3, 2, 2))), atol=1e-5)
