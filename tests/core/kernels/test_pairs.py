"""Lists of pairs of points. Oracle: NumPy's indices, and JAX's gradients of plain indexing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.kernels.pairs import Diagonal, Grid, Triangle

pytestmark = pytest.mark.usefixtures("x64")
M = 4
PAIRS = {Diagonal: (np.arange(M), np.arange(M)), Grid: np.indices((M, M)).reshape(2, -1), Triangle: np.tril_indices(M)}


@pytest.mark.parametrize("kind", PAIRS)
def test_lists_and_their_gradients(random, kind):
    """Sums and entries of the same pairs, to the last digit; gradients to rounding."""
    first, second, table = random.normal(size=(M, 3)), random.normal(size=(M, 3)), random.normal(size=(M, M))
    row, column = PAIRS[kind]
    mix = random.normal(size=(len(row), 3))

    def value(add, entries):
        return lambda a, b, t: jnp.sum(mix * add(a, b)) + jnp.sum(mix[:, 0] * entries(t))

    np.testing.assert_array_equal(kind().add(first, second), first[row] + second[column])
    np.testing.assert_array_equal(kind().entries(table), table[row, column])
    found, expected = (
        jax.jit(jax.grad(value(*functions), argnums=(0, 1, 2)))(first, second, table)
        for functions in ((kind().add, kind().entries), (lambda a, b: a[row] + b[column], lambda t: t[row, column]))
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14), found, expected)


@pytest.mark.parametrize("kind", [Grid, Triangle])
def test_tables_undo_entries(random, kind):
    """Of symmetric tables, which are all that a triangle can hold; and so does the gradient."""
    half = random.normal(size=(2, M, M))
    tables = half + np.swapaxes(half, 1, 2)
    lists = np.stack([kind().entries(table) for table in tables])
    np.testing.assert_array_equal(kind().tables(lists, M), tables)
    mix = half + 1.0
    gradient = jax.jit(jax.grad(lambda lists: jnp.sum(mix * kind().tables(lists, M))))(lists)
    row, column = PAIRS[kind]
    both = mix + np.where(np.eye(M, dtype=bool), 0.0, np.swapaxes(mix, 1, 2)) if kind is Triangle else mix
    np.testing.assert_allclose(gradient, both[:, row, column], rtol=1e-14)
