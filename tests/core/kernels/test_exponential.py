"""2^x in float64."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy.special import iv

from semigp.core.kernels.exponential import EXP2_COEFFICIENTS, exp2

pytestmark = pytest.mark.usefixtures("x64")


def test_exp2_to_the_last_digits():
    """Oracle: NumPy's exp2, good to half a unit in the last place; ours to two of them."""
    x = np.concatenate([np.linspace(-1021, 1023, 200_001), np.linspace(-1, 1, 200_001)])
    np.testing.assert_allclose(exp2(x), np.exp2(x), rtol=2 * np.finfo(float).eps)


def test_exp2_outside_of_its_range():
    np.testing.assert_array_equal(exp2(np.array([-1e300, -np.inf])), 2.0**-1022)
    assert np.isnan(exp2(jnp.nan))


def test_exp2_coefficients():
    """Oracle: the Chebyshev series of 2^(t/2), whose coefficients are 2 I_k(½ log 2)."""
    series = 2 * iv(np.arange(len(EXP2_COEFFICIENTS)), np.log(2) / 2)
    series[0] /= 2
    powers = chebyshev.cheb2poly(series) * 2.0 ** np.arange(len(EXP2_COEFFICIENTS))
    np.testing.assert_allclose(EXP2_COEFFICIENTS, powers, rtol=1e-5)  # the conversion in float64 loses the last ones
    np.testing.assert_allclose(EXP2_COEFFICIENTS[:6], powers[:6], rtol=1e-12)
