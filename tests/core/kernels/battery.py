"""One battery for every kernel. Oracle: composite Gauss-Legendre on a grid, with kernels written again in NumPy.

A module of tests has its kernels in KERNELS, by name, each with its oracle, and `class TestBattery(Battery)`. What
tests ask of a kernel at once is one program: else every operation of JAX's would be compiled by itself.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from tests import oracles

L = np.array([0.7, 1.9])
V = np.array([0.6, 1.4])
MEAN = np.array([[0.3, -0.8], [1.5, 0.2], [-0.4, 0.1], [0.9, 2.0]])
# independent entries: both uncertain, one observed (a Dirac), both observed
VARIANCE = np.array([[0.5, 1.2], [0.0, 0.3], [0.04, 0.0], [0.0, 0.0]])
INDUCING = np.array([[0.0, 0.0], [1.0, -1.0], [-0.5, 0.7]])
_N_FEATURES = 200_000


@jax.jit
def _expectations(kernel, mean, variance, inducing):
    return (
        kernel.psi0(mean, variance),
        kernel.psi1(mean, variance, inducing),
        kernel.psi1_centred(mean, variance, inducing),
        kernel.psi2_rows(mean, variance, inducing),
    )


@jax.jit
def _at_certain_inputs(kernel, mean, inducing):
    certain = jnp.zeros_like(mean)
    return {
        "cross": kernel.cross(mean, inducing),
        "psi1": kernel.psi1(mean, certain, inducing),
        "diag": kernel.diag(mean),
        "gram": kernel.gram(inducing),
        "centred": kernel.psi1_centred(mean, certain, inducing),
    }


@jax.jit
def _feature_products(kernel, key, points):
    features = kernel.feature_map(key, _N_FEATURES, points.shape[1])(points)
    return features @ features.T


@pytest.mark.usefixtures("x64")
class Battery:
    """What every kernel must do. `gaussian` are those that know full covariances."""

    def test_expectations(self, pair):
        kernel, slow = pair
        found = _expectations(kernel, MEAN, VARIANCE, INDUCING)
        for n in range(len(MEAN)):
            expected = oracles.expectations(slow, *oracles.grid(MEAN[n], VARIANCE[n], INDUCING), INDUCING)
            for value, wanted in zip(found, expected, strict=True):
                # the grid and our own rules are both good to about 1e-13 of the largest value
                np.testing.assert_allclose(value[n], wanted, rtol=1e-11, atol=1e-12)

    def test_expectations_with_full_covariance(self, gaussian, random):
        kernel, slow = gaussian
        root = random.normal(size=(4, 2, 2))
        covariance = 0.3 * root @ np.swapaxes(root, 1, 2) + 0.05 * np.eye(2)
        found = _expectations(kernel, MEAN, covariance, INDUCING)
        for n in range(2):
            expected = oracles.expectations(slow, *oracles.hermite_grid(MEAN[n], covariance[n]), INDUCING)
            for value, wanted in zip(found, expected, strict=True):
                np.testing.assert_allclose(value[n], wanted, rtol=1e-8, atol=1e-9)  # 60 Gauss-Hermite nodes: 1e-10

    def test_diagonal_covariance_is_the_independent_case(self, gaussian):
        kernel, _ = gaussian
        full = np.array([np.diag(v) for v in VARIANCE])
        found, expected = (_expectations(kernel, MEAN, variance, INDUCING)[1:] for variance in (full, VARIANCE))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)

    def test_certain_inputs(self, pair):
        """Diracs give the kernel itself, to rounding."""
        kernel, slow = pair
        found, expected = _at_certain_inputs(kernel, MEAN, INDUCING), oracles.gram(slow, MEAN, INDUCING)
        np.testing.assert_allclose(found["cross"], expected, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(found["psi1"], expected, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(found["diag"], slow(MEAN, MEAN), rtol=1e-13)
        np.testing.assert_allclose(found["gram"], oracles.gram(slow, INDUCING, INDUCING), rtol=1e-13, atol=1e-15)
        assert np.all(np.asarray(found["centred"]) == 0)

    def test_psi2_sums_rows_by_group(self, pair, random):
        kernel, _ = pair
        weights = (random.random((len(MEAN), 3)) < 0.6).astype(float)
        rows = _expectations(kernel, MEAN, VARIANCE, INDUCING)[3]
        found = jax.jit(lambda kernel, *rest: kernel.psi2(*rest))(kernel, MEAN, VARIANCE, INDUCING, weights)
        np.testing.assert_allclose(found, np.einsum("ng,nmk->gmk", weights, rows), rtol=1e-12, atol=1e-14)

    def test_gradients(self, pair, random):
        """Oracle: central differences, whose error at step 1e-5 is about 1e-9 of the values."""
        kernel, _ = pair
        weights = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        mix_1, mix_2 = random.normal(size=(3, 3)), random.normal(size=(2, 3, 3))

        def value(kernel, mean, variance, inducing):
            psi2 = kernel.psi2(mean, variance, inducing, weights)
            psi1 = kernel.psi1(mean, variance, inducing)
            return jnp.sum(mix_2 * psi2) + jnp.sum(mix_1 * psi1) + jnp.sum(kernel.psi0(mean, variance))

        variance = np.array([[0.5, 1.2], [0.1, 0.3], [0.4, 0.7]])
        flat, unravel = ravel_pytree(jax.tree.map(jnp.asarray, (kernel, MEAN[:3], variance, INDUCING)))
        differentiate = jax.grad(lambda v: value(*unravel(v)))
        # Operation by operation for Matérn kernels, whose gradient takes half a minute to compile as one program.
        gradient = (differentiate if "Matern" in repr(kernel) else jax.jit(differentiate))(flat)
        slow = jax.jit(lambda v: value(*unravel(v)))
        step = 1e-5
        for i in range(len(flat)):
            move = step * np.eye(len(flat))[i]
            difference = (slow(flat + move) - slow(flat - move)) / (2 * step)
            np.testing.assert_allclose(gradient[i], difference, rtol=1e-6, atol=1e-7)

    def test_random_features_have_the_kernel_as_mean_product(self, pair):
        """Oracle: the kernel. The mean of f independent products has a standard error of at most 2 k_max/√f."""
        kernel, slow = pair
        expected = oracles.gram(slow, INDUCING, INDUCING)
        error = 5 * 2 * np.abs(expected).max() / np.sqrt(_N_FEATURES)
        np.testing.assert_allclose(_feature_products(kernel, jax.random.key(0), INDUCING), expected, atol=error)
