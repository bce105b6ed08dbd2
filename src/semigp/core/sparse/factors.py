"""One factorisation that the bound, the predictions and q(U) share.

    L Lᵀ = K_uu        C = L⁻¹ Ψ2 L⁻ᵀ = U Λ Uᵀ        T = L⁻ᵀ U        a = Tᵀ Ψ1ᵀ Y

With a precision β_d per output, B_d = I + β_d C = U (I + β_d Λ) Uᵀ, so that one eigendecomposition serves every d.
Outputs that are observed in different rows have different statistics. So there are Λ, U and T for each group g of
outputs.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from ..numerics.linalg import jittered_cholesky, solve_lower
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .statistics import Statistics

_MAX_ERROR = 0.1  # the largest error of the bound through rounding, in nats


@pytree
class Factors:
    """The statistics in the coordinates in which p(U) is N(0, I) and Ψ2 is diagonal."""

    cholesky: Float[Array, "m m"]  # L
    jitter: Float[Array, ""]  # what was added to the diagonal of K_uu, relative to its mean
    eigenvalues: Float[Array, "g m"]  # Λ
    directions: Float[Array, "g m m"]  # T = L⁻ᵀ U
    projected: Float[Array, "m p"]  # a
    group: Int[Array, " p"]  # the group of each output

    def shrinkage(self, precision: Float[Array, " p"]) -> Float[Array, "m p"]:
        """1/(1 + β_d λ): the share of the prior variance that is left along each direction, for each output."""
        return 1.0 / (1.0 + precision * self.eigenvalues[self.group].T)


def factorise(gram: Float[Array, "m m"], statistics: Statistics, jitter: Float[Array, ""]) -> Factors:
    """Factorise K_uu and Ψ2.

    Do not differentiate through this function, because repeated eigenvalues give NaN. `evidence` has its own gradient.
    """
    cholesky, needed = jittered_cholesky(gram, jitter)

    def directions_of(psi2):
        half = solve_lower(cholesky, psi2)  # L⁻¹ Ψ2
        eigenvalues, basis = jnp.linalg.eigh(solve_lower(cholesky, half.T))  # C
        return eigenvalues, solve_lower(cholesky, basis, transpose=True)

    # One matrix after the other, because a batch of eigh is not safe on CPUs (see `inverses`).
    eigenvalues, directions = jax.lax.map(directions_of, statistics.psi2)
    projected = rotate(jnp.swapaxes(directions, 1, 2), statistics.psi1_y, statistics.group)
    # Rounding can leave eigenvalues slightly below zero.
    return Factors(cholesky, needed, jnp.maximum(eigenvalues, 0.0), directions, projected, statistics.group)


def rotate(matrices: Float[Array, "g m m"], columns: Float[Array, "m p"], group: Int[Array, " p"]):
    """matrices_g x_d for every output d, where g is the group of d."""
    if matrices.shape[0] == 1:
        return matrices[0] @ columns
    return jnp.einsum("dij,jd->id", matrices[group], columns)


def _differences(factors: Factors, statistics: Statistics, precision: Float[Array, " p"]):
    """β (yᵀy - β aᵀ (I + βΛ)⁻¹ a) and β (ψ0 - tr C).

    The first is the part of y that the fit does not explain, the second the prior variance that the inducing points do
    not explain.
    """
    fit = jnp.sum(precision * factors.projected**2 * factors.shrinkage(precision), axis=0)
    explained = jnp.sum(factors.eigenvalues, axis=1)
    slack = (statistics.psi0 - explained)[factors.group]
    return precision * (statistics.y_square - fit), precision * slack


def is_resolved(factors: Factors, statistics: Statistics, precision: Float[Array, " p"]) -> Bool[Array, ""]:
    """Whether rounding errors are small.

    In exact arithmetic both differences are positive. The sizes of their terms, β yᵀy and β ψ0, set the size of the
    rounding error.
    """
    residual, slack = _differences(factors, statistics, precision)
    terms = precision * (statistics.y_square + statistics.psi0[factors.group])
    rounding = jnp.finfo(terms.dtype).eps * jnp.sum(terms)
    return rounding + jnp.sum(jnp.maximum(-residual, 0.0) + jnp.maximum(-slack, 0.0)) < _MAX_ERROR


@jax.custom_vjp
def evidence(
    gram: Float[Array, "m m"], statistics: Statistics, precision: Float[Array, " p"], jitter: Float[Array, ""]
) -> Float[Array, ""]:
    """-½ Σ_d [β_d (y_dᵀy_d - β_d a_dᵀ (I + β_d Λ)⁻¹ a_d) + β_d (ψ0 - tr C) + log|B_d|], the bound without constants.

    Its gradient is written out, so that nothing is differentiated through the factorisations. The value is NaN if
    rounding errors are too large, because K_uu or the noise is too small for float64. Otherwise an optimiser would
    mistake these errors for a gain.
    """
    return _evidence_forward(gram, statistics, precision, jitter)[0]


def _evidence_forward(gram, statistics, precision, jitter):
    factors = factorise(gram, statistics, jitter)
    scaled = precision * factors.eigenvalues[factors.group].T  # β_d λ   [m, p]
    residual, slack = _differences(factors, statistics, precision)
    value = -0.5 * jnp.sum(residual + slack + jnp.sum(jnp.log1p(scaled), axis=0))
    value = jnp.where(is_resolved(factors, statistics, precision), value, jnp.nan)
    return value, (factors, precision, jnp.mean(jnp.diagonal(gram)), statistics)


def _evidence_backward(residuals, gradient):
    factors, precision, mean_diagonal, statistics = residuals
    directions, group = factors.directions, factors.group
    eigenvalues = factors.eigenvalues[group].T  # [m, p]
    shrinkage = factors.shrinkage(precision)
    solved = shrinkage * factors.projected  # v_d = (I + β_d Λ)⁻¹ a_d
    # d/dβ = ½ Σ λ (1 - 1/(1+βλ)) + β aᵀ v - ½ β² vᵀ Λ v - ½ (yᵀy + ψ0)
    to_precision = jnp.sum(
        0.5 * eigenvalues * (1.0 - shrinkage)
        + precision * factors.projected * solved
        - 0.5 * precision**2 * eigenvalues * solved**2,
        axis=0,
    ) - 0.5 * (statistics.y_square + statistics.psi0[group])
    # In the coordinates T:  d/dC = ½ Σ_d β_d (I - (I + β_d Λ)⁻¹) - ½ Σ_d β_d³ v_d v_dᵀ  and  d/da_d = β_d² v_d,
    # with sums over the outputs of a group.
    is_member = (group[:, None] == jnp.arange(directions.shape[0])).astype(precision.dtype)  # [p, g]
    spread = 0.5 * (precision * (1.0 - shrinkage)) @ is_member  # [m, g]
    outer = jnp.einsum("id,dg,jd->gij", solved, precision[:, None] ** 3 * is_member, solved)
    to_c = spread.T[:, :, None] * jnp.eye(spread.shape[0]) - 0.5 * outer
    to_a = precision**2 * solved
    # F does not change if L is rotated. So M = 2 Λ d/dC + a (d/da)ᵀ is symmetric, and dF = -½ tr(M L⁻¹ dK L⁻ᵀ).
    to_k = factors.eigenvalues[:, :, None] * to_c + 0.5 * jnp.einsum(
        "id,dg,jd->gij", factors.projected, is_member, to_a
    )
    transposed = jnp.swapaxes(directions, 1, 2)
    to_gram = -jnp.sum(directions @ (0.5 * (to_k + jnp.swapaxes(to_k, 1, 2))) @ transposed, axis=0)
    # The matrix that was factorised is K + jitter · mean(diag K) · I.
    to_nugget = jnp.trace(to_gram)
    to_gram = to_gram + factors.jitter * to_nugget * jnp.eye(len(to_gram)) / len(to_gram)
    to_statistics = Statistics(
        -0.5 * gradient * (precision @ is_member),
        gradient * rotate(directions, to_a, group),
        gradient * (directions @ to_c @ transposed),
        -0.5 * gradient * precision,
        jnp.zeros_like(statistics.counts),
        None,  # type: ignore[arg-type]  # an index has no gradient
    )
    return gradient * to_gram, to_statistics, gradient * to_precision, gradient * mean_diagonal * to_nugget


evidence.defvjp(_evidence_forward, _evidence_backward)
