"""One-dimensional Gaussian expectations of kernel factors that have no closed form, by quadrature piece by piece.

A Matérn factor is analytic on either side of its centre and has a kink there. Gauss-Legendre quadrature on the pieces
between the kinks, each cut off where a factor is negligible, is accurate to about 1e-13 for any ratio of lengthscale to
belief width. Gauss-Hermite quadrature across the kinks is not (errors of 1e-3 with 40 nodes).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.types import Array

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
N_NODES = 3 * len(_NODES)  # three pieces
_TAIL = 9.0  # beyond nine standard deviations a Gaussian holds 2e-19 of its mass


@dataclass(frozen=True)
class Factor:
    """A one-dimensional factor k(x, z), smooth except perhaps at x = z. Beyond |x-z| = reach it is negligible."""

    value: Callable[[Array, Array], Array]
    reach: Array | float = 1e30  # finite, so that the gradient is finite


def expectation(
    factor_1: Factor,
    z_1: Float[Array, " pairs"],
    factor_2: Factor,
    z_2: Float[Array, " pairs"],
    mean: Float[Array, "n _"],
    variance: Float[Array, "n _"],
    centred_moment: bool = False,
) -> Float[Array, "n pairs"]:
    """E[k₁(x, z₁) k₂(x, z₂)] under x ~ N(mean, variance), or E[(x - mean) k₁ k₂] if `centred_moment`.

    Variance 0 means a Dirac. There, the derivative in the variance is returned as 0.
    """
    certain = variance <= 0.0
    std = jnp.where(certain, 0.0, jnp.sqrt(jnp.where(certain, 1.0, variance)))
    unit = jnp.where(certain, 1.0, std)
    # Kinks and cuts in standard units.
    t_1, t_2 = (z_1 - mean) / unit, (z_2 - mean) / unit
    low, high = jnp.minimum(t_1, t_2), jnp.maximum(t_1, t_2)
    first_is_low = t_1 <= t_2
    reach_low = jnp.where(first_is_low, factor_1.reach, factor_2.reach) / unit
    reach_high = jnp.where(first_is_low, factor_2.reach, factor_1.reach) / unit
    reach = jnp.minimum(reach_low, reach_high)
    pieces = (
        (low - reach, low),
        (jnp.maximum(low, high - reach_high), jnp.minimum(high, low + reach_low)),
        (high, high + reach),
    )
    total = jnp.zeros(jnp.broadcast_shapes(mean.shape, t_1.shape))
    for left, right in pieces:
        left, right = jnp.clip(left, -_TAIL, _TAIL), jnp.clip(right, -_TAIL, _TAIL)
        half = 0.5 * jnp.maximum(right - left, 0.0)
        t = (0.5 * (left + right))[..., None] + half[..., None] * _NODES  # [n, pairs, nodes]
        x = mean[..., None] + std[..., None] * t
        integrand = factor_1.value(x, z_1[:, None]) * factor_2.value(x, z_2[:, None])
        if centred_moment:
            integrand = integrand * (x - mean[..., None])
        density = jnp.exp(-0.5 * t**2) / math.sqrt(2.0 * math.pi)
        total = total + half * jnp.sum(_WEIGHTS * density * integrand, axis=-1)
    if centred_moment:
        return jnp.where(certain, 0.0, total)
    return jnp.where(certain, factor_1.value(mean, z_1) * factor_2.value(mean, z_2), total)


CONSTANT = Factor(lambda x, z: jnp.ones_like(x - z))
LINEAR = Factor(lambda x, z: x * z)


def matern32(lengthscale: Float[Array, ""]) -> Factor:
    """(1 + a) exp(-a) with a = √3 |x-z|/ℓ."""
    return _matern(lengthscale, math.sqrt(3.0), lambda a: 1.0 + a)


def matern52(lengthscale: Float[Array, ""]) -> Factor:
    """(1 + a + a²/3) exp(-a) with a = √5 |x-z|/ℓ."""
    return _matern(lengthscale, math.sqrt(5.0), lambda a: 1.0 + a + a**2 / 3.0)


def _matern(lengthscale, rate: float, polynomial) -> Factor:
    def value(x, z):
        a = rate * jnp.abs(x - z) / lengthscale
        return polynomial(a) * jnp.exp(-a)

    return Factor(value, 52.0 * lengthscale / rate)  # (1 + a + a²/3) e^-a < 1e-19 at a = 52
