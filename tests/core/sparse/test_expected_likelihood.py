"""E[log p(Y | X, U)]. Oracle: the moments of `predict`, -½ Σ [log 2πσ² + ((y - m)² + v)/σ²]."""

import numpy as np
import pytest

from semigp.core import RBF, InputBelief, fit_posterior
from semigp.core.numerics.precision import in_float64
from semigp.core.sparse.bound import make_blocks
from semigp.core.sparse.expected_likelihood import expected_log_likelihood, row_likelihood, row_terms
from semigp.core.sparse.statistics import collect

KERNEL, NOISE = RBF(1.2, np.array([0.8, 1.5])), np.array([0.1, 0.2, 0.3])


@pytest.fixture(scope="module")
def problem():
    """A posterior of 12 rows, and other rows with uncertain inputs and holes in their outputs."""
    random = np.random.default_rng(0)
    inputs, targets = random.normal(size=(12, 2)), random.normal(size=(12, 3))
    scale = np.array([1.0, 2.0, 0.5])
    q_u = fit_posterior(KERNEL, InputBelief.observed(inputs), inputs[:5], targets, NOISE, 1e-6, scale)
    belief = InputBelief(random.normal(size=(12, 2)), random.uniform(0.1, 0.5, size=(12, 2)))
    new = np.where(random.random((12, 3)) < 0.2, np.nan, random.normal(size=(12, 3)))
    mean, variance = q_u.predict(belief)
    terms = -0.5 * (np.log(2 * np.pi * NOISE) + ((new - mean) ** 2 + variance) / NOISE)
    return q_u, belief, new, terms


def test_all_rows_together(problem):
    q_u, belief, new, terms = problem

    def total(posterior, blocks):
        return expected_log_likelihood(posterior, collect(posterior.kernel, posterior.inducing_inputs, blocks))

    found = in_float64(total)(q_u, make_blocks(belief, new))
    np.testing.assert_allclose(found, np.nansum(terms), rtol=1e-10)


def test_row_by_row(problem):
    """Up to -½ Σ [log 2πσ² + y²/σ²] over the outputs that a row observes."""
    q_u, belief, new, terms = problem
    seen = ~np.isnan(new)

    def rows(posterior, values, seen, mean, variance):
        return row_likelihood(posterior, row_terms(posterior, values, seen, False))(mean, variance)

    found = in_float64(rows)(q_u, np.where(seen, new, 0.0), seen, belief.mean, belief.variance)
    constant = -0.5 * np.nansum(np.where(seen, np.log(2 * np.pi * NOISE) + new**2 / NOISE, 0.0), axis=1)
    np.testing.assert_allclose(found + constant, np.nansum(terms, axis=1), rtol=1e-10)
