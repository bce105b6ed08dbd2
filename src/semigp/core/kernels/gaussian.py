"""Expectations of Gaussian bumps: the one formula behind every statistic of the RBF kernel.

A product of two one-dimensional bumps with precisions r₁, r₂ (r = 1/ℓ²) has, under x ~ N(μ, S),

    E[exp(-½ r₁ (x-z₁)² - ½ r₂ (x-z₂)²)] = (1 + S R)^-½ exp(-½ [R t (μ-c)² + D])

    R = r₁ + r₂,   t = 1/(1 + S R),   c = (r₁ z₁ + r₂ z₂)/R,   D = r₁ r₂/R (z₁-z₂)².

With r₂ = 0 that is ψ1, with S = 0 as well the kernel itself, with r₁ = r₂ it is ψ2. The exponent is bilinear in
features of the row (μ, S) and features of the pair (z₁, z₂), so for all rows and all pairs at once it is one
matrix product with inner size 2q + 2.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..numerics.linalg import inverses
from ..numerics.pytrees import pytree, static
from ..numerics.types import Array
from . import fused
from .exponential import LOG2_E, exp2
from .pairs import PairList

Rows = Float[Array, "n d"]
Pairs = Float[Array, "pairs d"]


@pytree
class BumpPairs:
    """Features of pairs of bumps: the part of the expectations that does not depend on the rows."""

    features: Pairs
    total: Float[Array, " q"]  # R
    origin: Float[Array, " q"]
    is_full: bool = static()  # for rows with a full covariance

    @classmethod
    def of(
        cls,
        precision_1: Float[Array, " q"],
        precision_2: Float[Array, " q"],
        amplitude: Float[Array, ""],
        points: Float[Array, "m q"],
        pair_list: PairList,
        is_full: bool,
    ) -> BumpPairs:
        """Amplitude · (bump of precision r₁ at z_i) · (bump of precision r₂ at z_j), for every listed (i, j)."""
        # Only differences of points matter, and centring keeps the expanded squares accurate.
        origin = jax.lax.stop_gradient(jnp.mean(points, axis=0))
        points = points - origin
        total = precision_1 + precision_2  # R   [q]
        safe_total = jnp.where(total > 0, total, 1.0)
        centre = pair_list.add(points * (precision_1 / safe_total), points * (precision_2 / safe_total))  # c
        scaled = points * (precision_1 * precision_2 / safe_total)
        length = jnp.sum(scaled * points, axis=1)
        gap = pair_list.entries(length[:, None] + length - 2.0 * scaled @ points.T)  # Σ D
        constant = jnp.log(amplitude) - 0.5 * gap  # in the exponent the amplitude's gradient is free
        square = centre**2
        if is_full:
            square = (centre[:, :, None] * centre[:, None, :]).reshape(len(centre), -1)
        features = jnp.concatenate([centre, square, jnp.ones_like(gap)[:, None], constant[:, None]], axis=1)
        return cls(features, total, origin, is_full)

    def row_features(self, mean: Float[Array, "n q"], variance: Float[Array, ...]) -> Rows:
        """Features of rows N(mean, variance). Their products with `features` are log(amplitude · E[bump₁ bump₂])."""
        mean = mean - self.origin
        if self.is_full:
            weight, log_scale = _full_quadratic(variance, self.total)  # M [n, q, q], log|I + S R|
            linear = jnp.einsum("nij,nj->ni", weight, mean)  # M μ
        else:
            weight = jnp.asarray(self.total / (1.0 + variance * self.total))  # R t, the diagonal of M
            log_scale = jnp.sum(jnp.log1p(variance * self.total), axis=1)
            linear = weight * mean
        constant = -0.5 * (jnp.sum(linear * mean, axis=1) + log_scale)
        square = -0.5 * weight.reshape(len(mean), -1)
        return jnp.concatenate([linear, square, constant[:, None], jnp.ones_like(constant)[:, None]], axis=1)

    def expectations(self, mean: Float[Array, "n q"], variance: Float[Array, ...]) -> Float[Array, "n pairs"]:
        """Amplitude · E[bump₁ bump₂] for every row and pair."""
        return exp_products(self.row_features(mean, variance), self.features)

    def sums(
        self, mean: Float[Array, "n q"], variance: Float[Array, ...], weights: Float[Array, "n g"]
    ) -> Float[Array, "pairs g"]:
        """Σ_n w_ng · amplitude · E[bump₁ bump₂] for every pair."""
        return exp_sums(self.row_features(mean, variance), self.features, weights)


def _full_quadratic(
    covariance: Float[Array, "n q q"], total: Float[Array, " q"]
) -> tuple[Float[Array, "n q q"], Float[Array, " n"]]:
    """M = R (I + Σ R)⁻¹ and log|I + Σ R| for a full input covariance Σ."""
    inverse, log_determinant = inverses(jnp.eye(total.shape[0]) + covariance * total)  # R scales the columns
    quadratic = total[:, None] * inverse
    return 0.5 * (quadratic + jnp.swapaxes(quadratic, 1, 2)), log_determinant


@jax.custom_vjp
def squared_distances(points: Float[Array, "m q"], precision: Float[Array, " q"]) -> Float[Array, "m m"]:
    """Σ_d r_d (z_d - z'_d)² from differences, not from expanded squares: exact at any scale, and 0 on the diagonal.

    The sum goes over eight columns at a time, which XLA fuses. One sum over all would write its terms to memory.
    """
    m, q = points.shape
    columns = jnp.pad((points * jnp.sqrt(precision)).T, ((0, -q % 8), (0, 0))).reshape(-1, 8, m)

    def add(total, eight):
        for column in eight:
            total = total + (column[:, None] - column) ** 2
        return total, None

    return jax.lax.scan(add, jnp.zeros((m, m), points.dtype), columns)[0]


def _squared_distances_backward(residuals, gradient):
    points, precision = residuals
    points = points - jnp.mean(points, axis=0)
    both = gradient + gradient.T
    weighted = jnp.sum(both, axis=1)[:, None] * points - both @ points  # Σ_j (g_ij + g_ji) (z_i - z_j)
    return 2.0 * precision * weighted, jnp.sum(points * weighted, axis=0)


squared_distances.defvjp(lambda points, r: (squared_distances(points, r), (points, r)), _squared_distances_backward)


@jax.custom_vjp
def exp_products(left: Float[Array, "a d"], right: Float[Array, "b d"]) -> Float[Array, "a b"]:
    """exp(left rightᵀ): an entry for every pair of rows of two feature matrices."""
    return exp2((left * LOG2_E) @ right.T)


def _exp_products_forward(left, right):
    value = exp_products(left, right)
    return value, (left, right, value)


def _exp_products_backward(residuals, gradient):
    left, right, value = residuals
    scaled = gradient * value
    return scaled @ right, scaled.T @ left


exp_products.defvjp(_exp_products_forward, _exp_products_backward)


@jax.custom_vjp
def exp_sums(rows: Rows, pairs: Pairs, weights: Float[Array, "n g"]) -> Float[Array, "pairs g"]:
    """Σ_n w_ng exp(rows_n · pairs_p): the weighted sums over rows of the exponentials of ψ2.

    The gradient needs two more matrix products. The weights are constants (0 or 1) and have no gradient.
    """
    return _exp_sums_forward(rows, pairs, weights)[0]


def _exp_sums_forward(rows, pairs, weights):
    if fused.suits(rows.shape[1] - 2, weights.shape[1], len(rows) * len(pairs)):
        return fused.exp_sums(rows, pairs, weights), (rows, pairs, weights, None)
    # Pairs are the first axis in all products: they run fastest in this layout.
    exponentials = exp2(pairs @ (rows * LOG2_E).T)  # [pairs, n]
    return exponentials @ weights, (rows, pairs, weights, exponentials)


def _exp_sums_backward(residuals, gradient):
    rows, pairs, weights, exponentials = residuals
    if exponentials is None:
        return *fused.exp_sums_gradient(rows, pairs, weights, gradient), None
    if weights.shape[1] == 1:  # the weights can be applied to the small factors
        # The barrier makes XLA write the transpose to memory: the product then runs up to 1.7 times as fast.
        transposed = jax.lax.optimization_barrier((pairs * gradient).T)
        to_rows = transposed @ exponentials * weights.T
        return to_rows.T, exponentials @ (rows * weights) * gradient, None
    scaled = exponentials * (gradient @ weights.T)
    return (pairs.T @ scaled).T, scaled @ rows, None


exp_sums.defvjp(_exp_sums_forward, _exp_sums_backward)
