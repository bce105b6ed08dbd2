"""Paths of a state-space model: functions are drawn, and each is rolled forward from a drawn state."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.compiler import QUICK_TO_COMPILE
from ..numerics.precision import in_float64
from ..sparse.function_draws import evaluate
from ..sparse.posterior import Posterior

_FEATURES = 256  # random features of each function


def roll(
    transition: Posterior,
    observation: Posterior,
    first: Float[np.ndarray, "s q"],
    inputs: Float[np.ndarray, "steps s c"],
    bounds: tuple[np.ndarray, np.ndarray],
    random: np.random.Generator,
) -> Float[np.ndarray, "s steps p"]:
    """Outputs of the steps that follow the states `first`, with noise on states and outputs.

    Every path has functions of its own, and the same ones at all steps. States are held inside `bounds`.
    """
    steps, (n_paths, q) = len(inputs), first.shape
    shocks = random.normal(size=(steps, n_paths, q)) * np.sqrt(transition.likelihood.noise_variance)
    noise_std = np.sqrt(observation.likelihood.noise_variance)
    seed = np.uint32(random.integers(2**32))
    clean = _roll(transition, observation, seed, first, inputs, shocks, *bounds)
    return clean + random.normal(size=clean.shape) * noise_std


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def _roll(transition: Posterior, observation: Posterior, seed, first, inputs, shocks, low, high):
    keys = jax.random.split(jax.random.key(seed))
    draws, seen = (
        posterior.draw(key, len(first), _FEATURES)
        for posterior, key in zip((transition, observation), keys, strict=True)
    )
    follow, observe = (
        functools.partial(evaluate, posterior.kernel, posterior.inducing_inputs)
        for posterior in (transition, observation)
    )

    def step(states, now):
        driving, shock = now
        points = jnp.concatenate([states, driving], axis=1)[:, None]
        increments = jax.vmap(follow)(draws.features, draws.feature_weights, draws.inducing_weights, points)[:, 0]
        after = jnp.clip(states + increments + shock, low, high)
        return after, after

    states = jnp.swapaxes(jax.lax.scan(step, first, (inputs, shocks))[1], 0, 1)
    each = seen.features, seen.feature_weights, seen.inducing_weights, states
    return jax.lax.map(lambda one: observe(*one), each)
