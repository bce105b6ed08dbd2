"""The loss of a row's q(x). Oracle: KL and E[log p(y | x, U)] of one row at a time, by the public functions."""

import numpy as np
import pytest

from semigp.core import RBF, GaussianPrior, InputBelief, fit_posterior, kl_divergence
from semigp.core.numerics.precision import in_float64
from semigp.core.rows.losses import IncompleteRows, row_losses, with_gradients
from semigp.core.sparse.targets import Targets

PRIOR = GaussianPrior(np.array([0.2, -0.1]), np.array([[1.0, 0.4], [0.4, 0.8]]))
NOISE = 0.1


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(10, 2)), random.normal(size=(10, 1))
    q_u = fit_posterior(RBF(1.0, np.array([1.0, 1.5])), InputBelief.observed(x), x[:5], y, NOISE)
    inputs = np.array([[np.nan, 0.5], [np.nan, np.nan], [0.3, np.nan]])
    unknown, outputs = np.isnan(inputs), random.normal(size=(3, 1))
    rows = IncompleteRows(np.where(unknown, 0.0, inputs), unknown, Targets.of(outputs))
    free = np.concatenate([random.normal(size=(3, 2)), np.log(random.uniform(0.2, 0.6, size=(3, 2)))], axis=1)
    return q_u, rows, outputs, free


def _loss(posterior, rows, prior, free):
    return row_losses(posterior, rows, prior.for_rows(rows.values, rows.unknown), True)(free)


def test_row_by_row(problem):
    """Up to ½ (log 2πσ² + y²/σ²), which depends on the output alone."""
    q_u, rows, outputs, free = problem
    found = in_float64(_loss)(q_u, rows, PRIOR, free)
    mean, variance = (np.asarray(part) for part in in_float64(IncompleteRows.moments)(rows, free))
    for n in range(3):
        belief = InputBelief(mean[n : n + 1], variance[n : n + 1])
        m, v = q_u.predict(belief)
        likelihood = -0.5 * (np.log(2 * np.pi * NOISE) + ((outputs[n] - m) ** 2 + v) / NOISE)
        constant = -0.5 * (np.log(2 * np.pi * NOISE) + outputs[n] ** 2 / NOISE)
        expected = kl_divergence(belief, PRIOR) - float((likelihood - constant).squeeze())
        np.testing.assert_allclose(found[n], expected, rtol=1e-9)


def test_gradients_are_each_row_s_own(problem):
    """Known entries have none; the others agree with central differences to 1e-6."""
    q_u, rows, _, free = problem

    def both(posterior, rows, prior, free):
        losses = row_losses(posterior, rows, prior.for_rows(rows.values, rows.unknown), True)
        return with_gradients(losses)(free)

    (total, losses), gradients = in_float64(both)(q_u, rows, PRIOR, free)
    np.testing.assert_allclose(total, np.sum(losses))
    known = np.concatenate([~rows.unknown, ~rows.unknown], axis=1)
    assert np.all(gradients[known] == 0)
    step = 1e-5 * np.eye(4)[0]  # the first mean, unknown in rows 0 and 1
    up, down = (in_float64(_loss)(q_u, rows, PRIOR, free + sign * step) for sign in (1.0, -1.0))
    np.testing.assert_allclose(gradients[:, 0], (up - down) / 2e-5, atol=1e-6)
