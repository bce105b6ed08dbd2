"""The ψ statistics. Oracle: NumPy's sums over rows, for certain inputs, output by output."""

import jax
import numpy as np
import pytest

from semigp.core import RBF
from semigp.core.sparse.statistics import Block, collect
from semigp.core.sparse.targets import Targets
from tests import oracles

L = np.array([0.8, 1.5])


@pytest.mark.usefixtures("x64")
def test_sums_over_the_rows_that_an_output_has(random):
    """1e-13; in two blocks as in one, and in units of each output."""
    x, z, y = random.normal(size=(9, 2)), random.normal(size=(4, 2)), random.normal(size=(9, 3))
    y[random.random(y.shape) < 0.3] = np.nan
    targets, scale = Targets.of(y), np.array([0.5, 1.0, 2.0])
    parts = tuple(Block(x[some], None, targets.take(some)) for some in (slice(0, 4), slice(4, 9)))
    found = jax.jit(lambda blocks: collect(RBF(1.3, L), z, blocks).in_units_of(scale))(parts)
    k = oracles.gram(oracles.rbf(1.3, L), x, z)
    for d in range(3):
        seen = ~np.isnan(y[:, d])
        group = targets.group[d]
        np.testing.assert_allclose(found.psi0[group], 1.3 * seen.sum(), rtol=1e-13)
        np.testing.assert_allclose(found.psi2[group], k[seen].T @ k[seen], rtol=1e-13)
        np.testing.assert_allclose(found.psi1_y[:, d], k[seen].T @ y[seen, d] / scale[d], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found.y_square[d], np.sum((y[seen, d] / scale[d]) ** 2), rtol=1e-13)
        assert found.counts[d] == seen.sum()
    assert set(found.sums()) == {"psi0", "psi1_y", "psi2", "y_square", "counts"}
