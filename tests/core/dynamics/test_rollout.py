"""Paths. The oracle is the recursion of mean and covariance of a linear system; errors are those of so many paths."""

import numpy as np

from semigp.core.dynamics.rollout import roll
from semigp.core.numerics.precision import in_float64
from tests.core.dynamics.systems import A, B, C, Q, R, certain_model


def test_paths_of_a_known_linear_system(random):
    model, extra = in_float64(lambda: certain_model(None, np.random.default_rng(1)))()
    transition, observation = in_float64(
        lambda: (model.transition.posterior(extra[0], 1e-10), model.observation.posterior(extra[1], 1e-10))
    )()
    first, inputs, count = np.array([1.0, -0.5]), random.normal(size=(5, 1)), 4000
    wide = np.full(2, -100.0), np.full(2, 100.0)
    driving = np.repeat(inputs[:, None], count, axis=1)
    paths = roll(transition, observation, np.tile(first, (count, 1)), driving, wide, random)
    mean, covariance = first, np.zeros((2, 2))
    for t in range(5):
        mean, covariance = A @ mean + B @ inputs[t], A @ covariance @ A.T + Q
        spread = C @ covariance @ C.T + np.diag(R)
        error = 5 * np.sqrt(np.diag(spread) / count)
        assert (np.abs(paths[:, t].mean(axis=0) - C @ mean) < error).all()
        np.testing.assert_allclose(np.cov(paths[:, t].T), spread, atol=5 * spread.max() * np.sqrt(2 / count))


def test_states_are_held_inside_bounds(random):
    model, extra = in_float64(lambda: certain_model(None, np.random.default_rng(1)))()
    transition, observation = in_float64(
        lambda: (model.transition.posterior(extra[0], 1e-10), model.observation.posterior(extra[1], 1e-10))
    )()
    limits = np.zeros(2), np.full(2, 0.1)
    paths = roll(transition, observation, np.zeros((200, 2)), np.ones((3, 200, 1)), limits, random)
    assert np.abs(paths).max() < 0.2 + 5 * np.sqrt(R.max())
