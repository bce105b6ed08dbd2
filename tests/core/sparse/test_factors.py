"""One factorisation. Oracle: dense NumPy, output by output, with no factors shared."""

import jax
import numpy as np
import pytest

from semigp.core.sparse.factors import evidence, factorise, is_resolved
from semigp.core.sparse.statistics import Statistics

pytestmark = pytest.mark.usefixtures("x64")
M, PRECISION = 4, np.array([10.0, 2.0, 0.5])


@pytest.fixture
def problem(random):
    """K_uu, and the statistics of three outputs in two groups of rows."""
    root, rows = random.normal(size=(M, M)), random.normal(size=(2, 9, M))
    y, group = random.normal(size=(9, 3)), np.array([0, 1, 0], np.int32)
    psi2 = np.einsum("gnm,gnk->gmk", rows, rows)
    psi1_y = np.stack([rows[g].T @ y[:, d] for d, g in enumerate(group)], axis=1)
    psi0 = np.full(2, 200.0)
    return root @ root.T + np.eye(M), Statistics(psi0, psi1_y, psi2, np.sum(y**2, axis=0), np.full(3, 9.0), group)


def _dense(gram, statistics):
    total = 0.0
    for d, g in enumerate(statistics.group):
        beta, inner = PRECISION[d], gram + PRECISION[d] * statistics.psi2[g]
        a = statistics.psi1_y[:, d]
        residual = beta * (statistics.y_square[d] - beta * a @ np.linalg.solve(inner, a))
        slack = beta * (statistics.psi0[g] - np.trace(np.linalg.solve(gram, statistics.psi2[g])))
        total += residual + slack + np.linalg.slogdet(inner)[1] - np.linalg.slogdet(gram)[1]
    return -0.5 * total


def test_evidence_and_its_gradient(problem):
    """The value to 1e-11; the gradient to central differences along random directions, 1e-6."""
    gram, statistics = problem
    both = jax.jit(jax.value_and_grad(lambda k, sums: evidence(k, sums, PRECISION, 0.0), (0, 1), allow_int=True))
    value, (to_gram, to_sums) = both(gram, statistics)
    np.testing.assert_allclose(value, _dense(gram, statistics), rtol=1e-11)
    random, step = np.random.default_rng(1), 1e-5
    for _ in range(3):
        half = random.normal(size=(M, M))
        move = half + half.T
        difference = (_dense(gram + step * move, statistics) - _dense(gram - step * move, statistics)) / (2 * step)
        np.testing.assert_allclose(np.sum(to_gram * move), difference, rtol=1e-6)
    np.testing.assert_allclose(to_sums.y_square, -0.5 * PRECISION, rtol=1e-12)
    np.testing.assert_allclose(to_sums.psi0, [-0.5 * 10.5, -0.5 * 2.0], rtol=1e-12)


def test_factors_diagonalise_both_matrices(problem):
    """Tᵀ (K_uu) T = I and Tᵀ Ψ2 T = Λ, group by group; 1e-10."""
    gram, statistics = problem
    factors = jax.jit(factorise)(gram, statistics, 0.0)
    for g in range(2):
        t = np.asarray(factors.directions[g])
        np.testing.assert_allclose(t.T @ gram @ t, np.eye(M), atol=1e-10)
        np.testing.assert_allclose(t.T @ statistics.psi2[g] @ t, np.diag(factors.eigenvalues[g]), atol=1e-10)


def test_what_rounding_has_eaten_is_not_resolved(problem):
    """More explained than there is to explain, by more than a tenth of a nat: ψ0 below tr C."""
    gram, statistics = problem
    factors = factorise(gram, statistics, 0.0)
    assert is_resolved(factors, statistics, PRECISION)
    less = Statistics(np.zeros(2), *(getattr(statistics, n) for n in ("psi1_y", "psi2", "y_square", "counts", "group")))
    assert not is_resolved(factors, less, PRECISION)
    assert np.isnan(evidence(gram, less, PRECISION, 0.0))
