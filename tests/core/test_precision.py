"""float64 inside, the caller's configuration untouched. These tests run with JAX's flag at float32."""

import jax
import jax.numpy as jnp
import numpy as np

from semigp.core import RBF, InputBelief, collapsed_bound, fit_posterior, kl_divergence


def problem(random):
    x = random.normal(size=(9, 2))
    return RBF(1.0, np.ones(2)), InputBelief(x, np.full((9, 2), 0.2)), x[:4], random.normal(size=(9, 2)), 0.1


def test_results_are_float64_and_the_flag_stays(random):
    assert not jax.config.jax_enable_x64
    arguments = problem(random)
    bound, kl = collapsed_bound(*arguments), kl_divergence(arguments[1])
    mean, variance = fit_posterior(*arguments).predict(arguments[1])
    for value in (bound, kl, mean, variance, bound - kl):
        assert value.dtype == np.float64
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == jnp.float32
    with jax.enable_x64(True):
        assert collapsed_bound(*arguments) == bound


def test_gradients_under_the_callers_float32(random):
    """Computed in float64 from float32 arguments, handed back as float32. Oracle: the same in float64."""
    kernel, belief, inducing, y, noise = problem(random)

    def bound(z):
        return collapsed_bound(kernel, belief, z, y, noise)

    gradient = jax.grad(bound)(jnp.asarray(inducing, jnp.float32))
    assert gradient.dtype == jnp.float32
    with jax.enable_x64(True):
        exact = jax.grad(bound)(inducing)
    # rounding the inputs to 24 bits moves the gradient by about 1e-7 of its curvature
    np.testing.assert_allclose(gradient, exact, rtol=1e-3, atol=1e-4 * np.abs(exact).max())


def test_integers_and_lists_are_welcome():
    bound = collapsed_bound(RBF(1, [1, 2]), InputBelief([[0, 1], [1, 0]], [[0, 0], [1, 1]]), [[0, 0]], [[1], [2]], 1)
    same = collapsed_bound(
        RBF(1.0, np.array([1.0, 2.0])), InputBelief(np.eye(2)[::-1], np.array([[0.0, 0.0], [1.0, 1.0]])),
        np.zeros((1, 2)), np.array([[1.0], [2.0]]), 1.0,
    )  # fmt: skip
    assert bound == same
