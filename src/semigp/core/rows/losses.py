"""The loss that each row's q(x) minimises, given q(U): KL(q(x_n) ‖ p(x_n)) - E[log p(y_n | x_n, U)].

A row has 2q free numbers: the means and log variances of its inputs. Known inputs do not move, and have variance 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    """Rows whose inputs are not all known. Rows that are padding have no missing input, and weight 0."""

    values: Float[Array, "n q"]  # inputs, 0 where missing
    unknown: Bool[Array, "n q"]
    targets: Targets

    @property
    def seen(self) -> Bool[Array, "n p"]:
        """Which outputs are observed in each row."""
        return self.targets.weights[:, self.targets.group] > 0

    def moments(self, free: Float[Array, "n 2q"]) -> tuple[Float[Array, "n q"], Float[Array, "n q"]]:
        """Mean and variance of q(x) from the free numbers. Known inputs keep their values, with variance 0."""
        mean, log_variance = jnp.split(free, 2, axis=1)
        variance = jnp.exp(jnp.where(self.unknown, log_variance, 0.0))
        return jnp.where(self.unknown, mean, self.values), jnp.where(self.unknown, variance, 0.0)


def row_losses(
    posterior: Posterior, rows: IncompleteRows, prior: RowPrior, has_all: bool
) -> Callable[[Array], Float[Array, " n"]]:
    """(mean, log variance) [n, 2q] → the loss of every row, up to a constant that depends on its outputs alone.

    `has_all` says that all outputs are observed in every row that is not padding.
    """
    return losses_of_views((posterior,), (rows,), prior, has_all)


def losses_of_views(
    posteriors: Sequence[Posterior], views: Sequence[IncompleteRows], prior: RowPrior, has_all: bool
) -> Callable[[Array], Float[Array, " n"]]:
    """The same for rows whose outputs are in several views, each of which has its own q(U).

    Given x, the views are independent: their expected log likelihoods add up. All views have the same inputs.
    """
    likelihoods = [
        row_likelihood(posterior, row_terms(posterior, view.targets.values, view.seen | has_all, has_all))
        for posterior, view in zip(posteriors, views, strict=True)
    ]
    rows = views[0]

    def losses(free):
        mean, variance = rows.moments(free)
        log_variance = jnp.where(rows.unknown, free[:, mean.shape[1] :], 0.0)
        apart = _divergence(mean, variance, log_variance, prior, rows.unknown)
        return apart - sum(likelihood(mean, variance) for likelihood in likelihoods)

    return losses


def _divergence(mean, variance, log_variance, prior: RowPrior, unknown) -> Float[Array, " n"]:
    """KL(q(x) ‖ p(x)) of every row: ½ [tr Λ S + (μ-m)ᵀ Λ (μ-m) - log|S| - log|Λ| - #unknown]."""
    offset = jnp.where(unknown, mean - prior.mean, 0.0)
    if prior.precision.ndim == 3:
        apart = jnp.einsum("ni,nij,nj->n", offset, prior.precision, offset)
    else:
        apart = jnp.sum(prior.precision * offset**2, axis=1)
    spread = jnp.sum(diagonal(prior.precision) * variance - log_variance, axis=1)
    return 0.5 * (apart + spread - prior.log_precision - jnp.sum(unknown, axis=1))


def with_gradients(losses: Callable) -> Callable:
    """A function that returns the sum of the losses, the losses, and each row's gradient: ((Σ, losses), gradients)."""

    def total(free):
        values = losses(free)
        return jnp.sum(values), values

    return jax.value_and_grad(total, has_aux=True)
