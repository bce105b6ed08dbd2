"""How strongly columns are related, from 0 (not at all) to 1, on the rows in which both are known.

Two columns of numbers: the absolute rank correlation of Spearman. Numbers and a category: the square root of the share
of the variance of the ranks that lies between the levels, less what chance gives (ε² of Kelley). Two categories: V of
Cramér, less what chance gives (Bergsma 2013).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

_FEWEST_ROWS = 8  # pairs with fewer common rows have no strength


def strengths(codes: np.ndarray, is_level: np.ndarray) -> np.ndarray:
    """The strength (q, q) of all relations between columns of codes (n, q). NaN where it cannot be said."""
    q = codes.shape[1]
    found = np.full((q, q), np.nan)
    for i in range(q):
        for j in range(i):
            found[i, j] = found[j, i] = strength(codes[:, i], codes[:, j], bool(is_level[i]), bool(is_level[j]))
    return found


def strength(one: np.ndarray, other: np.ndarray, one_is_level: bool, other_is_level: bool) -> float:
    """The strength of the relation of two columns of codes."""
    both = ~(np.isnan(one) | np.isnan(other))
    one, other = one[both], other[both]
    if len(one) < _FEWEST_ROWS or np.ptp(one) == 0 or np.ptp(other) == 0:
        return np.nan
    if one_is_level and other_is_level:
        return _cramer(one, other)
    if one_is_level or other_is_level:
        levels, numbers = (one, other) if one_is_level else (other, one)
        return _between_levels(levels, rankdata(numbers))
    return float(min(1.0, abs(np.corrcoef(rankdata(one), rankdata(other))[0, 1])))


def _between_levels(levels: np.ndarray, values: np.ndarray) -> float:
    _, place, counts = np.unique(levels, return_inverse=True, return_counts=True)
    n, k = len(values), len(counts)
    if k == n:
        return np.nan
    means = np.bincount(place, values) / counts
    within = np.sum((values - means[place]) ** 2) / (n - k)
    return float(np.sqrt(max(0.0, 1.0 - within / np.var(values, ddof=1))))


def _cramer(one: np.ndarray, other: np.ndarray) -> float:
    (_, a), (_, b) = (np.unique(each, return_inverse=True) for each in (one, other))
    n, r, k = len(one), a.max() + 1, b.max() + 1
    table = np.bincount(a * k + b, minlength=r * k).reshape(r, k)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    square = np.sum((table - expected) ** 2 / expected) / n
    square = max(0.0, square - (r - 1) * (k - 1) / (n - 1))
    rows, columns = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    least = min(rows, columns) - 1
    return float(min(1.0, np.sqrt(square / least))) if least > 0 else np.nan
