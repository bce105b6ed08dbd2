"""The sums of exponentials under ψ2."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.kernels.gaussian import exp_products, exp_sums

pytestmark = pytest.mark.usefixtures("x64")


@pytest.mark.parametrize("n_groups", [1, 3])
def test_exp_sums_and_gradient(random, n_groups):
    """Oracle: the same with jnp.exp, differentiated by JAX."""
    rows, pairs = random.normal(size=(7, 4)), random.normal(size=(11, 4))
    weights = (random.random((7, n_groups)) < 0.5).astype(float)
    mix = random.normal(size=(11, n_groups))

    def value(sums):
        return lambda rows, pairs: jnp.sum(mix * sums(rows, pairs))

    ours = jax.jit(jax.value_and_grad(value(lambda r, p: exp_sums(r, p, weights)), argnums=(0, 1)))(rows, pairs)
    slow = jax.jit(jax.value_and_grad(value(lambda r, p: jnp.exp(p @ r.T) @ weights), argnums=(0, 1)))(rows, pairs)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), ours, slow)


def test_exp_products_gradient(random):
    left, right = random.normal(size=(5, 3)), random.normal(size=(4, 3))
    mix = random.normal(size=(5, 4))
    ours = jax.jit(jax.grad(lambda a, b: jnp.sum(mix * exp_products(a, b)), argnums=(0, 1)))(left, right)
    slow = jax.jit(jax.grad(lambda a, b: jnp.sum(mix * jnp.exp(a @ b.T)), argnums=(0, 1)))(left, right)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), ours, slow)
