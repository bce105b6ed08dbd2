"""Expectations of kernels with a kink. Oracle: SciPy's adaptive quadrature, split at the kinks."""

import itertools

import jax
import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from semigp.core.kernels import quadrature

pytestmark = pytest.mark.usefixtures("x64")
Z_1, Z_2 = np.array([0.0, 0.4, -1.0]), np.array([0.3, 0.4, 5.0])
MEAN, VARIANCE = np.array([[0.2]]), np.array([[0.6]])


def _matern32(x, z):
    a = np.sqrt(3) * np.abs(x - z) / 0.7
    return (1 + a) * np.exp(-a)


@pytest.mark.parametrize("centred", [False, True])
def test_a_matern_factor_times_a_linear_one(centred):
    """To 1e-10, what SciPy promises."""
    found = jax.jit(
        lambda z_1, z_2: quadrature.expectation(
            quadrature.matern32(0.7), z_1, quadrature.LINEAR, z_2, MEAN, VARIANCE, centred
        )
    )(Z_1, Z_2)
    density = scipy.stats.norm(0.2, np.sqrt(0.6)).pdf
    for z_1, z_2, value in zip(Z_1, Z_2, found[0], strict=True):
        integrand = lambda x, z_1=z_1, z_2=z_2: (  # noqa: E731
            (x - 0.2 if centred else 1.0) * _matern32(x, z_1) * x * z_2 * density(x)
        )
        breaks = [-8.0, z_1, 8.0]
        expected = sum(
            scipy.integrate.quad(integrand, low, high, epsabs=1e-12)[0] for low, high in itertools.pairwise(breaks)
        )
        np.testing.assert_allclose(value, expected, atol=1e-10)


def test_a_dirac_is_the_product_itself():
    factors = quadrature.matern32(0.7), Z_1, quadrature.CONSTANT, Z_2
    found = quadrature.expectation(*factors, MEAN, np.zeros((1, 1)))
    np.testing.assert_allclose(found[0], _matern32(0.2, Z_1), rtol=1e-14)
    np.testing.assert_array_equal(quadrature.expectation(*factors, MEAN, np.zeros((1, 1)), True), 0.0)


def test_nothing_is_left_beyond_the_reach():
    """Of 1e-19, which is why the pieces end there."""
    for factor in (quadrature.matern32(0.7), quadrature.matern52(0.7)):
        assert float(factor.value(np.array(factor.reach), np.array(0.0))) < 1e-19
