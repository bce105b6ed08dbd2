"""Mean and variance of mixtures: E[v] = Σ w m, V[v] = Σ w (s² + (m - E[v])²)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pooled(means: Sequence[np.ndarray], variances: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Of a mixture of components that all weigh the same, the components first."""
    return np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0)


def weighted(means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of n mixtures with weights (k, n) of components (k, n, d)."""
    total = np.einsum("kn,knd->nd", weights, means)
    return total, np.einsum("kn,knd->nd", weights, variances + (means - total) ** 2)
