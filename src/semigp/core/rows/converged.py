"""q(x) of new rows, given q(U), by a search that runs until it converges.

Given q(U), the rows are independent. Many rows take their steps at the same time, but the result for a row does not
depend on the rows beside it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

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
from .losses import IncompleteRows, losses_of_views, with_gradients

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
    """Mean and variance of q(x), and each row's part of the bound up to a constant that depends on its targets only.

    Parameters
    ----------
    targets
        The outputs of the rows, NaN where missing.
    mean, variance
        The moments of q(x) at the start.
    inputs
        The known inputs of the rows, NaN where unknown. By default all inputs are unknown.
    prior
        The prior of the unknown inputs, by default N(0, I).
    """
    return infer_rows_of_views((posterior,), (targets,), mean, variance, inputs, prior)


def infer_rows_of_views(
    posteriors: Sequence[Posterior],
    targets: Sequence[Float[np.ndarray, "n p"]],
    mean: Float[np.ndarray, "n q"],
    variance: Float[np.ndarray, "n q"],
    inputs: Float[np.ndarray, "n q"] | None = None,
    prior: InputPrior | None = None,
) -> Found:
    """The same as `infer_rows`, for rows whose outputs are in several views, each of which has its own q(U)."""
    inputs = np.full(mean.shape, np.nan) if inputs is None else inputs
    prior = StandardPrior() if prior is None else prior
    is_complete = np.logical_and.reduce([~np.isnan(each).any(axis=1) for each in targets])
    most_inducing = max(posterior.inducing_inputs.shape[0] for posterior in posteriors)
    moments, scores = np.zeros((2, *mean.shape)), np.zeros(len(mean))
    # Rows in which every output is observed share their coefficients of Ψ2. Other rows each have their own.
    for has_all in (True, False):
        rows = np.flatnonzero(is_complete == has_all)
        size = max(8, min(_MOST_ROWS, rows_per_chunk(10**9, most_inducing**2)))
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            padded = np.resize(some, size)  # a single shape needs a single compilation
            taken = tuple(_take(inputs[padded], each[padded], has_all) for each in targets)
            search = in_float64(functools.partial(_search, has_all=has_all))
            *found, score = search(tuple(posteriors), taken, prior, mean[padded], variance[padded])
            moments[:, some], scores[some] = np.array(found)[:, : len(some)], score[: len(some)]
    return moments[0], moments[1], scores


def _take(inputs: np.ndarray, targets: np.ndarray, has_all: bool) -> IncompleteRows:
    unknown, seen = np.isnan(inputs), ~np.isnan(targets)
    p = targets.shape[1]
    weights, group = (np.ones((len(targets), 1)), np.zeros(p)) if has_all else (seen.astype(float), np.arange(p))
    known = Targets(np.where(seen, targets, 0.0), weights, group.astype(np.int32))
    return IncompleteRows(np.where(unknown, 0.0, inputs), unknown, known)


@functools.partial(jax.jit, static_argnames="has_all")
def _search(posteriors, views: tuple[IncompleteRows, ...], prior: InputPrior, mean, variance, has_all: bool):
    rows = views[0]
    losses = losses_of_views(posteriors, views, prior.for_rows(rows.values, rows.unknown), has_all)
    start = jnp.concatenate([mean, jnp.log(jnp.where(rows.unknown, variance, 1.0))], axis=1)
    free, values = descend(with_gradients(losses), start)
    return *rows.moments(free), -values
