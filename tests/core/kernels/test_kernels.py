"""One battery for every kernel. Oracle: composite Gauss-Legendre on a grid, with kernels written again in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from semigp.core import RBF, Bias, Linear, Matern32, Matern52, White
from tests import oracles

pytestmark = pytest.mark.usefixtures("x64")

L = np.array([0.7, 1.9])
V = np.array([0.6, 1.4])
KERNELS = {
    "rbf": (RBF(1.3, L), oracles.rbf(1.3, L)),
    "rbf, one lengthscale": (RBF(1.3, 0.8), oracles.rbf(1.3, 0.8)),
    "rbf on one input": (RBF(1.3, 0.7, dims=(1,)), oracles.rbf(1.3, 0.7, (1,))),
    "linear": (Linear(V), oracles.linear(V)),
    "linear on one input": (Linear(0.5, dims=(1,)), oracles.linear(0.5, (1,))),
    "bias": (Bias(0.4), oracles.bias(0.4)),
    "matern32": (Matern32(1.3, L), oracles.matern32(1.3, L)),
    "matern52": (Matern52(1.3, L), oracles.matern52(1.3, L)),
    "matern32, short lengthscale": (Matern32(1.0, 0.02), oracles.matern32(1.0, 0.02)),
    "rbf + linear": (RBF(1.3, L) + Linear(V), oracles.add(oracles.rbf(1.3, L), oracles.linear(V))),
    "rbf + rbf": (RBF(1.3, L) + RBF(0.5, 3 * L), oracles.add(oracles.rbf(1.3, L), oracles.rbf(0.5, 3 * L))),
    "rbf + linear + bias": (
        RBF(1.3, L) + Linear(V) + Bias(0.4),
        oracles.add(oracles.rbf(1.3, L), oracles.linear(V), oracles.bias(0.4)),
    ),
    "matern32 + rbf": (Matern32(0.9, L) + RBF(1.3, L), oracles.add(oracles.matern32(0.9, L), oracles.rbf(1.3, L))),
    "matern52 + matern32": (
        Matern52(0.9, L) + Matern32(1.1, 0.5),
        oracles.add(oracles.matern52(0.9, L), oracles.matern32(1.1, 0.5)),
    ),
    "matern52 + linear": (Matern52(0.9, L) + Linear(V), oracles.add(oracles.matern52(0.9, L), oracles.linear(V))),
    "rbf × matern32": (
        RBF(1.3, 0.7, dims=(0,)) * Matern32(0.8, 1.2, dims=(1,)),
        oracles.multiply(oracles.rbf(1.3, 0.7, (0,)), oracles.matern32(0.8, 1.2, (1,))),
    ),
    "linear × rbf": (
        Linear(0.5, dims=(0,)) * RBF(1.3, 0.7, dims=(1,)),
        oracles.multiply(oracles.linear(0.5, (0,)), oracles.rbf(1.3, 0.7, (1,))),
    ),
    "linear × rbf + rbf": (
        Linear(0.5, dims=(0,)) * RBF(1.3, 0.7, dims=(1,)) + RBF(0.6, L),
        oracles.add(
            oracles.multiply(oracles.linear(0.5, (0,)), oracles.rbf(1.3, 0.7, (1,))), oracles.rbf(0.6, L)
        ),
    ),
}  # fmt: skip
SMOOTH = [name for name in KERNELS if "matern" not in name and "×" not in name]

MEAN = np.array([[0.3, -0.8], [1.5, 0.2], [-0.4, 0.1], [0.9, 2.0]])
# independent entries: both uncertain, one observed (a Dirac), both observed
VARIANCE = np.array([[0.5, 1.2], [0.0, 0.3], [0.04, 0.0], [0.0, 0.0]])
INDUCING = np.array([[0.0, 0.0], [1.0, -1.0], [-0.5, 0.7]])


@pytest.mark.parametrize("name", KERNELS)
def test_expectations(name):
    kernel, slow = KERNELS[name]
    psi0, psi1 = kernel.psi0(MEAN, VARIANCE), kernel.psi1(MEAN, VARIANCE, INDUCING)
    centred, psi2 = kernel.psi1_centred(MEAN, VARIANCE, INDUCING), kernel.psi2_rows(MEAN, VARIANCE, INDUCING)
    for n in range(len(MEAN)):
        expected = oracles.expectations(slow, *oracles.grid(MEAN[n], VARIANCE[n], INDUCING), INDUCING)
        for value, wanted in zip((psi0[n], psi1[n], centred[n], psi2[n]), expected, strict=True):
            # the grid and our own rules are both good to about 1e-13 of the largest value
            np.testing.assert_allclose(value, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_expectations_with_full_covariance(name, random):
    kernel, slow = KERNELS[name]
    root = random.normal(size=(2, 2, 2))
    covariance = 0.3 * root @ np.swapaxes(root, 1, 2) + 0.05 * np.eye(2)
    mean = MEAN[:2]
    psi0, psi1 = kernel.psi0(mean, covariance), kernel.psi1(mean, covariance, INDUCING)
    centred, psi2 = kernel.psi1_centred(mean, covariance, INDUCING), kernel.psi2_rows(mean, covariance, INDUCING)
    for n in range(2):
        expected = oracles.expectations(slow, *oracles.hermite_grid(mean[n], covariance[n]), INDUCING)
        for value, wanted in zip((psi0[n], psi1[n], centred[n], psi2[n]), expected, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-8, atol=1e-9)  # 60 Gauss-Hermite nodes: 1e-10


@pytest.mark.parametrize("name", SMOOTH)
def test_diagonal_covariance_is_the_independent_case(name):
    kernel, _ = KERNELS[name]
    full = np.array([np.diag(v) for v in VARIANCE])
    for method in (kernel.psi1, kernel.psi1_centred, kernel.psi2_rows):
        np.testing.assert_allclose(
            method(MEAN, full, INDUCING), method(MEAN, VARIANCE, INDUCING), rtol=1e-12, atol=1e-14
        )


@pytest.mark.parametrize("name", KERNELS)
def test_certain_inputs(name):
    """Diracs give the kernel itself, to rounding."""
    kernel, slow = KERNELS[name]
    expected, certain = oracles.gram(slow, MEAN, INDUCING), np.zeros_like(MEAN)
    np.testing.assert_allclose(kernel.cross(MEAN, INDUCING), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(kernel.psi1(MEAN, certain, INDUCING), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(kernel.diag(MEAN), slow(MEAN, MEAN), rtol=1e-13)
    np.testing.assert_allclose(kernel.gram(INDUCING), oracles.gram(slow, INDUCING, INDUCING), rtol=1e-13, atol=1e-15)
    assert np.all(np.asarray(kernel.psi1_centred(MEAN, certain, INDUCING)) == 0)


@pytest.mark.parametrize("name", KERNELS)
def test_psi2_sums_rows_by_group(name, random):
    kernel, _ = KERNELS[name]
    weights = (random.random((len(MEAN), 3)) < 0.6).astype(float)
    expected = np.einsum("ng,nmk->gmk", weights, kernel.psi2_rows(MEAN, VARIANCE, INDUCING))
    np.testing.assert_allclose(kernel.psi2(MEAN, VARIANCE, INDUCING, weights), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_gradients(name, random):
    """Oracle: central differences, whose error at step 1e-5 is about 1e-9 of the values."""
    kernel, _ = KERNELS[name]
    weights = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    mix_1, mix_2 = random.normal(size=(3, 3)), random.normal(size=(2, 3, 3))

    def value(kernel, mean, variance, inducing):
        psi2 = kernel.psi2(mean, variance, inducing, weights)
        psi1 = kernel.psi1(mean, variance, inducing)
        return jnp.sum(mix_2 * psi2) + jnp.sum(mix_1 * psi1) + jnp.sum(kernel.psi0(mean, variance))

    arguments = jax.tree.map(jnp.asarray, (kernel, MEAN[:3], np.array([[0.5, 1.2], [0.1, 0.3], [0.4, 0.7]]), INDUCING))
    flat, unravel = ravel_pytree(arguments)
    gradient = jax.grad(lambda v: value(*unravel(v)))(flat)
    slow = jax.jit(lambda v: value(*unravel(v)))
    step = 1e-5
    for i in range(len(flat)):
        move = step * np.eye(len(flat))[i]
        difference = (slow(flat + move) - slow(flat - move)) / (2 * step)
        np.testing.assert_allclose(gradient[i], difference, rtol=1e-6, atol=1e-7)


def test_white_is_noise():
    kernel = RBF(1.3, L) + White(0.2)
    plain = RBF(1.3, L)
    np.testing.assert_allclose(kernel.psi0(MEAN, VARIANCE), plain.psi0(MEAN, VARIANCE) + 0.2)
    np.testing.assert_allclose(kernel.psi1(MEAN, VARIANCE, INDUCING), plain.psi1(MEAN, VARIANCE, INDUCING))
    one = np.ones((len(MEAN), 1))
    np.testing.assert_allclose(kernel.psi2(MEAN, VARIANCE, INDUCING, one), plain.psi2(MEAN, VARIANCE, INDUCING, one))
    np.testing.assert_allclose(kernel.gram(INDUCING), plain.gram(INDUCING) + 0.2 * np.eye(3))


@pytest.mark.parametrize("name", KERNELS)
def test_random_features_have_the_kernel_as_mean_product(name):
    """Oracle: the kernel. The mean of f independent products has a standard error of at most 2 k_max/√f."""
    kernel, slow = KERNELS[name]
    points, n_features = INDUCING, 200_000
    features = kernel.feature_map(jax.random.key(0), n_features, 2)(points)
    expected = oracles.gram(slow, points, points)
    error = 5 * 2 * np.abs(expected).max() / np.sqrt(n_features)
    np.testing.assert_allclose(features @ features.T, expected, atol=error)


def test_only_exact_expectations_are_offered():
    with pytest.raises(ValueError, match=r"inputs \[0\] appear in more than one factor"):
        RBF(1.0, 1.0, dims=(0,)) * Matern32(1.0, 1.0, dims=(0,))
    with pytest.raises(ValueError, match=r"cannot be a factor. Factors are RBF, Matern32 and Matern52 with dims"):
        RBF(1.0, 1.0) * Linear(1.0, dims=(0,))
    with pytest.raises(ValueError, match="full input covariance needs a kernel that is Gaussian"):
        Matern32(1.0, L).psi1(MEAN[:1], np.eye(2)[None], INDUCING)
    with pytest.raises(TypeError, match="3 cannot be part of a sum"):
        RBF(1.0, 1.0) + 3
    with pytest.raises(ValueError, match="White noise cannot be drawn as a smooth function"):
        (RBF(1.0, 1.0) + White(1.0)).feature_map(jax.random.key(0), 10, 2)


def test_gram_is_exact_at_any_scale():
    """Points a lengthscale apart, ten billion lengthscales from the next pair."""
    points = np.array([[0.0], [1.0], [1e10]])
    expected = np.array([[1.0, np.exp(-0.5), 0.0], [np.exp(-0.5), 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(RBF(1.0, 1.0).gram(points), expected, rtol=1e-15)


def test_dims_and_sums_as_people_write_them():
    assert RBF(1.0, 1.0, dims=1).dims == (1,)
    assert RBF(1.0, 1.0, dims=[0, 1]).dims == (0, 1)
    np.testing.assert_array_equal(
        sum([RBF(1.0, 1.0), Bias(1.0)]).gram(INDUCING), (RBF(1.0, 1.0) + Bias(1.0)).gram(INDUCING)
    )
