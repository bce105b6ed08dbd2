"""q(x) of incomplete rows given q(U), in a fixed number of steps for each row. Streams use it for every batch.

A row's missing inputs have the prior N(m, Λ⁻¹) given its other inputs, and the row has outputs y_d with noise variance
σ_d². If f is linearised at a guess x, with slopes J_d = ∂f_d/∂x, the missing inputs are N(x + P⁻¹g, P⁻¹) with

    P = Λ + Σ_d J_d J_dᵀ/σ_d²,    g = Σ_d J_d (y_d - f_d(x))/σ_d² - Λ (x - m).

The guesses are the prior's mean, and the values that similar known rows have for the missing inputs. A few steps of
BFGS start where the row's part of the bound is highest, with P⁻¹ as the first metric. Nothing is kept until the row
comes again, so that memory does not grow with the number of rows.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from ..inputs.priors import RowPrior
from ..numerics.linalg import diagonal, inverses
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..sparse.posterior import Posterior
from .bfgs import improve
from .losses import IncompleteRows, row_losses, with_gradients

# The number of similar known rows that give guesses, how many guesses are then compared by the bound, and the number of
# steps from the best one.
_GUESSES, _TRIED, _STEPS = 8, 3, 8
# P ignores the curvature of f, and is too small where the slope of f happens to be small. So narrower beliefs, with
# these factors on the variance, are tried as well.
_WIDTHS = (1.0, 0.2, 0.04)
# In the distance between rows, an output counts as much as this many inputs.
_OUTPUT_WEIGHT = 2.0


@pytree
class KnownRows:
    """Rows without holes, in standard units. Incomplete rows are compared with them."""

    inputs: Float[Array, "k q"]
    outputs: Float[Array, "k p"]


def infer_inputs(
    posterior: Posterior, rows: IncompleteRows, prior: RowPrior, known: KnownRows
) -> tuple[Float[Array, "n q"], Float[Array, "n q"]]:
    """Mean and variance of q(x). Observed entries keep their values, with variance 0."""
    has_all = rows.targets.weights.shape[1] == 1  # with one group, every row but padding has all outputs
    loss, guesses = row_losses(posterior, rows, prior, has_all), _guesses(rows, prior, known)
    means, metrics, scores = jax.lax.map(lambda guess: _linearised(posterior, rows, prior, guess), guesses)
    chosen, every = _lowest(-scores.T, min(_TRIED, len(guesses))), jnp.arange(len(rows.values))
    means, metrics = means[chosen, every], metrics[chosen, every]  # [tried, n, …]
    variances = jnp.where(rows.unknown, diagonal(metrics.reshape(-1, *metrics.shape[2:])).reshape(means.shape), 1.0)
    starts = jnp.concatenate([jnp.concatenate([means, jnp.log(width * variances)], axis=2) for width in _WIDTHS])
    losses = jax.lax.map(loss, starts)  # [widths · tried, n]
    best = jnp.argmin(jnp.where(jnp.isnan(losses), jnp.inf, losses), axis=0)
    start, metric = starts[best, every], metrics[best % len(chosen), every]
    free = improve(with_gradients(loss), start, lambda gradients: _first_metric(metric, gradients), _STEPS)
    return rows.moments(free)


def _guesses(rows: IncompleteRows, prior: RowPrior, known: KnownRows) -> Float[Array, "k n q"]:
    """Guesses of the missing inputs: the prior's mean, and the values in the nearest known rows."""
    first = jnp.where(rows.unknown, prior.mean, rows.values)[None]
    if not known.inputs.shape[0]:
        return first
    far = _squares(rows.values, ~rows.unknown, known.inputs)
    far += _OUTPUT_WEIGHT * _squares(rows.targets.values, rows.seen, known.outputs)
    nearest = _lowest(far, min(_GUESSES, far.shape[1]))
    return jnp.concatenate([first, jnp.where(rows.unknown, known.inputs[nearest], rows.values)])


def _squares(rows: Float[Array, "n d"], counts: Bool[Array, "n d"], others: Float[Array, "k d"]):
    """Squared distances [n, k] over the entries that count, without the terms that depend on the row alone."""
    return counts.astype(rows.dtype) @ (others**2).T - 2.0 * jnp.where(counts, rows, 0.0) @ others.T


def _linearised(posterior: Posterior, rows: IncompleteRows, prior: RowPrior, guess: Float[Array, "n q"]):
    """X + P⁻¹g, P⁻¹ (which is 0 for known entries), and a score of the guess, where higher is better."""
    kernel, inducing, weights, unknown = posterior.kernel, posterior.inducing_inputs, posterior.weights, rows.unknown
    functions, pull_back = jax.vjp(lambda x: kernel.cross(x, inducing) @ weights, guess)
    one_hot = jnp.eye(functions.shape[1])[:, None] * jnp.ones_like(functions)  # [p, n, p]
    slopes = jnp.where(unknown, jnp.stack([pull_back(output)[0] for output in one_hot]), 0.0)  # J   [p, n, q]
    share = jnp.where(rows.seen, 1.0 / posterior.likelihood.noise_variance, 0.0).T  # [p, n]
    offset = jnp.where(unknown, guess - prior.mean, 0.0)
    pull = jnp.einsum("dni,dn->ni", slopes, share * (rows.targets.values - functions).T)  # g
    pull -= jnp.einsum("nij,nj->ni", prior.precision, offset)
    precision = prior.precision + jnp.einsum("dni,dn,dnj->nij", slopes, share, slopes)
    both = unknown[:, :, None] & unknown[:, None, :]
    metric = jnp.where(both, inverses(jnp.where(both, precision, jnp.eye(guess.shape[1])))[0], 0.0)
    mean = guess + jnp.einsum("nij,nj->ni", metric, pull)
    offset = jnp.where(unknown, mean - prior.mean, 0.0)
    square = jnp.sum(share.T * (rows.targets.values - kernel.cross(mean, inducing) @ weights) ** 2, axis=1)
    square += jnp.einsum("ni,nij,nj->n", offset, prior.precision, offset)
    return mean, metric, 0.5 * jnp.sum(jnp.log(jnp.where(unknown, diagonal(metric), 1.0)), axis=1) - 0.5 * square


def _lowest(values: Float[Array, "n k"], count: int) -> Int[Array, "count n"]:
    """The places of each row's lowest values. Sorting would cost more than everything else in this module."""
    places = jnp.arange(values.shape[1])

    def take(values, _):
        lowest = jnp.argmin(values, axis=1)
        return jnp.where(lowest[:, None] == places, jnp.inf, values), lowest

    return jax.lax.scan(take, jnp.where(jnp.isnan(values), jnp.inf, values), None, length=count)[1]


def _first_metric(metric: Float[Array, "n q q"], gradients: Float[Array, "n d"]) -> Float[Array, "n d d"]:
    """The first inverse Hessian: P⁻¹ for the means, and 1/(g + ½) for the log variances.

    The loss has the form ½(τS - log S) in a variance S. In log S, its gradient is g = ½(τS - 1), its curvature g + ½.
    """
    q = metric.shape[1]
    of_log_variance = 1.0 / (0.5 + jnp.maximum(gradients[:, q:], 0.0))
    inverse = jnp.zeros((metric.shape[0], 2 * q, 2 * q)).at[:, :q, :q].set(metric)
    return inverse.at[:, q:, q:].set(of_log_variance[:, :, None] * jnp.eye(q))
