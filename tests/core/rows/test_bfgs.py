"""BFGS row by row. Oracle: quadratic functions and Rosenbrock's, whose optima are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.rows.bfgs import descend, improve

pytestmark = pytest.mark.usefixtures("x64")


def _with_gradient(losses):
    def total(free):
        values = losses(free)
        return jnp.sum(values), values

    return jax.value_and_grad(total, has_aux=True)


def _rosenbrock(free):
    return (1.0 - free[:, 0]) ** 2 + 100.0 * (free[:, 1] - free[:, 0] ** 2) ** 2


def test_every_row_finds_its_optimum_whatever_its_company():
    """1e-4 where gradients end below 1e-6 and the smallest curvature is 0.4; alone, to the last digits."""
    starts = np.array([[-1.2, 1.0], [0.0, 0.0], [2.0, -1.0]])
    run = jax.jit(lambda start: descend(_with_gradient(_rosenbrock), start))
    found, losses = run(starts)
    np.testing.assert_allclose(found, 1.0, atol=1e-4)
    np.testing.assert_allclose(losses, 0.0, atol=1e-8)
    np.testing.assert_allclose(run(starts[:1])[0][0], found[0], rtol=1e-12)


def test_a_newton_metric_needs_one_step_and_none_ends_higher(random):
    """½ (x - c)ᵀ A (x - c) with A⁻¹ as first metric; the last row's loss is no number but where it begins."""
    half, centre = random.normal(size=(3, 2, 2)), random.normal(size=(3, 2))
    curvature = half @ np.swapaxes(half, 1, 2) + np.eye(2)
    start = np.zeros((3, 2))

    def losses(free):
        apart = free - centre
        values = 0.5 * jnp.einsum("ni,nij,nj->n", apart, curvature, apart)
        return jnp.where((jnp.arange(3) == 2) & jnp.any(free != 0.0, axis=1), jnp.nan, values)

    run = jax.jit(lambda x: improve(_with_gradient(losses), x, lambda _: jnp.linalg.inv(curvature), 1))
    found = run(start)
    np.testing.assert_allclose(found[:2], centre[:2], atol=1e-12)
    np.testing.assert_array_equal(found[2], start[2])
