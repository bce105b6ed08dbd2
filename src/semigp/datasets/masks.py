"""Patterns of missing values. Each function returns which entries of an (n, q) array are missing."""

from __future__ import annotations

import numpy as np


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
