"""Kernels in NumPy. Oracle: the same kernels in JAX."""

import jax
import numpy as np
import pytest

from semigp.core.exact.in_numpy import bumps_and_lines, with_slopes
from semigp.core.kernels import RBF, Bias, Linear
from semigp.core.numerics.precision import in_float64


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.7, np.array([0.9, 1.6])), Linear(0.3), RBF(0.7, 2.0) + Linear(np.array([0.3, 0.1])), Linear(0.3) + RBF(2.0)],
)
def test_the_same_covariances(kernel, random):
    """Two orders of summation: 1e-12."""
    left, right = random.normal(size=(5, 2)), random.normal(size=(4, 2))
    expected = in_float64(jax.jit(kernel.cross))(left, right)
    np.testing.assert_allclose(bumps_and_lines(kernel, 2)(left, right), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", [RBF() + Bias(), RBF() + RBF(), RBF(1.0, 1.0, dims=(0,))])
def test_other_kernels_are_refused(kernel):
    with pytest.raises(TypeError, match="is not an RBF kernel, a linear kernel, or the sum of both"):
        bumps_and_lines(kernel, 2)


def test_slopes_stand_where_the_parameters_do():
    slopes = 1.0, np.array([2.0, 3.0]), np.array([4.0, 5.0])
    found = with_slopes(RBF(0.7, 2.0) + Linear(np.array([0.3, 0.1])), *slopes)
    rbf, linear = found.kernels
    assert (rbf.variance, rbf.lengthscale) == (1.0, 5.0)  # one lengthscale for both inputs
    np.testing.assert_array_equal(linear.variances, [4.0, 5.0])
