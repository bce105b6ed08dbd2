"""One step for a batch: Adam for the parameters, and the natural gradient for q(U)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Int

from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .objective import Batch, Inferred, Parameters, Setting, Whitened, batch_objective

_ADAM_DECAYS, _ADAM_FLOOR = (0.9, 0.99), 1e-8


@pytree
class State:
    """The unconstrained parameters, q(v), and Adam's running moments of the gradient."""

    free: Parameters
    q: Whitened
    first: Parameters
    second: Parameters
    count: Int[Array, ""]


@jax.jit
def adam_step(
    state: State, batch: Batch, inferred: Inferred | None, setting: Setting, moves: Parameters, rate: Any, step: Any
):
    """The state after a step of Adam and of the natural gradient on one batch, and the estimate of the bound.

    If the estimate or the new state is not finite, the state stays as it was.
    """

    def loss(free):
        value, best = batch_objective(free.map_positive(jnp.exp), state.q, batch, inferred, setting)
        return -value, best

    (negative, best), gradient = jax.value_and_grad(loss, has_aux=True)(state.free)
    count, (slow, slower) = state.count + 1, _ADAM_DECAYS
    first = jax.tree.map(lambda m, g: slow * m + (1.0 - slow) * g, state.first, gradient)
    second = jax.tree.map(lambda v, g: slower * v + (1.0 - slower) * g**2, state.second, gradient)

    def move(value, m, v, factor):
        return value - rate * factor * (m / (1.0 - slow**count)) / (jnp.sqrt(v / (1.0 - slower**count)) + _ADAM_FLOOR)

    new = State(jax.tree.map(move, state.free, first, second, moves), state.q.towards(best, step), first, second, count)
    is_finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves((negative, new))]))
    return jax.tree.map(lambda a, b: jnp.where(is_finite, a, b), new, state), -negative
