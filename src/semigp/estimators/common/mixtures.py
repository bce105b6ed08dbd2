"""Moments of mixtures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pooled(means: Sequence[np.ndarray], variances: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of an equal mixture."""
    return np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0)


def mixture_moments(mean: np.ndarray, variance: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of mixtures with weights (k, n) of components (k, n, …)."""
    total = np.einsum("kn,knq->nq", weight, mean)
    return total, np.einsum("kn,knq->nq", weight, variance + (mean - total) ** 2)
