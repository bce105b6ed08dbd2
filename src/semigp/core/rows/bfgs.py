"""BFGS for many small problems side by side. Every row takes its own steps, whatever the other rows do."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..numerics.types import Array

_MAX_STEPS = 200
# A row has arrived when its gradient or its gain is this small.
_GRADIENT, _GAIN = 1e-6, 1e-10
_SUFFICIENT = 1e-4  # Armijo's rule: a step must gain at least this share of what the slope promises
_MAX_HALVINGS = 20
_SHORTER = 0.3  # in `improve`, the factor on the length of a step that gained too little


def descend(loss_and_gradient, start: Float[Array, "n d"]) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """Minimise every row's loss by BFGS with step halving. Returns the final points, and the losses there.

    `loss_and_gradient` returns ((Σ, losses), gradients).
    """
    n, d = start.shape
    (_, losses), gradients = loss_and_gradient(start)
    lengths = jnp.linalg.norm(gradients, axis=1)[:, None, None]
    inverse = jnp.eye(d) / jnp.maximum(1.0, lengths)  # so that first steps are no longer than 1

    def step(state):
        free, losses, gradients, inverse, moving, count = state
        direction = -jnp.einsum("nij,nj->ni", inverse, gradients)
        slope = jnp.sum(direction * gradients, axis=1)

        def wants_less(search):
            _, _, _, _, accepted, halvings = search
            return jnp.any(moving & ~accepted) & (halvings < _MAX_HALVINGS)

        def halve(search):
            length, best, best_losses, best_gradients, accepted, halvings = search
            trial = free + length[:, None] * direction
            (_, trial_losses), trial_gradients = loss_and_gradient(trial)
            good = trial_losses <= losses + _SUFFICIENT * length * slope  # False for NaN
            new = good & ~accepted & moving
            best = jnp.where(new[:, None], trial, best)
            best_losses = jnp.where(new, trial_losses, best_losses)
            best_gradients = jnp.where(new[:, None], trial_gradients, best_gradients)
            return 0.5 * length, best, best_losses, best_gradients, accepted | good, halvings + 1

        nothing = (jnp.ones(n), free, losses, gradients, jnp.zeros(n, bool), 0)
        _, new, new_losses, new_gradients, accepted, _ = jax.lax.while_loop(wants_less, halve, nothing)
        inverse = _update(inverse, new - free, new_gradients - gradients)
        gain = losses - new_losses
        moving &= accepted & (gain > _GAIN * (1.0 + jnp.abs(losses)))
        moving &= jnp.max(jnp.abs(new_gradients), axis=1) > _GRADIENT
        return new, new_losses, new_gradients, inverse, moving, count + 1

    def goes_on(state):
        return jnp.any(state[4]) & (state[5] < _MAX_STEPS)

    return jax.lax.while_loop(goes_on, step, (start, losses, gradients, inverse, jnp.ones(n, bool), 0))[:2]


def _update(inverse: Float[Array, "n d d"], step: Float[Array, "n d"], change: Float[Array, "n d"]):
    """H ← (I - ρ s yᵀ) H (I - ρ y sᵀ) + ρ s sᵀ with ρ = 1/sᵀy, for rows whose curvature sᵀy is positive."""
    curvature = jnp.sum(step * change, axis=1)
    is_good = curvature > 1e-10 * jnp.linalg.norm(step, axis=1) * jnp.linalg.norm(change, axis=1)
    rho = jnp.where(is_good, 1.0 / jnp.where(is_good, curvature, 1.0), 0.0)[:, None, None]
    push = jnp.einsum("nij,nj->ni", inverse, change)  # H y
    outer = step[:, :, None] * push[:, None, :]
    length = (1.0 / jnp.where(rho > 0, rho, 1.0) + jnp.sum(change * push, axis=1)[:, None, None]) * rho**2
    updated = inverse - rho * (outer + jnp.swapaxes(outer, 1, 2)) + length * step[:, :, None] * step[:, None, :]
    return jnp.where(is_good[:, None, None], updated, inverse)


def improve(
    loss_and_gradient: Callable, start: Float[Array, "n d"], metric: Callable[[Array], Array], steps: int
) -> Float[Array, "n d"]:
    """The points after a fixed number of BFGS steps of every row. No row's loss is higher than at the start.

    `metric` returns the first inverse Hessians [n, d, d], given the first gradients. If a row's step was too long, it
    tries a shorter one next, while other rows move on.
    """
    (_, losses), gradients = loss_and_gradient(start)

    def step(_, state):
        free, losses, gradients, inverse, length = state
        direction = -jnp.einsum("nij,nj->ni", inverse, gradients)
        trial = free + length[:, None] * direction
        (_, trial_losses), trial_gradients = loss_and_gradient(trial)
        good = trial_losses <= losses + _SUFFICIENT * length * jnp.sum(direction * gradients, axis=1)  # False for NaN
        good &= jnp.all(jnp.isfinite(trial_gradients), axis=1)
        updated = _update(inverse, trial - free, trial_gradients - gradients)

        def where_good(new, old):
            return jnp.where(good.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        moved = (trial, trial_losses, trial_gradients, updated, jnp.ones_like(length))
        return jax.tree.map(where_good, moved, (free, losses, gradients, inverse, _SHORTER * length))

    return jax.lax.fori_loop(0, steps, step, (start, losses, gradients, metric(gradients), jnp.ones(len(start))))[0]
