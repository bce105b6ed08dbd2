"""q(x) of new rows, all inputs latent and q(U) given: every row on its own, many at once.

Given q(U), the rows are independent, and each raises its own E[log p(y_n | x_n, U)] - KL(q(x_n) ‖ N(0, I)), the first
term as in `sparse.expected_likelihood`. The rows take their steps side by side but share nothing, so that what a row
is found to be does not depend on its company.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.chunks import rows_per_chunk
from ..numerics.precision import in_float64
from ..numerics.types import Array
from ..sparse.expected_likelihood import RowTerms, row_likelihood, row_terms
from ..sparse.posterior import Posterior
from .bfgs import descend

_MOST_ROWS = 256


def infer_rows(
    posterior: Posterior, targets: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of q(x) for rows of targets (n, p), NaN where missing, from the moments to start at.

    And each row's own part of the bound, up to a constant that depends on the targets alone.
    """
    seen = ~np.isnan(targets)
    moments, scores = np.zeros((2, *mean.shape)), np.zeros(len(mean))
    # Complete rows share their Ψ2 coefficients; the others have them row by row.
    for complete in (True, False):
        rows = np.flatnonzero(seen.all(axis=1) == complete)
        size = max(8, min(_MOST_ROWS, rows_per_chunk(10**9, posterior.inducing_inputs.shape[0] ** 2)))
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            padded = np.resize(some, size)  # one shape, one compilation
            values = np.where(seen, targets, 0.0)[padded]
            climb = in_float64(functools.partial(_climb, shared=complete))
            *found, score = climb(posterior, values, seen[padded], mean[padded], variance[padded])
            moments[:, some], scores[some] = np.array(found)[:, : len(some)], score[: len(some)]
    return moments[0], moments[1], scores


@functools.partial(jax.jit, static_argnames="shared")
def _climb(posterior, values, seen, mean, variance, shared: bool):
    score = _score(posterior, row_terms(posterior, values, seen, shared))
    q = mean.shape[1]

    def loss(free):
        losses = -score(free[:, :q], jnp.exp(free[:, q:]))
        return jnp.sum(losses), losses

    start = jnp.concatenate([mean, jnp.log(variance)], axis=1)
    free, losses = descend(jax.value_and_grad(loss, has_aux=True), start)
    return free[:, :q], jnp.exp(free[:, q:]), -losses


def _score(posterior: Posterior, terms: RowTerms) -> Callable[..., Float[Array, " n"]]:
    """(mean, variance) → each row's own part of the bound, up to a constant."""
    likelihood = row_likelihood(posterior, terms)

    def score(mean, variance):
        return likelihood(mean, variance) - 0.5 * jnp.sum(variance + mean**2 - jnp.log(variance) - 1.0, axis=1)

    return score
