"""The choice of the grid of linear shares, by a trial on hidden entries."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ..numerics.mixtures import pooled
from .regression import CURVED, NEARLY_LINEAR
from .sweeps import draw_missing, reference_rows, settle

# The trial of the two grids: the largest number of rows, the number of tables with hidden entries, the number of sweeps
# before draws count and while they count, and by how many nats the grid for curved relations must win.
_TRIAL_ROWS, _TRIALS, _TRIAL_SWEEPS, _TRIAL_MARGIN = 300, 2, (3, 6), 0.1


def choose_shares(table: Float[np.ndarray, "n d"], random_state: int) -> tuple[float, ...]:
    """The grid of linear shares that predicts hidden entries better.

    Entries are hidden in the rows with the fewest holes, in patterns that other rows have. The grids are compared by
    the median of log densities, because a few entries that nothing can predict would decide the mean.
    """
    random = np.random.default_rng(random_state)
    patterns = np.isnan(table)
    patterns = patterns[patterns.any(axis=1)]
    some = table[reference_rows(np.isnan(table), random_state)[:_TRIAL_ROWS]]
    fullest = np.argsort(np.isnan(some).sum(axis=1), kind="stable")[: -(-len(some) // 3)]
    losses: dict[tuple[float, ...], list[float]] = {CURVED: [], NEARLY_LINEAR: []}
    for _ in range(_TRIALS if len(patterns) else 0):
        rows = random.permutation(fullest)[: -(-len(some) // 10)]
        hidden = np.zeros(some.shape, bool)
        hidden[rows] = patterns[random.choice(len(patterns), len(rows))] & ~np.isnan(some[rows])
        hidden &= np.sum(~np.isnan(some) & ~hidden, axis=0) > 1
        if hidden.any():
            for shares, found in losses.items():
                found.append(_median_loss(some, hidden, shares, random_state))
    curved, nearly_linear = (np.mean(found or [0.0]) for found in losses.values())
    return CURVED if curved < nearly_linear - _TRIAL_MARGIN else NEARLY_LINEAR


def _median_loss(table: np.ndarray, hidden: np.ndarray, shares: tuple[float, ...], random_state: int) -> float:
    """The median negative log density of hidden entries, under the pooled predictions of several sweeps."""
    random = np.random.default_rng(random_state)
    reduced = np.where(hidden, np.nan, table)
    missing, everyone = np.isnan(reduced), np.arange(len(table))
    settled = settle(reduced, everyone, shares, 1)
    drawn, regressions = settled.filled, settled.regressions
    burn, keep = _TRIAL_SWEEPS
    parts = [draw_missing(drawn, missing, everyone, regressions, random) for _ in range(burn + keep)][burn:]
    mean, variance = pooled(*([part[i][hidden] for part in parts] for i in (0, 1)))
    return 0.5 * float(np.median(np.log(variance) + (table[hidden] - mean) ** 2 / variance))
