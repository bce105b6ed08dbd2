"""Linear algebra: a Cholesky factor that adapts its jitter and reports it, and inverses of many small matrices."""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from .types import Array

_MAX_JITTER = 0.1


def jittered_cholesky(
    matrix: Float[Array, "m m"], jitter: Float[Array, ""]
) -> tuple[Float[Array, "m m"], Float[Array, ""]]:
    """L Lᵀ = matrix + jitter · (mean of its diagonal) · I, and the jitter that was needed.

    If the factorisation fails, the jitter grows tenfold until it succeeds. Past 0.1 the factor is NaN: the matrix is
    not a covariance, or not finite. The search is a loop, so the result cannot be differentiated.
    """
    nugget = jnp.mean(jnp.diagonal(matrix)) * jnp.eye(len(matrix))

    def grow(state):
        amount = jnp.maximum(10.0 * state[0], 1e-12)
        return amount, jnp.linalg.cholesky(matrix + amount * nugget)

    def fails(state):
        return ~jnp.all(jnp.isfinite(state[1])) & (state[0] < _MAX_JITTER)

    needed, factor = jax.lax.while_loop(fails, grow, (jitter, jnp.linalg.cholesky(matrix + jitter * nugget)))
    return factor, needed


@jax.custom_jvp
def inverses(matrices: Float[Array, "n q q"]) -> tuple[jax.Array, jax.Array]:
    """Inverse and log|·| of many small matrices D⁻¹SD, with S positive definite and D diagonal.

    The method is Gauss-Jordan elimination. The pivots are the pivots of S, which are positive. So no rows are
    exchanged, and every step is the same for all matrices, which suits vector units and GPUs. Batched LAPACK is
    avoided: jaxlib hands its calls to a pool of threads and waits, and two such calls at the same time wait for each
    other forever (seen with jaxlib 0.10.2 on two cores).
    """
    q = matrices.shape[1]

    def eliminate(k, state):
        matrices, log_determinant = state
        is_k = jnp.arange(q) == k
        row, column = matrices[:, k, :], matrices[:, :, k]
        pivot = row[:, k, None]
        row = jnp.where(is_k, 1.0, row) / pivot
        # Row k is divided by the pivot and subtracted from the other rows; column k becomes a column of the inverse.
        others = jnp.where(is_k, 0.0, matrices) - column[:, :, None] * row[:, None, :]
        return jnp.where(is_k[:, None], row[:, None, :], others), log_determinant + jnp.log(pivot[:, 0])

    return jax.lax.fori_loop(0, q, eliminate, (matrices, jnp.zeros(matrices.shape[:1], matrices.dtype)))


@inverses.defjvp
def _inverses_jvp(primals, tangents):
    inverse, log_determinant = inverses(*primals)
    turned = inverse @ tangents[0]
    return (inverse, log_determinant), (-turned @ inverse, jnp.trace(turned, axis1=1, axis2=2))


def diagonal(variance: Array) -> Array:
    """The variances of the entries of each row, whether `variance` is (n, q) or a full covariance (n, q, q)."""
    return jnp.diagonal(variance, axis1=1, axis2=2) if variance.ndim == 3 else variance


def solve_lower(factor: Float[Array, "m m"], right: Float[Array, "m ..."], transpose: bool = False) -> Array:
    """L⁻¹ right, or L⁻ᵀ right."""
    return jax.scipy.linalg.solve_triangular(factor, right, lower=True, trans=1 if transpose else 0)
