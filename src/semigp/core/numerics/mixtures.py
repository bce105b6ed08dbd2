"""Mixtures of Gaussians. Their moments are E[v] = Σ w m and V[v] = Σ w (s² + (m - E[v])²)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp, ndtr

# Quantiles lie within this many standard deviations of a component, and are found by so many bisections.
_WIDEST, _BISECTIONS = 10.0, 60


def pooled(means: Sequence[np.ndarray], variances: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Of a mixture of components that all weigh the same, the components first."""
    return np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0)


def by_precision(
    means: Sequence[np.ndarray], variances: Sequence[np.ndarray], counts: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Of a mixture for every entry, with the weights w_k ∝ c_k / s_k²."""
    values, spreads = np.stack(means), np.stack(variances)
    weights = np.reshape(counts, (-1, *[1] * (values.ndim - 1))) / spreads
    weights /= weights.sum(axis=0)
    total = np.sum(weights * values, axis=0)
    return total, np.sum(weights * (spreads + (values - total) ** 2), axis=0)


def weighted(means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of n mixtures with weights (k, n) of components (k, n, d)."""
    total = np.einsum("kn,knd->nd", weights, means)
    return total, np.einsum("kn,knd->nd", weights, variances + (means - total) ** 2)


def moments(means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of n mixtures with the same weights (k,) of components (k, n, d)."""
    if np.all(weights == weights[0]):
        return pooled(means, variances)  # type: ignore[arg-type]
    return weighted(means, variances, np.broadcast_to(weights[:, None], means.shape[:2]))


def log_densities(means: np.ndarray, variances: np.ndarray, weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Log Σ_k w_k Π_d N(v_d; m_kd, s²_kd) of n rows (n, d), with weights (k,) and components (k, n, d).

    Values that are NaN contribute nothing.
    """
    logs = -0.5 * (np.log(2.0 * np.pi * variances) + (values - means) ** 2 / variances)
    return logsumexp(np.nansum(logs, axis=2), axis=0, b=weights[:, None])


def quantiles(means: np.ndarray, variances: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Where the distribution function of each mixture, Σ_k w_k Φ((v - m_k)/s_k), has these levels: (levels, n, d)."""
    std = np.sqrt(variances)
    shape = (len(levels), *means.shape[1:])
    low = np.broadcast_to(np.min(means - _WIDEST * std, axis=0), shape).copy()
    high = np.broadcast_to(np.max(means + _WIDEST * std, axis=0), shape).copy()
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = np.stack([np.tensordot(weights, ndtr((each - means) / std), 1) for each in middle])
        is_low = below < levels.reshape(-1, *([1] * (means.ndim - 1)))
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return 0.5 * (low + high)
