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


def test_concrete_arguments_keep_their_digits_in_a_float32_trace(random):
    """Only the jitter is traced, and 2^-20 has no digits to lose: the bound is the exact one, rounded to float32."""
    arguments = problem(random)
    traced = jax.jit(lambda jitter: collapsed_bound(*arguments, jitter))(jnp.float32(2.0**-20))
    assert traced == np.float32(collapsed_bound(*arguments, 2.0**-20))


def test_arithmetic_on_results_in_a_float32_trace_warns_of_nothing(random):
    kernel, belief, inducing, y, noise = problem(random)
    value, gradient = jax.value_and_grad(lambda s: 2.0 * collapsed_bound(kernel, belief, inducing, y, s) - 1.0)(noise)
    assert np.isfinite(value)
    assert np.isfinite(gradient)
