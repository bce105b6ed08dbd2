"""Free simulation, against linear systems."""

import numpy as np
import pytest

from semigp.core.exact.gp import ExactModel, ExactRows, condition
from semigp.core.exact.rollout import propagate, sample_paths
from semigp.core.kernels import Linear


@pytest.fixture
def linear_system(random):
    """x' = 0.9 x + ε, so well known that only ε is uncertain."""
    inputs = random.normal(size=(400, 1))
    targets = 0.9 * inputs[:, 0] + 0.3 * random.normal(size=400)
    model = ExactModel(Linear(np.array([1.0])), 0.09)
    return condition(model, ExactRows.of(inputs, targets)), targets @ inputs[:, 0] / (inputs[:, 0] @ inputs[:, 0])


@pytest.mark.parametrize("kind", ["sample", "full", "diagonal"])
def test_a_linear_system_spreads_as_it_should(linear_system, kind):
    """Mean a^t x and variance σ² Σ a^2k; a's own uncertainty (.015) and 2000 paths allow 10 %."""
    posterior, slope = linear_system
    window, steps = np.full((1, 1), 1.5), 12
    if kind == "sample":
        bounds = np.array([-10.0]), np.array([10.0])
        paths, out = sample_paths(1, [[posterior]], window[None], np.zeros((steps, 0)), bounds, 2000)
        mean, variance = paths.mean(axis=0)[:, 0], paths.var(axis=0)[:, 0]
        assert not out.any()
    else:
        mean, variance = (x[:, 0] for x in propagate(kind, [posterior], np.array([0.09]), window, np.zeros((steps, 0))))
    powers = slope ** np.arange(steps)
    np.testing.assert_allclose(mean, 1.5 * slope * powers, atol=0.1)
    np.testing.assert_allclose(variance, 0.09 * np.cumsum(powers**2), rtol=0.1)


def test_without_propagation_the_spread_stays(linear_system):
    posterior, _ = linear_system
    _, variance = propagate("none", [posterior], np.array([0.09]), np.full((1, 1), 1.5), np.zeros((20, 0)))
    np.testing.assert_allclose(variance, 0.09, rtol=0.02)


def test_paths_that_run_away_are_held_and_reported():
    inputs = np.linspace(-1, 1, 30)[:, None]
    posterior = condition(ExactModel(Linear(np.array([4.0])), 1e-4), ExactRows.of(inputs, 1.5 * inputs[:, 0]))
    bounds = np.array([-3.0]), np.array([3.0])
    paths, out = sample_paths(0, [[posterior]], np.ones((1, 1, 1)), np.zeros((50, 0)), bounds, 10)
    assert out.all()
    assert np.abs(paths).max() <= 3.0


def test_paths_of_several_pasts_and_outputs():
    """A path follows the window of its own past: x' = a x starting at 1.5 and at -1.5, in turns by group."""
    windows = np.array([[[1.5, 1.5]], [[-1.5, -1.5]]])
    with_both = condition(
        ExactModel(Linear(np.array([1.0, 1e-9])), 1e-6),
        ExactRows.of(np.column_stack([np.linspace(-1, 1, 30), np.zeros(30)]), 0.9 * np.linspace(-1, 1, 30)),
    )
    bounds = np.full(2, -10.0), np.full(2, 10.0)
    paths, _ = sample_paths(0, [[with_both] * 2] * 2, windows, np.zeros((3, 0)), bounds, 40, n_groups=4)
    expected = 1.5 * 0.9 ** np.arange(1, 4)
    signs = np.repeat([1.0, -1.0, 1.0, -1.0], 10)
    np.testing.assert_allclose(paths[:, :, 0], signs[:, None] * expected, atol=0.02)


def test_functions_of_some_lags_see_these_lags():
    """x(t) = 0.9 x(t - 3) without noise: the last three values come again and again, less by a tenth each time."""
    inputs = np.linspace(-1, 1, 30)[:, None]
    posterior = condition(ExactModel(Linear(np.array([1.0])), 1e-8), ExactRows.of(inputs, 0.9 * inputs[:, 0]))
    window, bounds = np.array([[[1.0], [-2.0], [3.0]]]), (np.array([-10.0]), np.array([10.0]))
    paths, _ = sample_paths(0, [[posterior]], window, np.zeros((7, 0)), bounds, 5, np.array([3]))
    expected = np.r_[0.9, -1.8, 2.7, 0.81, -1.62, 2.43, 0.729]
    np.testing.assert_allclose(paths[:, :, 0], np.tile(expected, (5, 1)), atol=2e-3)


def test_all_lags_are_the_default(linear_system):
    posterior, _ = linear_system
    bounds = np.array([-10.0]), np.array([10.0])
    one, other = (
        sample_paths(0, [[posterior]], np.ones((1, 1, 1)), np.zeros((4, 0)), bounds, 8, lags)[0]
        for lags in (None, np.array([1]))
    )
    np.testing.assert_array_equal(one, other)
