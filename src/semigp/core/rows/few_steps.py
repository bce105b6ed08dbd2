"""q(x) of incomplete rows given q(U), each row on its own and in a fixed number of steps: the local step of a stream.

A row's missing inputs have the prior N(m, Λ⁻¹) given its other inputs, and the row observes outputs y_d with noise
variance σ_d². Around a guess x, with slopes J_d = ∂f_d/∂x, they are about N(x + P⁻¹g, P⁻¹),

    P = Λ + Σ_d J_d J_dᵀ/σ_d²,    g = Σ_d J_d (y_d - f_d(x))/σ_d² - Λ (x - m).

Guesses are the prior's mean and the missing inputs of known rows that are alike. Where the row's own part of the bound
is highest, a few steps of BFGS begin, with P⁻¹ as their first metric. Nothing is kept from one visit to the next, so
that memory does not grow with the rows.
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

# Known rows that a row is likened to, how many of them are looked at closely, and steps from the best.
_GUESSES, _TRIED, _STEPS = 8, 3, 8
# P forgets the curvature of f, and is too small where its slope happens to be: narrower beliefs are tried as well.
_WIDTHS = (1.0, 0.2, 0.04)
# An output tells as much about a missing input as so many known inputs.
_OUTPUT_WEIGHT = 2.0


@pytree
class KnownRows:
    """Rows without holes, in standard units."""

    inputs: Float[Array, "k q"]
    outputs: Float[Array, "k p"]


def infer_inputs(
    posterior: Posterior, rows: IncompleteRows, prior: RowPrior, known: KnownRows
) -> tuple[Float[Array, "n q"], Float[Array, "n q"]]:
    """Mean and variance of q(x); observed entries are as they are, with variance 0."""
    has_all = rows.targets.weights.shape[1] == 1  # one group: every row that has any weight has all outputs
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
    """The prior's mean, and what the known rows have that are nearest in inputs and outputs."""
    first = jnp.where(rows.unknown, prior.mean, rows.values)[None]
    if not known.inputs.shape[0]:
        return first
    far = _squares(rows.values, ~rows.unknown, known.inputs)
    far += _OUTPUT_WEIGHT * _squares(rows.targets.values, rows.seen, known.outputs)
    nearest = _lowest(far, min(_GUESSES, far.shape[1]))
    return jnp.concatenate([first, jnp.where(rows.unknown, known.inputs[nearest], rows.values)])


def _squares(rows: Float[Array, "n d"], counts: Bool[Array, "n d"], others: Float[Array, "k d"]):
    """Squared distances over the entries that count, but for what depends on the row alone   [n, k]."""
    return counts.astype(rows.dtype) @ (others**2).T - 2.0 * jnp.where(counts, rows, 0.0) @ others.T


def _linearised(posterior: Posterior, rows: IncompleteRows, prior: RowPrior, guess: Float[Array, "n q"]):
    """X + P⁻¹g, and P⁻¹, which is 0 for known entries."""
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
    """Where each row's lowest values are; sorting all of them would cost more than all else here."""
    places = jnp.arange(values.shape[1])

    def take(values, _):
        lowest = jnp.argmin(values, axis=1)
        return jnp.where(lowest[:, None] == places, jnp.inf, values), lowest

    return jax.lax.scan(take, jnp.where(jnp.isnan(values), jnp.inf, values), None, length=count)[1]


def _first_metric(metric: Float[Array, "n q q"], gradients: Float[Array, "n d"]) -> Float[Array, "n d d"]:
    """P⁻¹ for the means. ½(τS - log S) has the gradient g = ½(τS - 1) and the curvature g + ½ in log S."""
    q = metric.shape[1]
    of_log_variance = 1.0 / (0.5 + jnp.maximum(gradients[:, q:], 0.0))
    inverse = jnp.zeros((metric.shape[0], 2 * q, 2 * q)).at[:, :q, :q].set(metric)
    return inverse.at[:, q:, q:].set(of_log_variance[:, :, None] * jnp.eye(q))
