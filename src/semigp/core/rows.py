"""q(x) of new rows, all inputs latent and q(U) given: every row on its own, many at once.

Given q(U), the rows are independent, and each raises (see `expected_log_likelihood`)

    b_nᵀ ψ1(x_n) - ½ c_n ψ0(x_n) - ½ ⟨C_n, Ψ2(x_n)⟩ - KL(q(x_n) ‖ N(0, I))

    b_n = Σ_d y_nd/σ_d² α_d,   c_n = Σ_d s_d²/σ_d²,   C_n = Σ_d (α_dα_dᵀ - s_d² T diag(βλ/(1+βλ)) Tᵀ)/σ_d²

over the outputs d that the row observes. The rows take their steps side by side but share nothing, so that what a row
is found to be does not depend on its company.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from .chunks import rows_per_chunk
from .posterior import Posterior
from .precision import in_float64
from .pytrees import pytree
from .types import Array

_MAX_STEPS = 200
# A row has arrived when its gradient or its gain is this small.
_GRADIENT, _GAIN = 1e-6, 1e-10
_SUFFICIENT = 1e-4  # Armijo: the share of the promised gain that a step must bring
_MAX_HALVINGS = 20
_SHORTER = 0.3  # of a step that did not bring it, where the number of steps is given
_MOST_ROWS = 256


@pytree
class RowTerms:
    """What each row's outputs say: the coefficients of ψ1, ψ0 and Ψ2."""

    linear: Float[Array, "n m"]  # b
    constant: Float[Array, " n"]  # c
    quadratic: Float[Array, "#n m m"]  # C, one for all rows if they observe every output


def infer_rows(
    posterior: Posterior, targets: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of q(x) for rows of targets (n, p), NaN where missing, from the moments to start at.

    And each row's own part of the bound, up to a constant that depends on the targets alone.
    """
    seen = ~np.isnan(targets)
    moments, scores = np.zeros((2, *mean.shape)), np.zeros(len(mean))
    # Complete rows share their Ψ2 coefficients; the others have them row by row.
    for complete in (True, False):
        rows = np.flatnonzero(seen.all(axis=1) == complete)
        size = max(8, min(_MOST_ROWS, rows_per_chunk(10**9, posterior.inducing_inputs.shape[0] ** 2)))
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            padded = np.resize(some, size)  # one shape, one compilation
            values = np.where(seen, targets, 0.0)[padded]
            climb = in_float64(functools.partial(_climb, shared=complete))
            *found, score = climb(posterior, values, seen[padded], mean[padded], variance[padded])
            moments[:, some], scores[some] = np.array(found)[:, : len(some)], score[: len(some)]
    return moments[0], moments[1], scores


@functools.partial(jax.jit, static_argnames="shared")
def _climb(posterior, values, seen, mean, variance, shared: bool):
    score = _score(posterior, row_terms(posterior, values, seen, shared))
    q = mean.shape[1]

    def loss(free):
        losses = -score(free[:, :q], jnp.exp(free[:, q:]))
        return jnp.sum(losses), losses

    start = jnp.concatenate([mean, jnp.log(variance)], axis=1)
    free, losses = _descend(jax.value_and_grad(loss, has_aux=True), start)
    return free[:, :q], jnp.exp(free[:, q:]), -losses


def row_terms(posterior: Posterior, values, seen: Bool[Array, "n p"], shared: bool) -> RowTerms:
    """The coefficients of rows with these outputs; `shared` where all rows observe what the first does."""
    noise, scale, weights = posterior.likelihood.noise_variance, posterior.likelihood.output_scale, posterior.weights
    share = jnp.where(seen, 1.0 / noise, 0.0)  # [n, p]
    some = share[:1] if shared else share
    explained = (scale**2 * (1.0 - posterior.shrinkage)).T  # [p, m]
    n_groups = posterior.factors.directions.shape[0]
    in_group = jax.nn.one_hot(posterior.factors.group, n_groups, dtype=weights.dtype)  # [p, g]
    along = jnp.einsum("np,pg,pk->ngk", some, in_group, explained)
    directions = posterior.factors.directions
    reduction = jnp.einsum("gik,ngk,gjk->nij", directions, along, directions, optimize="optimal")
    quadratic = (weights * some[:, None, :]) @ weights.T - reduction
    return RowTerms((values * share) @ weights.T, share @ scale**2, quadratic)


def row_likelihood(posterior: Posterior, terms: RowTerms) -> Callable[..., Float[Array, " n"]]:
    """(mean, variance) → each row's E[log p(y | x, U)], up to a constant."""
    kernel, inducing = posterior.kernel, posterior.inducing_inputs
    quadratic = kernel.psi2_products(inducing, terms.quadratic)

    def likelihood(mean, variance):
        linear = jnp.sum(terms.linear * kernel.psi1(mean, variance, inducing), axis=1)
        return linear - 0.5 * (terms.constant * kernel.psi0(mean, variance) + quadratic(mean, variance))

    return likelihood


def _score(posterior: Posterior, terms: RowTerms) -> Callable[..., Float[Array, " n"]]:
    """(mean, variance) → each row's own part of the bound, up to a constant."""
    likelihood = row_likelihood(posterior, terms)

    def score(mean, variance):
        return likelihood(mean, variance) - 0.5 * jnp.sum(variance + mean**2 - jnp.log(variance) - 1.0, axis=1)

    return score


def _descend(loss_and_gradient, start: Float[Array, "n d"]) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
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
