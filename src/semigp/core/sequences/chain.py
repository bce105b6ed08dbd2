"""A GP over time, and what pseudo-observations make of it, as Markov chains: every pass costs time in proportion to T.

A path x_1, …, x_T with a Matérn 3/2 covariance over time is the first entry of a state z = (x, x′/r), r = √3/ℓ:

    z_1 ~ N(0, I),   z_{t+1} = A z_t + w_t,   A = e^-r [[1+r, r], [-r, 1-r]],   w_t ~ N(0, Q),   Q = I - A Aᵀ.

q(x) = N(m, S) with S = (K⁻¹ + Λ)⁻¹, Λ = diag λ, is what pseudo-observations of precision λ_t make of its spread. With

    Ω_t = λ_t h hᵀ + Aᵀ Ω_{t+1} M_{t+1} A,   M_t = (I + Q Ω_t)⁻¹,   Ω_{T+1} = 0,   h = (1, 0)ᵀ,

which is what the steps from t on tell about z_t, the state under q is again a chain: z_{t+1} = M A z_t + N(0, M Q),
with M = M_{t+1}. Its marginal covariances have the diagonal of S as their first entries, and

    log|I + K Λ| = log|I + Ω_1| + Σ_{t>1} log|I + Q Ω_t|.

Many chains run side by side, one for each series and latent input, in arrays (s, q). The axis of series has length 1
where all series share a chain. Matrices are written out entry by entry: nothing here calls LAPACK, and the compiler
makes one loop of every pass.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..numerics.pytrees import pytree
from ..numerics.types import Array

Entry = Float[Array, "s q"]
Square = tuple[Entry, Entry, Entry, Entry]  # a11, a12, a21, a22
Symmetric = tuple[Entry, Entry, Entry]  # a11, a12, a22


@pytree
class Transition:
    """z_{t+1} = A z_t + N(0, Q), for every chain. There may be an axis of time before the others."""

    matrix: Square  # A
    covariance: Symmetric  # Q

    @classmethod
    def of(cls, lengthscale: Entry) -> Transition:
        """The chain of a Matérn 3/2 covariance of variance 1, whose lengthscale is in steps."""
        r = jnp.sqrt(3.0) / lengthscale
        fade = jnp.exp(-r)
        # 1 - e^{-2r} (1 ± 2r + 2r²), with expm1 because r is small for slow paths
        lost, square = jnp.expm1(-2.0 * r), fade**2
        first, second = -lost - 2.0 * square * r * (1.0 + r), -lost + 2.0 * square * r * (1.0 - r)
        matrix = (fade * (1.0 + r), fade * r, -fade * r, fade * (1.0 - r))
        return cls(matrix, (first, 2.0 * square * r**2, second))

    def stepped(self, state: Symmetric) -> Symmetric:
        """The covariance of the state after one more step: A P Aᵀ + Q."""
        return tuple(map(jnp.add, _congruent(self.matrix, state), self.covariance))  # type: ignore[return-value]


@pytree
class Chain:
    """A Gaussian chain of T states with mean 0."""

    first: Symmetric  # covariance of z_1
    steps: Transition  # from z_t to z_{t+1}: T - 1 of them, along the first axis
    log_determinant: Entry  # log|I + K Λ|

    def variances(self) -> tuple[Float[Array, "T s q"], Symmetric]:
        """The marginal variances of x_t, which are the diagonal of S, and the covariance of the last state."""

        def step(state, transition):
            state = transition.stepped(state)
            return state, state[0]

        last, later = jax.lax.scan(step, self.first, self.steps)
        return jnp.concatenate([self.first[0][None], later]), last

    def gains(self) -> Gains:
        """The Cholesky factor of the covariance of x_1, …, x_T, as a recursion: x_t given all x before it."""

        def step(left, transition):
            # Given x_1, …, x_t only the second entry of z_t is uncertain, with variance `left`.
            std, pull, left = _conditioned(transition.stepped((0.0 * left, 0.0 * left, left)))
            return left, (std, pull)

        std, pull, left = _conditioned(self.first)
        _, (stds, pulls) = jax.lax.scan(step, left, self.steps)
        return Gains(self.steps.matrix, jnp.concatenate([std[None], stds]), jnp.concatenate([pull[None], pulls]))


@pytree
class Gains:
    """C with C Cᵀ = cov(x_1, …, x_T), lower triangular: x_t = E[x_t | x before] + std_t u_t."""

    matrix: Square  # T - 1 of them, along the first axis
    std: Float[Array, "T s q"]
    pull: Float[Array, "T s q"]  # how much x′ moves with what is new in x

    def paths(self, noise: Float[Array, "T s q"]) -> tuple[Float[Array, "T s q"], tuple[Entry, Entry]]:
        """C u, and the expected last state given this path."""
        new = self.std * noise

        def step(state, given):
            matrix, new, pull = given
            x, slope = _times(matrix, state)
            return (x + new, slope + pull * new), x + new

        first = (new[0], self.pull[0] * new[0])
        last, later = jax.lax.scan(step, first, (self.matrix, new[1:], self.pull[1:]))
        return jnp.concatenate([new[:1], later]), last

    def innovations(self, paths: Float[Array, "T s q"]) -> tuple[Float[Array, "T s q"], tuple[Entry, Entry]]:
        """C⁻¹ x, the inverse of `paths`, and the expected last state given this path."""

        def step(state, given):
            matrix, path, pull = given
            x, slope = _times(matrix, state)
            return (path, slope + pull * (path - x)), path - x

        first = (paths[0], self.pull[0] * paths[0])
        last, later = jax.lax.scan(step, first, (self.matrix, paths[1:], self.pull[1:]))
        return jnp.concatenate([paths[:1], later]) / self.std, last


def given_precisions(prior: Transition, precision: Float[Array, "T s q"]) -> Chain:
    """The chain under q, with covariance S = (K⁻¹ + diag λ)⁻¹ of x_1, …, x_T. With λ = 0 it is the prior itself."""

    def step(information, precision):
        matrix, covariance, log_determinant, told = _weighed(prior, information)
        return (told[0] + precision, *told[1:]), (matrix, covariance, log_determinant)

    nothing = jnp.zeros_like(precision[-1])
    information, (matrix, covariance, logs) = jax.lax.scan(
        step, (precision[-1], nothing, nothing), precision[:-1], reverse=True
    )
    one = jnp.ones_like(nothing)
    _, first, log_first, _ = _weighed(Transition((one, nothing, nothing, one), (one, nothing, one)), information)
    return Chain(first, Transition(matrix, covariance), log_first + jnp.sum(logs, axis=0))


def _weighed(prior: Transition, information: Symmetric) -> tuple[Square, Symmetric, Entry, Symmetric]:
    """M A, M Q, log|I + Q Ω| and Aᵀ Ω M A, with M = (I + Q Ω)⁻¹."""
    (q1, q2, q3), (o1, o2, o3) = prior.covariance, information
    # I + QΩ   [2, 2], whose determinant is a sum of terms that are not negative
    g11, g12, g21, g22 = 1.0 + q1 * o1 + q2 * o2, q1 * o2 + q2 * o3, q2 * o1 + q3 * o2, 1.0 + q2 * o2 + q3 * o3
    determinant = 1.0 + q1 * o1 + 2.0 * q2 * o2 + q3 * o3 + (q1 * q3 - q2**2) * (o1 * o3 - o2**2)
    m11, m12, m21, m22 = g22 / determinant, -g12 / determinant, -g21 / determinant, g11 / determinant
    a11, a12, a21, a22 = prior.matrix
    matrix = (m11 * a11 + m12 * a21, m11 * a12 + m12 * a22, m21 * a11 + m22 * a21, m21 * a12 + m22 * a22)
    covariance = (m11 * q1 + m12 * q2, m11 * q2 + m12 * q3, m21 * q2 + m22 * q3)
    kept = (o1 * m11 + o2 * m21, o1 * m12 + o2 * m22, o2 * m12 + o3 * m22)  # Ω M, which is symmetric
    return matrix, covariance, jnp.log(determinant), _congruent((a11, a21, a12, a22), kept)


def _congruent(matrix: Square, middle: Symmetric) -> Symmetric:
    """A P Aᵀ."""
    (a11, a12, a21, a22), (p1, p2, p3) = matrix, middle
    return (
        a11**2 * p1 + 2.0 * a11 * a12 * p2 + a12**2 * p3,
        a11 * a21 * p1 + (a11 * a22 + a12 * a21) * p2 + a12 * a22 * p3,
        a21**2 * p1 + 2.0 * a21 * a22 * p2 + a22**2 * p3,
    )


def _times(matrix: Square, state: tuple[Entry, Entry]) -> tuple[Entry, Entry]:
    """A z."""
    return matrix[0] * state[0] + matrix[1] * state[1], matrix[2] * state[0] + matrix[3] * state[1]


def _conditioned(state: Symmetric) -> tuple[Entry, Entry, Entry]:
    """If x becomes known: its standard deviation before, how x′ moves with it, and the variance of x′ that is left."""
    pull = state[1] / state[0]
    return jnp.sqrt(state[0]), pull, state[2] - pull * state[1]
