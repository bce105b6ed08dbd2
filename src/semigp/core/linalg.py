"""Linear algebra that says what it did: a Cholesky factor that adapts its jitter."""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from .types import Array

_MAX_JITTER = 0.1


def jittered_cholesky(
    matrix: Float[Array, "m m"], jitter: Float[Array, ""]
) -> tuple[Float[Array, "m m"], Float[Array, ""]]:
    """L Lᵀ = matrix + jitter · (mean of its diagonal) · I, and the jitter that was needed.

    Where the factorisation fails, the jitter grows tenfold until it succeeds; past 0.1 the factor is NaN, which
    means that the matrix itself is not a covariance (or not finite). The search is a loop and so not to be
    differentiated.
    """
    nugget = jnp.mean(jnp.diagonal(matrix)) * jnp.eye(len(matrix))

    def grow(state):
        amount = jnp.maximum(10.0 * state[0], 1e-12)
        return amount, jnp.linalg.cholesky(matrix + amount * nugget)

    def fails(state):
        return ~jnp.all(jnp.isfinite(state[1])) & (state[0] < _MAX_JITTER)

    needed, factor = jax.lax.while_loop(fails, grow, (jitter, jnp.linalg.cholesky(matrix + jitter * nugget)))
    return factor, needed


def solve_rows(matrices: Float[Array, "n q q"], right: Float[Array, "n q k"]) -> Array:
    """matrices⁻¹ right, row by row.

    Never as a batch: on CPUs jaxlib hands a batch of LAPACK calls to a pool of threads and waits for it, and two such
    calls at the same time wait for each other for ever (seen with jaxlib 0.10.2 on two cores).
    """
    return jax.lax.map(lambda row: jnp.linalg.solve(*row), (matrices, right))


def log_determinants(matrices: Float[Array, "n q q"]) -> jax.Array:
    """log|·| of every matrix, row by row for the same reason."""
    return jax.lax.map(lambda matrix: jnp.linalg.slogdet(matrix)[1], matrices)


def inverses(matrices: Float[Array, "n q q"]) -> Float[Array, "n q q"]:
    """The inverse of every matrix, row by row for the same reason."""
    return jax.lax.map(jnp.linalg.inv, matrices)


def diagonal(variance: Array) -> Array:
    """The variances of the entries of each row, whether `variance` is (n, q) or a full covariance (n, q, q)."""
    return jnp.diagonal(variance, axis1=1, axis2=2) if variance.ndim == 3 else variance


def solve_lower(factor: Float[Array, "m m"], right: Float[Array, "m ..."], transpose: bool = False) -> Array:
    """L⁻¹ right, or L⁻ᵀ right."""
    return jax.scipy.linalg.solve_triangular(factor, right, lower=True, trans=1 if transpose else 0)
