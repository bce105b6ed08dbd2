"""Free simulation: a window of past values predicts the next value, which moves into the window, and so on."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.precision import in_float64
from ..numerics.types import Array
from .gp import ExactPosterior, draw_exact
from .windows import flatten


class Moments(Protocol):
    """The methods that moment matching needs from a posterior."""

    def moments(self, mean: Float[Array, "k q"], variance: Any) -> tuple[Float[Array, "k p"], Float[Array, "k p"]]:
        """Mean and variance of the functions at inputs N(mean, variance)."""

    def input_covariance(self, mean: Float[Array, "k q"], variance: Any) -> Float[Array, "k q p"]:
        """The covariance cov(x, f(x)) at inputs N(mean, variance)."""


# Moment matching subtracts nearly equal numbers. With a smaller noise variance than this, only rounding errors remain.
LEAST_NOISE = 1e-6
_STEPS_AT_ONCE = 100  # of a simulation, in one call of a compiled program


def sample_paths(
    key: Any,
    components: list[list[ExactPosterior]],
    windows: Float[np.ndarray, "k tau p"],
    covariates: Float[np.ndarray, "steps c"],
    bounds: tuple[Float[np.ndarray, " p"], Float[np.ndarray, " p"]],
    n_paths: int,
    watch: Callable[[Sequence[Any], str], Iterable[Any]] = lambda items, doing: items,
    n_groups: int = 20,
    n_features: int = 256,
) -> tuple[Float[np.ndarray, "s steps p"], np.ndarray]:
    """Sampled paths of the future, and which of them left the bounds.

    Functions are drawn from the posterior, and each is rolled forward with noise. `components` holds a posterior per
    output for each of k draws of the past, and `windows` the last window of each. The paths of a group share random
    features and the component. `watch` goes through the parts of the work, and may tell someone how far it is.
    """
    k = len(components)
    groups = -(-min(n_groups, n_paths) // k) * k
    each = -(-n_paths // groups)
    chosen = np.arange(groups) % k
    key_draws, key_noise = jax.random.split(key)
    keys = [jax.random.split(one, groups) for one in jax.random.split(key_draws, len(components[0]))]
    draw, drawn = in_float64(functools.partial(_draw, each, n_features)), [[] for _ in keys]  # type: ignore[var-annotated]
    # One group after the other, because batches of LAPACK calls that run side by side can deadlock.
    for group, output in watch([*itertools.product(range(groups), range(len(keys)))], "functions"):
        drawn[output].append(draw(components[chosen[group]][output], keys[output][group]))
    draws = [jax.tree.map(lambda *leaves: np.stack(leaves), *some) for some in drawn]
    noise = np.array([[np.sqrt(one.noise_variance) for one in components[i]] for i in chosen])[
        :, None
    ]  # [groups, 1, p]
    paths, out = _rolled(draws, noise, key_noise, windows[chosen], each, covariates, bounds, watch)
    paths = np.moveaxis(paths, 0, 2).reshape(-1, len(covariates), windows.shape[2])
    return paths[:n_paths], np.ravel(out)[:n_paths]


@functools.partial(jax.jit, static_argnums=(0, 1))
def _draw(each: int, n_features: int, posterior, key):
    """Drawn functions without the Cholesky factor, which is large and not needed to evaluate them."""
    drawn = draw_exact(posterior, key, each, n_features)
    return replace(drawn, posterior=replace(drawn.posterior, cholesky=jnp.zeros((0, 0))))


def _rolled(draws, noise, key, windows, each: int, covariates, bounds, watch) -> tuple[np.ndarray, np.ndarray]:
    """Paths [steps, groups, each, p], and whether each path was ever outside the bounds."""
    groups, steps = len(windows), len(covariates)
    keys, size = jax.random.split(key, steps), min(_STEPS_AT_ONCE, steps)
    state = np.repeat(windows[:, None], each, axis=1), np.zeros((groups, each), bool)
    parts, run = [], in_float64(_roll)
    for start in watch(range(0, steps, size), "steps"):
        # All parts have the same shape. What the last one has too much is cut off.
        places = np.minimum(np.arange(start, start + size), steps - 1)
        is_real = np.arange(start, start + size) < steps
        state, held = run(draws, noise, state, covariates[places], keys[places], is_real, *bounds)
        parts.append(held[is_real])
    return np.concatenate(parts), state[1]


@jax.jit
def _roll(draws, noise, state, covariates, keys, is_real, low, high):
    """The state after some steps, and their values [steps, groups, each, p]."""

    def step(state, now):
        windows, was_out = state
        extra, key, is_real = now
        inputs = flatten(windows, extra)
        values = jnp.stack([jax.vmap(lambda d, x: d.each(x))(some, inputs) for some in draws], axis=-1)
        values = values + noise * jax.random.normal(key, values.shape, values.dtype)
        held = jnp.clip(values, low, high)
        was_out = was_out | (is_real & jnp.any(held != values, axis=-1))
        return (jnp.concatenate([windows[:, :, 1:], held[:, :, None]], axis=2), was_out), held

    return jax.lax.scan(step, state, (covariates, keys, is_real))


def propagate(
    kind: str,
    posteriors: Sequence[Moments],
    noise: Float[np.ndarray, " p"],
    window: Float[np.ndarray, "tau p"],
    covariates: Float[np.ndarray, "steps c"],
) -> tuple[Float[np.ndarray, "steps p"], Float[np.ndarray, "steps p"]]:
    """Mean and variance of every next value, by moment matching.

    The belief about the window is N(m, S). If `kind` is "none", S is 0. If it is "diagonal", S is diagonal, as in the
    paper. If it is "full", S has the covariances C = cov(x, f(x)) between a new value and the window. The covariance
    between new values of different outputs is then the covariance of their linear parts, Cᵀ S⁺ C, so that S stays
    positive semidefinite.
    """
    return in_float64(functools.partial(_propagate, kind))(posteriors, noise, window, covariates)


@functools.partial(jax.jit, static_argnums=0)
def _propagate(kind: str, posteriors, noise, window, covariates):
    tau, p = window.shape
    count, extra = tau * p, covariates.shape[1]

    def step(state, covariate):
        mean, spread = state
        inputs = jnp.concatenate([mean, covariate])[None]
        padded = jnp.zeros((count + extra, count + extra)).at[:count, :count].set(spread)
        belief = {"none": None, "diagonal": jnp.diagonal(padded)[None], "full": padded[None]}[kind]
        moments = [posterior.moments(inputs, belief) for posterior in posteriors]
        new = jnp.stack([m[0, 0] for m, _ in moments])
        variance = jnp.stack([v[0, 0] for _, v in moments]) + noise
        if kind == "full":
            columns = [posterior.input_covariance(inputs, belief)[0, :count, 0] for posterior in posteriors]
            cross = jnp.stack(columns, axis=1)  # [count, p]
            joint = jnp.block([[spread, cross], [cross.T, _among_outputs(spread, cross, variance)]])
        else:
            joint = jax.scipy.linalg.block_diag(spread, jnp.diag(variance * (kind == "diagonal")))
        return (jnp.concatenate([mean, new])[p:], joint[p:, p:]), (new, variance)

    start = (window.reshape(-1), jnp.zeros((count, count)))
    return jax.lax.scan(step, start, covariates)[1]


def _among_outputs(spread, cross, variance):
    """The covariance of new values: their variances on the diagonal, elsewhere the covariance of their linear parts."""
    if cross.shape[1] == 1:
        return jnp.diag(variance)
    shared = cross.T @ jnp.linalg.pinv(spread, rtol=1e-9, hermitian=True) @ cross
    return jnp.where(jnp.eye(len(variance), dtype=bool), jnp.diag(variance), shared)
