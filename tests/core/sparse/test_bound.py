"""The collapsed bound. Oracles: dense formulas, the exact GP, finite differences, and equivalences between cases."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from semigp.core import RBF, InputBelief, Linear, Matern32, collapsed_bound, fit_posterior, kl_divergence
from semigp.core.numerics import chunks
from semigp.core.sparse.bound import make_blocks
from semigp.core.sparse.statistics import collect
from tests import oracles

KERNEL, SLOW = RBF(1.3, np.array([0.8, 1.5])), oracles.rbf(1.3, np.array([0.8, 1.5]))


@pytest.fixture
def problem(random):
    n, m, p = 25, 6, 3
    mean, inducing = random.normal(size=(n, 2)), random.normal(size=(m, 2))
    variance = np.where(random.random((n, 2)) < 0.5, 0.0, random.uniform(0.1, 1, (n, 2)))
    return InputBelief(mean, variance), inducing, random.normal(size=(n, p))


def by_quadrature(belief, inducing, slow=SLOW):
    """ψ0, ψ1 and Ψ2 of every row, and K_uu, with nothing shared with the engine."""
    rows = [oracles.grid(*row, inducing) for row in zip(belief.mean, belief.variance, strict=True)]
    psi0, psi1, _, psi2 = zip(*(oracles.expectations(slow, *row, inducing) for row in rows), strict=True)
    return np.array(psi0), np.array(psi1), np.array(psi2), oracles.gram(slow, inducing, inducing)


def dense(statistics, y, noise_variance, jitter=1e-6):
    """The bound of one output, NaN where not observed, from statistics by quadrature."""
    psi0, psi1, psi2, k_uu = statistics
    seen = ~np.isnan(y)
    k_uu = k_uu + jitter * np.mean(np.diagonal(k_uu)) * np.eye(len(k_uu))
    return oracles.dense_bound(psi0[seen].sum(), psi1[seen], psi2[seen].sum(0), k_uu, y[seen], noise_variance)


def test_dense_formula_with_noise_per_output(problem):
    belief, inducing, y = problem
    noise, statistics = np.array([0.1, 0.02, 0.5]), by_quadrature(belief, inducing)
    expected = sum(dense(statistics, y[:, d], noise[d]) for d in range(3))
    np.testing.assert_allclose(collapsed_bound(KERNEL, belief, inducing, y, noise), expected, rtol=1e-9)


def test_missing_outputs_any_pattern(problem, random):
    """An output with holes is an output with fewer rows."""
    belief, inducing, y = problem
    y[random.random(y.shape) < 0.3] = np.nan
    y[4] = np.nan  # a row without any output
    noise, statistics = np.array([0.1, 0.02, 0.5]), by_quadrature(belief, inducing)
    expected = sum(dense(statistics, y[:, d], noise[d]) for d in range(3))
    np.testing.assert_allclose(collapsed_bound(KERNEL, belief, inducing, y, noise), expected, rtol=1e-9)


def test_output_scale_is_signal_variance_per_output(problem):
    belief, inducing, y = problem
    scale = np.array([0.5, 1.0, 2.0])
    expected = sum(
        dense(by_quadrature(belief, inducing, oracles.rbf(1.3 * scale[d] ** 2, np.array([0.8, 1.5]))), y[:, d], 0.1)
        for d in range(3)
    )
    bound = collapsed_bound(KERNEL, belief, inducing, y, 0.1, output_scale=scale)
    np.testing.assert_allclose(bound, expected, rtol=1e-9)


def test_exact_gp_when_inducing_points_are_the_inputs(random):
    """With Z = X and certain inputs the bound is log p(y), up to the jitter."""
    x, y = random.normal(size=(12, 2)), random.normal(size=(12, 1))
    k = oracles.gram(SLOW, x, x)
    *_, log_likelihood = oracles.exact_gp(k, k, np.diagonal(k), y[:, 0], 0.1)
    bound = collapsed_bound(KERNEL, InputBelief.observed(x), x, y, 0.1, jitter=1e-10)
    np.testing.assert_allclose(bound, log_likelihood, rtol=1e-6)


def test_observed_rows_are_split_off_without_changing_anything(problem):
    """A traced belief has no split; then every row goes through the general formulas."""
    belief, inducing, y = problem
    assert 0 < len(belief.split.observed) < belief.n_rows
    bound = lambda m, v: collapsed_bound(KERNEL, InputBelief(m, v), inducing, y, 0.1)  # noqa: E731
    with jax.enable_x64(True):
        np.testing.assert_allclose(
            jax.jit(bound)(belief.mean, belief.variance), bound(belief.mean, belief.variance), rtol=1e-11
        )


@pytest.mark.parametrize("missing_outputs", [False, True])
@pytest.mark.parametrize("kernel", [KERNEL, KERNEL + Linear(0.5)], ids=["rbf", "rbf + linear"])
def test_gradients(problem, random, kernel, missing_outputs):
    """Oracle: central differences (relative error about 1e-8 here), for every parameter at once."""
    belief, inducing, y = problem
    belief = InputBelief(belief.mean, belief.variance + 0.1)
    if missing_outputs:
        y[random.random(y.shape) < 0.3] = np.nan

    def objective(kernel, mean, variance, inducing, noise, scale, jitter):
        belief = InputBelief(mean, variance)
        bound = collapsed_bound(kernel, belief, inducing, y, noise, jitter, scale)
        return bound - kl_divergence(belief)

    noise, scale, jitter = np.array([0.1, 0.02, 0.5]), np.array([0.5, 1, 2]), 1e-3
    arguments = (kernel, belief.mean, belief.variance, inducing, noise, scale, jitter)
    with jax.enable_x64(True):
        flat, unravel = ravel_pytree(jax.tree.map(jnp.asarray, arguments))
        both = jax.jit(jax.value_and_grad(lambda v: objective(*unravel(v))))
        _, gradient = both(flat)
        for direction in random.normal(size=(5, len(flat))):
            # scaled to the parameter, so that none becomes negative
            direction = direction * np.abs(flat)
            difference = (both(flat + 1e-5 * direction)[0] - both(flat - 1e-5 * direction)[0]) / 2e-5
            np.testing.assert_allclose(gradient @ direction, difference, rtol=1e-6)


@pytest.mark.parametrize("kernel", [KERNEL, Matern32(1.3, 0.8), KERNEL + Linear(0.5)], ids=lambda k: type(k).__name__)
def test_chunks_change_nothing(problem, random, monkeypatch, kernel):
    """Many small chunks, the last one filled up, against all rows at once: value and gradient."""
    belief, inducing, y = problem
    y[random.random(y.shape) < 0.2] = np.nan

    def value_and_gradient():
        def bound(mean, inducing):
            # a new function each time, so that JAX traces it again
            blocks = make_blocks(InputBelief(mean, belief.variance), y)
            return jax.tree.reduce(lambda a, b: a + jnp.sum(b**2), collect(kernel, inducing, blocks), jnp.zeros(()))

        with jax.enable_x64(True):
            return jax.jit(jax.value_and_grad(bound, argnums=(0, 1)))(belief.mean, inducing)

    whole = value_and_gradient()
    monkeypatch.setattr(chunks, "rows_per_chunk", lambda *_: 8)
    monkeypatch.setattr("semigp.core.sparse.statistics.rows_per_chunk", lambda *_: 8)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11), value_and_gradient(), whole)


def test_memory_does_not_grow_with_rows(random):
    """Oracle: XLA's plan of temporary memory. All exponentials of ψ2 would be 1.6 GB at 40,000 rows."""
    m, q = 100, 5
    inducing = random.normal(size=(m, q))
    kernel = RBF(1.0, np.ones(q))

    def temporary_bytes(n):
        def loss(mean, variance, inducing):
            return collapsed_bound(kernel, InputBelief(mean, variance), inducing, np.zeros((n, 2)), 0.1)

        with jax.enable_x64(True):
            shapes = (jax.ShapeDtypeStruct(s, jnp.float64) for s in ((n, q), (n, q), inducing.shape))
            compiled = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2))).lower(*shapes).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    small, large = temporary_bytes(10_000), temporary_bytes(40_000)
    # What grows are the arrays of the rows themselves: a few copies of (n, q).
    assert large - small < 30 * 30_000 * q * 8
    assert large < 150 * 2**20


def test_factorisation_failure_adds_jitter_and_says_so(random):
    """Duplicated inducing points make K_uu singular; the bound is then that of the distinct ones."""
    x, y = random.normal(size=(20, 2)), random.normal(size=(20, 1))
    z = random.normal(size=(5, 2))
    arguments = (InputBelief.observed(x), np.concatenate([z, z, z]), y, 0.1)
    twice = collapsed_bound(KERNEL, *arguments, jitter=0.0)
    posterior = fit_posterior(KERNEL, *arguments, jitter=0.0)
    assert 0 < posterior.jitter < 1e-6
    once = collapsed_bound(KERNEL, InputBelief.observed(x), z, y, 0.1, jitter=0.0)
    np.testing.assert_allclose(twice, once, rtol=1e-6)
    healthy = fit_posterior(KERNEL, InputBelief.observed(x), z, y, 0.1, jitter=1e-9)
    assert healthy.jitter == 1e-9


@given(
    shift=st.floats(-1e4, 1e4),
    scale=st.floats(1e-6, 1e6),
    order=st.permutations(range(8)),
)
def test_invariances(shift, scale, order):
    """Moving or stretching inputs with the kernel, and the order of rows, change nothing but rounding."""
    random = np.random.default_rng(1)
    mean, variance, y = random.normal(size=(8, 2)), random.uniform(0, 1, (8, 2)), random.normal(size=(8, 2))
    variance[:3] = 0
    lengthscale = np.array([0.8, 1.5])
    inducing, order = random.normal(size=(4, 2)), list(order)
    plain = collapsed_bound(RBF(1.3, lengthscale), InputBelief(mean, variance), inducing, y, 0.1)
    moved = collapsed_bound(
        RBF(1.3, scale * lengthscale),
        InputBelief(scale * (mean[order] + shift), scale**2 * variance[order]),
        scale * (inducing + shift), y[order], 0.1,
    )  # fmt: skip
    # adding the shift loses |shift| · eps of the inputs
    np.testing.assert_allclose(moved, plain, rtol=1e-9 + 1e-13 * abs(shift))


def test_a_bound_that_rounding_has_eaten_is_nan(problem):
    belief, inducing, y = problem
    assert np.isfinite(collapsed_bound(KERNEL, belief, inducing, y, 1e-9))
    assert np.isnan(collapsed_bound(KERNEL, belief, inducing, y, 1e-18))
