"""How much each depth counts: by the density of outputs that were held back (stacking, Yao et al. 2018).

The log density of a mixture, Σ_i log Σ_k w_k p_k(y_i), is concave in the weights. The best weights are found by
expectation maximisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, softmax

if TYPE_CHECKING:
    from .chains import Chain

_ITERATIONS = 300
# Every depth begins with so many rows that speak for it.
_ROWS_FOR_EACH = 1.0
_DECIMALS = 6


def weigh_depths(chains: Sequence[Chain]) -> dict[int, float]:
    """The weight of every depth, from what was held back from chains of all of them.

    After an interrupt some chains are missing, and the deepest have none in common with the others: they do not count.
    """
    by_depth: dict[int, dict[int, Chain]] = {}
    for chain in chains:
        by_depth.setdefault(chain.n_layers, {})[chain.number] = chain
    depths = sorted(by_depth)
    while depths:
        common = sorted(set.intersection(*(set(by_depth[depth]) for depth in depths)))
        if common:
            columns = [[by_depth[depths[0]][number].one_layer for number in common]]
            columns += [[by_depth[depth][number].stacked for number in common] for depth in depths]
            weights = stacking_weights(np.column_stack([np.concatenate(column) for column in columns]))
            return dict(zip([1, *depths], weights.tolist(), strict=True))
        depths.pop()
    return {1: 1.0}


def stacking_weights(logs: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " k"]:
    """The weights of k models, from the log densities of n outputs that none of them has seen."""
    weights = np.full(logs.shape[1], 1.0 / logs.shape[1])
    for _ in range(_ITERATIONS):
        shares = softmax(logs + np.log(weights), axis=1)
        weights = (shares.sum(axis=0) + _ROWS_FOR_EACH) / (len(logs) + _ROWS_FOR_EACH * logs.shape[1])
    rounded = np.round(weights, _DECIMALS)
    return rounded / rounded.sum()


def log_mean(logs: Float[np.ndarray, "s n"]) -> Float[np.ndarray, " n"]:
    """The logarithm of the mean of densities."""
    return logsumexp(logs, axis=0) - np.log(len(logs))
