"""Row-wise linear algebra against NumPy, at a size at which batched LAPACK calls of jaxlib 0.10 hang on two cores."""

import jax
import numpy as np

from semigp.core.linalg import inverses, log_determinants, solve_rows


def test_rows_one_after_the_other(x64, random):
    half = random.normal(size=(130, 39, 39))
    matrices = half @ np.swapaxes(half, 1, 2) + 39 * np.eye(39)
    right = random.normal(size=(130, 39, 1))

    @jax.jit
    def everything(matrices, right):
        return solve_rows(matrices, right), log_determinants(matrices + 1.0), inverses(matrices)

    for _ in range(20):
        solved, logs, inverted = everything(matrices, right)
    np.testing.assert_allclose(solved, np.linalg.solve(matrices, right), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(logs, np.linalg.slogdet(matrices + 1.0)[1], rtol=1e-12)
    np.testing.assert_allclose(inverted, np.linalg.inv(matrices), rtol=1e-8, atol=1e-12)
