"""q(x) of new rows, q(U) given, searched until it no longer moves: every row on its own, many side by side.

Given q(U), the rows are independent. They take their steps at the same time but share nothing, so that what is found
for a row does not depend on the rows beside it.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..inputs.priors import InputPrior, StandardPrior
from ..numerics.chunks import rows_per_chunk
from ..numerics.precision import in_float64
from ..sparse.posterior import Posterior
from ..sparse.targets import Targets
from .bfgs import descend
from .losses import IncompleteRows, row_losses, with_gradients

_MOST_ROWS = 256

Found = tuple[Float[np.ndarray, "n q"], Float[np.ndarray, "n q"], Float[np.ndarray, " n"]]


def infer_rows(
    posterior: Posterior,
    targets: Float[np.ndarray, "n p"],
    mean: Float[np.ndarray, "n q"],
    variance: Float[np.ndarray, "n q"],
    inputs: Float[np.ndarray, "n q"] | None = None,
    prior: InputPrior | None = None,
) -> Found:
    """Mean and variance of q(x), and each row's own part of the bound, up to a constant that depends on its targets.

    Parameters
    ----------
    targets
        The rows' outputs, NaN where missing.
    mean, variance
        The moments to start from.
    inputs
        The rows' known inputs, NaN where they are to be found; by default all are.
    prior
        Of the unknown inputs; by default N(0, I).
    """
    inputs = np.full(mean.shape, np.nan) if inputs is None else inputs
    prior = StandardPrior() if prior is None else prior
    seen = ~np.isnan(targets)
    moments, scores = np.zeros((2, *mean.shape)), np.zeros(len(mean))
    # Rows that observe every output share their Ψ2 coefficients; the others have them row by row.
    for has_all in (True, False):
        rows = np.flatnonzero(seen.all(axis=1) == has_all)
        size = max(8, min(_MOST_ROWS, rows_per_chunk(10**9, posterior.inducing_inputs.shape[0] ** 2)))
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            padded = np.resize(some, size)  # one shape, one compilation
            taken = _take(inputs[padded], targets[padded], has_all)
            search = in_float64(functools.partial(_search, has_all=has_all))
            *found, score = search(posterior, taken, prior, mean[padded], variance[padded])
            moments[:, some], scores[some] = np.array(found)[:, : len(some)], score[: len(some)]
    return moments[0], moments[1], scores


def _take(inputs: np.ndarray, targets: np.ndarray, has_all: bool) -> IncompleteRows:
    unknown, seen = np.isnan(inputs), ~np.isnan(targets)
    p = targets.shape[1]
    weights, group = (np.ones((len(targets), 1)), np.zeros(p)) if has_all else (seen.astype(float), np.arange(p))
    known = Targets(np.where(seen, targets, 0.0), weights, group.astype(np.int32))
    return IncompleteRows(np.where(unknown, 0.0, inputs), unknown, known)


@functools.partial(jax.jit, static_argnames="has_all")
def _search(posterior, rows: IncompleteRows, prior: InputPrior, mean, variance, has_all: bool):
    losses = row_losses(posterior, rows, prior.for_rows(rows.values, rows.unknown), has_all)
    start = jnp.concatenate([mean, jnp.log(jnp.where(rows.unknown, variance, 1.0))], axis=1)
    free, values = descend(with_gradients(losses), start)
    return *rows.moments(free), -values
