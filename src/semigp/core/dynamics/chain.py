"""q(X) of the states of series: a Gauss-Markov chain.

    q(x_t | x_{t-1}) = N(m_t + A_t (x_{t-1} - m_{t-1}), Q_t),    P_t = A_t P_{t-1} A_tᵀ + Q_t

So cov(x_t, x_{t-1}) is A_t P_{t-1}. All series stand in one chain, one behind the other, and A_t = 0 where one begins.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..numerics.pytrees import pytree
from ..numerics.types import Array

_UNROLL = 1


@pytree
class Chain:
    """The chain above, with Q_t = L_t L_tᵀ."""

    mean: Float[Array, "n q"]  # m
    transition: Float[Array, "n q q"]  # A
    factor: Float[Array, "n q q"]  # L, lower triangular

    def covariances(self) -> Float[Array, "n q q"]:
        """P_t of every step."""
        noise = self.factor @ jnp.swapaxes(self.factor, 1, 2)

        def step(before, now):
            transition, own = now
            after = transition @ before @ transition.T + own
            return after, after

        return jax.lax.scan(step, jnp.zeros_like(noise[0]), (self.transition, noise), unroll=_UNROLL)[1]

    def entropy(self, is_real: Bool[Array, " n"]) -> Float[Array, ""]:
        """Σ_t ½ log|2πe Q_t| over the real steps."""
        logs = jnp.sum(jnp.log(jnp.diagonal(self.factor, axis1=1, axis2=2)), axis=1)
        return jnp.sum(jnp.where(is_real, logs + 0.5 * self.mean.shape[1] * math.log(2.0 * math.pi * math.e), 0.0))


@pytree
class ChainMoves:
    """Unconstrained coordinates of a chain, relative to a reference R with P_R,t-1 = W W ᵀ. All 0 is the reference.

        m = m_R + δ,  δ_t = A_R,t δ_{t-1} + L_R,t ξ_t      A_t = A_R,t + L_R,t α_t W⁻¹      L_t = L_R,t Λ_t

    If the reference is near the posterior, the objective is about as curved along every coordinate. In m, A and Q it is
    far steeper along some directions than along others, because neighbouring states are almost tied together.
    """

    mean: Float[Array, "n q"]  # ξ
    transition: Float[Array, "n q q"]  # α
    factor: Float[Array, "n q q"]  # Λ, lower triangular, with the logarithms of its diagonal

    @classmethod
    def none(cls, n: int, q: int) -> ChainMoves:
        """The coordinates of the reference itself."""
        return cls(np.zeros((n, q)), np.zeros((n, q, q)), np.zeros((n, q, q)))


@pytree
class ChainReference:
    """A chain, and W_{t-1}⁻¹ for every step, 0 where a series begins."""

    chain: Chain
    whitener: Float[Array, "n q q"]

    def moved(self, moves: ChainMoves) -> Chain:
        """The chain at some coordinates."""
        own = self.chain
        shift = jnp.einsum("tij,tj->ti", own.factor, moves.mean)

        def step(before, now):
            after = now[0] @ before + now[1]
            return after, after

        shifts = jax.lax.scan(step, jnp.zeros_like(shift[0]), (own.transition, shift), unroll=_UNROLL)[1]
        transition = own.transition + own.factor @ moves.transition @ self.whitener
        diagonal = jnp.exp(jnp.diagonal(moves.factor, axis1=1, axis2=2))
        factor = jnp.tril(moves.factor, -1) + diagonal[:, :, None] * jnp.eye(shift.shape[1])
        return Chain(own.mean + shifts, transition, own.factor @ factor)


def reference_of(chain: Chain, covariances: np.ndarray, is_first: np.ndarray) -> ChainReference:
    """A chain as the reference. W is the Cholesky factor of P_{t-1}. NumPy."""
    starts, eye = is_first[:, None, None], np.eye(covariances.shape[1])
    before = np.where(starts, eye, np.roll(covariances, 1, axis=0))
    scale = np.trace(before, axis1=1, axis2=2)[:, None, None] / len(eye)
    whitener = np.linalg.inv(np.linalg.cholesky(before + 1e-9 * scale * eye))
    return ChainReference(chain, np.where(starts, 0.0, whitener))
