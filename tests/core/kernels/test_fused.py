"""The GPU's sums of exponentials, interpreted on the CPU. The oracle is the plain way, to 1e-13."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.kernels import fused
from semigp.core.kernels.gaussian import exp_sums
from semigp.core.numerics.precision import in_float64


def _problem(n_features, n=300, pairs=210):
    random = np.random.default_rng(n_features)
    rows = 0.3 * random.normal(size=(n, n_features + 2))
    features = 0.3 * random.normal(size=(pairs, n_features + 2))
    rows[:, -1] = features[:, -2] = 1.0
    weights = (random.random((n, 1)) < 0.8).astype(float)
    return rows, features, weights, random.normal(size=(pairs, 1))


# Fewer than a unit of sixteen, one unit, one and some left over, one and many left over, two units.
@pytest.mark.parametrize("n_features", [4, 16, 20, 26, 32])
def test_sums_and_gradient(n_features):
    rows, pairs, weights, gradient = _problem(n_features)

    @in_float64
    @jax.jit
    def plain(rows, pairs, weights, gradient):
        value, pull_back = jax.vjp(lambda r, p: exp_sums(r, p, weights), rows, pairs)
        return value, *pull_back(gradient)

    @in_float64
    @jax.jit
    def on_gpu(rows, pairs, weights, gradient):
        value = fused.exp_sums(rows, pairs, weights, interpret=True)
        return value, *fused.exp_sums_gradient(rows, pairs, weights, gradient, interpret=True)

    value, to_rows, to_pairs = plain(rows, pairs, weights, gradient)
    to_rows[:, -1] = to_pairs[:, -2] = 0.0  # features that are always one have no gradient there
    for found, expected in zip(on_gpu(rows, pairs, weights, gradient), (value, to_rows, to_pairs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_far_rows_do_not_overflow():
    """An exponent of -1e6 is nothing, not garbage in the exponent's bits."""
    rows, pairs, weights, _ = _problem(4)
    rows[:, -2] = -1e6
    found = in_float64(lambda *a: fused.exp_sums(*a, interpret=True))(rows, pairs, weights)
    assert np.all(found >= 0)
    assert np.all(found < 1e-290)


def test_is_not_used_without_a_gpu():
    assert not fused.suits(20, 1) or jnp.zeros(1).device.platform == "gpu"
