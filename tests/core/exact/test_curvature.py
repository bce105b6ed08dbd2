"""Slopes and curvature by inputs and targets. Oracles: the evidence itself, and automatic derivatives in JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.exact.at_points import BumpsAndLines
from semigp.core.exact.curvature import DataEvidence
from semigp.core.exact.evidence import Evidence
from semigp.core.kernels import RBF, Linear
from tests.oracles import exact_log_evidence

KERNEL = BumpsAndLines(0.7, np.array([0.9, 1.6, 3.0]), np.array([0.3, 0.1, 0.01]))


@pytest.fixture
def problem(random):
    inputs = random.normal(size=(15, 3))
    return inputs, np.sin(inputs[:, 0]) + 0.5 * inputs[:, 1]


def evidence(inputs, targets):
    kernel = RBF(KERNEL.amplitude, KERNEL.lengthscales) + Linear(KERNEL.linear)
    return exact_log_evidence(kernel, 0.05, inputs, targets)


def test_value_and_slopes(problem):
    """Two orders of summation: 1e-9."""
    found = DataEvidence(KERNEL, 0.05, *problem)
    assert found.value == pytest.approx(Evidence(*problem)(KERNEL, 0.05)[0], rel=1e-12)
    with jax.enable_x64(True):
        by_inputs, by_targets = jax.jit(jax.grad(evidence, argnums=(0, 1)))(*map(jnp.asarray, problem))
    np.testing.assert_allclose(found.slopes(), by_inputs, atol=1e-9)
    np.testing.assert_allclose(-found.weights, by_targets, atol=1e-9)


@pytest.mark.parametrize("rows", [[2], [2, 3, 4], [2, 14], []])
def test_curvature_along_entries_that_move_together(problem, rows):
    """Products with the Hessian in JAX, in some of the rows: 1e-8."""
    rows, targets, at = np.array(rows, int), np.array([4]), np.array([0, 2, 3, 4, 9])
    columns = np.arange(len(rows)) % 3
    direction = np.zeros((15, 3)), np.zeros(15)
    direction[0][rows, columns], direction[1][targets] = 1.0, 1.0
    slopes, weights = DataEvidence(KERNEL, 0.05, *problem).along(rows, columns, targets, at)
    with jax.enable_x64(True):
        gradient = jax.grad(evidence, argnums=(0, 1))
        moved = lambda data: sum(jnp.sum(g * d) for g, d in zip(gradient(*data), direction, strict=True))  # noqa: E731
        by_inputs, by_targets = jax.jit(jax.grad(moved))(tuple(map(jnp.asarray, problem)))
    np.testing.assert_allclose(slopes, np.asarray(by_inputs)[at], atol=1e-8)
    np.testing.assert_allclose(-weights, by_targets, atol=1e-8)
