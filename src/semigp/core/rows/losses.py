"""What each row's q(x) minimises, q(U) given: KL(q(x_n) ‖ p(x_n)) - E[log p(y_n | x_n, U)].

A row is a vector of 2q free numbers, means and log variances. Known inputs do not move and have no variance.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float

from ..inputs.priors import RowPrior
from ..numerics.linalg import diagonal
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..sparse.expected_likelihood import row_likelihood, row_terms
from ..sparse.posterior import Posterior
from ..sparse.targets import Targets


@pytree
class IncompleteRows:
    """Rows whose inputs are not all known. A row that only fills up a shape has no missing input and no weight."""

    values: Float[Array, "n q"]  # 0 where missing
    unknown: Bool[Array, "n q"]
    targets: Targets

    @property
    def seen(self) -> Bool[Array, "n p"]:
        """Which outputs are observed."""
        return self.targets.weights[:, self.targets.group] > 0

    def moments(self, free: Float[Array, "n 2q"]) -> tuple[Float[Array, "n q"], Float[Array, "n q"]]:
        """Mean and variance of q(x) from the free numbers; known inputs are themselves, with variance 0."""
        mean, log_variance = jnp.split(free, 2, axis=1)
        variance = jnp.exp(jnp.where(self.unknown, log_variance, 0.0))
        return jnp.where(self.unknown, mean, self.values), jnp.where(self.unknown, variance, 0.0)


def row_losses(
    posterior: Posterior, rows: IncompleteRows, prior: RowPrior, has_all: bool
) -> Callable[[Array], Float[Array, " n"]]:
    """(mean, log variance) [n, 2q] → the loss of every row, up to a constant that depends on its outputs alone.

    `has_all` says that every row observes all outputs, but for rows that only fill up a shape.
    """
    terms = row_terms(posterior, rows.targets.values, rows.seen | has_all, has_all)
    likelihood = row_likelihood(posterior, terms)

    def losses(free):
        mean, variance = rows.moments(free)
        log_variance = jnp.where(rows.unknown, free[:, mean.shape[1] :], 0.0)
        return _divergence(mean, variance, log_variance, prior, rows.unknown) - likelihood(mean, variance)

    return losses


def _divergence(mean, variance, log_variance, prior: RowPrior, unknown) -> Float[Array, " n"]:
    """½ [tr Λ S + (μ-m)ᵀ Λ (μ-m) - log|S| - log|Λ| - #unknown] of every row: its KL(q(x) ‖ p(x))."""
    offset = jnp.where(unknown, mean - prior.mean, 0.0)
    if prior.precision.ndim == 3:
        apart = jnp.einsum("ni,nij,nj->n", offset, prior.precision, offset)
    else:
        apart = jnp.sum(prior.precision * offset**2, axis=1)
    spread = jnp.sum(diagonal(prior.precision) * variance - log_variance, axis=1)
    return 0.5 * (apart + spread - prior.log_precision - jnp.sum(unknown, axis=1))


def with_gradients(losses: Callable) -> Callable:
    """The losses' sum and themselves, and every row's own gradient, as ((Σ, losses), gradients)."""

    def total(free):
        values = losses(free)
        return jnp.sum(values), values

    return jax.value_and_grad(total, has_aux=True)
