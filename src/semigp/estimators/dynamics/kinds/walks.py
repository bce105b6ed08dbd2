"""Training steps that are similar to the steps of a new series, one by one and as a walk."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from sklearn.metrics.pairwise import nan_euclidean_distances

# What a walk pays, in mean squared distances: to leave the order of the training steps, and to stay or to skip a step.
_JUMP, _UNEVEN = 1.0, 0.001


def nearest_walk(
    series: Float[np.ndarray, "T p"], rows: Float[np.ndarray, "n p"], lengths: Int[np.ndarray, " s"], count: int
) -> tuple[Int[np.ndarray, " T"], Int[np.ndarray, "T k"]]:
    """A walk through the training steps that stays near the series, and the `count` nearest ones of each step.

    The walk goes on to the next training step, stays, or skips one, and it may jump anywhere for a price. So where
    nothing is known it follows the training series that was similar before.
    """
    squares = nan_euclidean_distances(series, rows) ** 2
    is_unknown = np.isnan(squares)
    squares = np.where(is_unknown, np.where(is_unknown.all(axis=1)[:, None], 0.0, np.inf), squares)
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :count]
    return _cheapest(squares, lengths), nearest


def _cheapest(squares: Float[np.ndarray, "T n"], lengths: Int[np.ndarray, " s"]) -> Int[np.ndarray, " T"]:
    """The walk with the lowest sum of squared distances and prices, by dynamic programming."""
    n = squares.shape[1]
    within = np.arange(n) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # the place of each row in its series
    price, uneven = np.array([_JUMP, _UNEVEN]) * np.mean(squares[np.isfinite(squares)])
    cost, came = squares[0], np.zeros(squares.shape, int)
    for t in range(1, len(squares)):
        cheapest = int(np.argmin(cost))
        before, origin = np.full(n, cost[cheapest] + price), np.full(n, cheapest)
        for back in (1, 0, 2):
            from_here = np.where(within >= back, np.roll(cost, back), np.inf) + uneven * (back != 1)
            better = from_here < before
            before, origin = np.where(better, from_here, before), np.where(better, np.arange(n) - back, origin)
        cost, came[t] = before + squares[t], origin
    walk = [int(np.argmin(cost))]
    for t in range(len(squares) - 1, 0, -1):
        walk.append(int(came[t, walk[-1]]))
    return np.array(walk[::-1])
