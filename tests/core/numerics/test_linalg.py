"""Many small matrices at once, against NumPy and LAPACK's derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.numerics.linalg import inverses


@pytest.mark.parametrize("q", [1, 3, 39])
def test_inverses(x64, random, q):
    """Condition numbers up to 1e10, also in units of 1e-3 to 1e3. Rounding may cost 1e-6 of the largest entry."""
    half = random.normal(size=(130, q, q)) * np.logspace(0, -4, q)
    matrices = half @ np.swapaxes(half, 1, 2) + 1e-8 * np.eye(q)
    expected, scale = np.linalg.inv(matrices), np.logspace(-3, 3, q)
    for unit in (1.0, scale):  # D
        found, logs = jax.jit(inverses)(matrices * unit / np.reshape(unit, (-1, 1)))
        error = np.abs(found * np.reshape(unit, (-1, 1)) / unit - expected).max(axis=(1, 2))
        assert np.all(error < 1e-5 * np.abs(expected).max(axis=(1, 2)))
        np.testing.assert_allclose(logs, np.linalg.slogdet(matrices)[1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("size", [1e-14, 1e14])
def test_small_and_large_matrices(x64, random, size):
    """The inverse is as exact as that of a matrix of ordinary size."""
    half = random.normal(size=(20, 3, 3))
    matrices = half @ np.swapaxes(half, 1, 2) + np.eye(3)
    found, logs = jax.jit(inverses)(size * matrices)
    np.testing.assert_allclose(size * found, np.linalg.inv(matrices), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(logs, np.linalg.slogdet(size * matrices)[1], rtol=1e-12)


def test_derivatives(x64, random):
    """Backwards, to 1e-10 of those of LAPACK's routines one after the other."""
    half = random.normal(size=(7, 4, 4))
    matrices, weights = half @ np.swapaxes(half, 1, 2) + np.eye(4), random.normal(size=(7, 4, 4))

    def ours(matrices):
        inverse, logs = inverses(matrices)
        return jnp.sum(weights * inverse) + jnp.sum(logs**2)

    def theirs(matrices):
        inverse = jax.lax.map(jnp.linalg.inv, matrices)
        return jnp.sum(weights * inverse) + jnp.sum(
            jax.lax.map(lambda each: jnp.linalg.slogdet(each)[1], matrices) ** 2
        )

    found, expected = jax.jit(jax.grad(ours))(matrices), jax.jit(jax.grad(theirs))(matrices)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
