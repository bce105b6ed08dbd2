"""A function of the past. Oracles: one-step predictive densities of a GP, one row after the other."""

import numpy as np
from scipy.stats import norm

from semigp.core.exact.evidence import NOISE_FLOOR
from semigp.core.exact.gp import ExactModel
from semigp.core.exact.windows import window_table
from semigp.core.kernels import RBF, Linear
from semigp.estimators.forecasting.priors import Past

LAGS = np.array([4, 1])


def _past(q=2):
    kernel = RBF(1.0, np.full(q, 2.0)) + Linear(np.full(q, 0.2))
    return Past([ExactModel(kernel, 0.1)], LAGS)


def test_log_densities_are_those_of_one_step_after_the_other(random):
    """Row by row: condition on the rows before, and take the density of the next target, noise included."""
    values = random.normal(size=(12, 1))
    inputs, targets = window_table(values, np.zeros((12, 0)), LAGS)
    squares = np.sum((inputs[:, None] - inputs) ** 2, axis=2) / 2.0**2
    A = np.exp(-0.5 * squares) + 0.2 * inputs @ inputs.T + (0.1 + NOISE_FLOOR) * np.eye(8)
    expected = []
    for row in range(8):
        gain = np.linalg.solve(A[:row, :row], A[:row, row])
        spread = np.sqrt(A[row, row] - gain @ A[:row, row])
        expected.append(norm.logpdf(targets[row, 0], gain @ targets[:row, 0], spread))
    found = _past().log_densities(values, np.zeros((12, 0)))
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9)


def test_paths_follow_a_law_of_two_lags():
    """x(t) = x(t - 4) without noise: the last four values again and again, to 1 % of their size."""
    values = np.tile([1.0, -1.0, 0.5, 2.0], 15)[:, None] + 0.001 * np.random.default_rng(0).normal(size=(60, 1))
    kernel = RBF(1e-6, np.full(2, 1e3)) + Linear(np.array([1.0, 1e-6]))
    prior = Past([ExactModel(kernel, 1e-6)], LAGS)
    paths, ran_out = prior.paths(values, np.zeros((68, 0)), 20, 0)
    np.testing.assert_allclose(paths[:, :, 0], np.tile([1.0, -1.0, 0.5, 2.0] * 2, (20, 1)), atol=0.02)
    assert not ran_out.any()
