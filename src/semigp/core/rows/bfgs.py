"""BFGS for many small problems side by side: every row takes its own steps and shares nothing."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..numerics.types import Array

_MAX_STEPS = 200
# A row has arrived when its gradient or its gain is this small.
_GRADIENT, _GAIN = 1e-6, 1e-10
_SUFFICIENT = 1e-4  # Armijo: the share of the promised gain that a step must bring
_MAX_HALVINGS = 20
_SHORTER = 0.3  # of a step that did not bring it, where the number of steps is given


def descend(loss_and_gradient, start: Float[Array, "n d"]) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """BFGS with step halving on every row's loss, side by side: where it ends, and the losses there.

    `loss_and_gradient` gives ((Σ, losses), gradients).
    """
    n, d = start.shape
    (_, losses), gradients = loss_and_gradient(start)
    lengths = jnp.linalg.norm(gradients, axis=1)[:, None, None]
    inverse = jnp.eye(d) / jnp.maximum(1.0, lengths)  # first steps no longer than 1

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
            good = trial_losses <= losses + _SUFFICIENT * length * slope  # NaN is not
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
    """H ← (I - ρ s yᵀ) H (I - ρ y sᵀ) + ρ s sᵀ, ρ = 1/sᵀy, where the curvature is positive."""
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
    """Where a fixed number of BFGS steps gets every row; none ends higher than it began.

    `metric` makes the first inverse Hessians [n, d, d] of the first gradients. A row whose step was too long tries a
    shorter one while the others go on.
    """
    (_, losses), gradients = loss_and_gradient(start)

    def step(_, state):
        free, losses, gradients, inverse, length = state
        direction = -jnp.einsum("nij,nj->ni", inverse, gradients)
        trial = free + length[:, None] * direction
        (_, trial_losses), trial_gradients = loss_and_gradient(trial)
        good = trial_losses <= losses + _SUFFICIENT * length * jnp.sum(direction * gradients, axis=1)  # NaN is not
        good &= jnp.all(jnp.isfinite(trial_gradients), axis=1)
        updated = _update(inverse, trial - free, trial_gradients - gradients)

        def where_good(new, old):
            return jnp.where(good.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        moved = (trial, trial_losses, trial_gradients, updated, jnp.ones_like(length))
        return jax.tree.map(where_good, moved, (free, losses, gradients, inverse, _SHORTER * length))

    return jax.lax.fori_loop(0, steps, step, (start, losses, gradients, metric(gradients), jnp.ones(len(start))))[0]
