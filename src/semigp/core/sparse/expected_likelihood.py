"""E[log p(Y | X, U)] over q(X) q(U), for rows to which q(U) was not fitted: summed over rows, or row by row.

    -½ Σ_d [N_d log 2πσ_d² + (yᵀy - 2 α_dᵀΨ1ᵀy_d + s_d² ψ0 + ⟨Ψ2, α_dα_dᵀ - s_d² T diag(βλ/(1+βλ)) Tᵀ⟩)/σ_d²]

For all rows together, this follows from their statistics. For a single row n it is, up to a constant,

    b_nᵀ ψ1(x_n) - ½ c_n ψ0(x_n) - ½ ⟨C_n, Ψ2(x_n)⟩,

    b_n = Σ_d y_nd/σ_d² α_d,   c_n = Σ_d s_d²/σ_d²,   C_n = Σ_d (α_dα_dᵀ - s_d² T diag(βλ/(1+βλ)) Tᵀ)/σ_d²,

with sums over the outputs d that are observed in the row.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float

from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .posterior import Posterior
from .statistics import Statistics


def expected_log_likelihood(posterior: Posterior, statistics: Statistics) -> Float[Array, ""]:
    """The first equation above, from the statistics of the rows."""
    likelihood, weights, group = posterior.likelihood, posterior.weights, statistics.group
    directions = posterior.factors.directions[posterior.factors.group]  # [p, m, m]
    explained = likelihood.output_scale**2 * (1.0 - posterior.shrinkage)  # [m, p]
    form = jnp.einsum("id,jd->dij", weights, weights) - jnp.einsum("dik,kd,djk->dij", directions, explained, directions)
    square = statistics.y_square - 2.0 * jnp.sum(weights * statistics.psi1_y, axis=0)
    square += likelihood.output_scale**2 * statistics.psi0[group] + jnp.sum(form * statistics.psi2[group], axis=(1, 2))
    constants = statistics.counts * jnp.log(2.0 * jnp.pi * likelihood.noise_variance)
    return -0.5 * jnp.sum(constants + square / likelihood.noise_variance)


@pytree
class RowTerms:
    """The coefficients of ψ1, ψ0 and Ψ2 in each row's expected log likelihood. They depend on the row's outputs."""

    linear: Float[Array, "n m"]  # b
    constant: Float[Array, " n"]  # c
    quadratic: Float[Array, "#n m m"]  # C, a single one if every row observes the same outputs


def row_terms(posterior: Posterior, values, seen: Bool[Array, "n p"], shared: bool) -> RowTerms:
    """The coefficients of rows with these outputs. `shared` says that all rows observe the same outputs."""
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
