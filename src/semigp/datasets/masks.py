"""Patterns of missing values. Each function returns which entries of an (n, q) array are missing."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import rankdata


def mask_at_random(shape: tuple[int, int], share: float, random_state: int | None = None) -> np.ndarray:
    """Exactly the given share of all entries, at random places."""
    random = np.random.default_rng(random_state)
    size = shape[0] * shape[1]
    mask = np.zeros(size, bool)
    mask[random.permutation(size)[: round(share * size)]] = True
    return mask.reshape(shape)


def mask_columns(shape: tuple[int, int], shares: np.ndarray, random_state: int | None = None) -> np.ndarray:
    """Entries at random, independently, with a probability per column: some sensors are worse than others."""
    random = np.random.default_rng(random_state)
    return random.random(shape) < np.asarray(shares)


def mask_blocks(shape: tuple[int, int], share: float, length: int, random_state: int | None = None) -> np.ndarray:
    """Outages of a sensor: runs of `length` rows in one column, until at least `share` of all entries are missing."""
    random = np.random.default_rng(random_state)
    mask = np.zeros(shape, bool)
    while mask.mean() < share:
        start, column = random.integers(shape[0] - length + 1), random.integers(shape[1])
        mask[start : start + length, column] = True
    return mask


def mask_by_rank(
    driver: np.ndarray, n_columns: int, share: float, random_state: int | None = None, steepness: float = 3.0
) -> np.ndarray:
    """Holes that depend on what is seen: rows with a large `driver` (n,) have more of them, in all columns alike.

    The chance of a hole is a logistic function of the row's rank, and its mean over the rows is `share`. The driver
    itself is a column of which nothing is lost, and is not among the `n_columns`.
    """
    random = np.random.default_rng(random_state)
    centred = 2.0 * (rankdata(driver) - 0.5) / len(driver) - 1.0  # from -1 to 1, and equal for equal values
    excess = lambda offset: expit(offset + steepness * centred).mean() - share  # noqa: E731
    offset = brentq(excess, -50.0, 50.0)
    return random.random((len(driver), n_columns)) < expit(offset + steepness * centred)[:, None]


def mask_outages(shape: tuple[int, int], share: float, length: int = 20, random_state: int | None = None) -> np.ndarray:
    """Outages of several sensors: in runs of up to `length` rows, half of the columns are lost together.

    Each run draws its own columns. The last run ends where `share` of all entries is missing.
    """
    random = np.random.default_rng(random_state)
    mask, wanted = np.zeros(shape, bool), round(share * shape[0] * shape[1])
    n_lost = max(shape[1] // 2, 1)
    while mask.sum() < wanted:
        start = random.integers(1 - length, shape[0])  # runs may begin before the first row, so that all rows are alike
        columns = random.permutation(shape[1])[:n_lost]
        for row in range(max(start, 0), min(start + length, shape[0])):
            for column in columns:
                mask[row, column] |= mask.sum() < wanted
    return mask
