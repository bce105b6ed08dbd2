"""Where a search starts: inputs that are not known, and inducing points."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.impute import KNNImputer
from threadpoolctl import threadpool_limits

from .table import Table

# Variance of q(x) at the start, where nothing is known of it, and at least.
START_VARIANCE, _MIN_VARIANCE = 0.5, 0.01


def starting_inputs(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Where q(x) starts: at the moments given, else at the nearest row on [X, Y]; latent inputs at Y's components."""
    has_bar = table.error > 0
    mean, variance = _with_components(table), np.where(has_bar, np.maximum(table.error**2, 1e-8), START_VARIANCE)
    holes = np.isnan(mean)
    if holes.any() and table.moments is not None:
        mean[holes], variance[holes] = table.moments[0][holes], np.maximum(table.moments[1][holes], _MIN_VARIANCE)
    elif holes.any():
        nearest = KNNImputer(n_neighbors=1).fit(np.column_stack([_with_components(table.shared), table.shared.targets]))
        mean = nearest.transform(np.column_stack([mean, table.targets]))[:, : mean.shape[1]]
    return mean, variance


def _with_components(table: Table) -> np.ndarray:
    """The inputs, with principal components of the outputs for those of which nothing is known."""
    inputs, is_latent = table.inputs.copy(), np.isnan(table.shared.inputs).all(axis=0)
    if is_latent.any():
        inputs[:, is_latent] = principal_components(table.targets, int(is_latent.sum()), table.shared.targets)
    return inputs


def principal_components(targets: np.ndarray, count: int, sample: np.ndarray | None = None) -> np.ndarray:
    """The first components of Y (0 where missing) with unit variance; small noise for those beyond its rank.

    They are those of a sample, where one is given.
    """
    sample = targets if sample is None else sample
    _, singular, axes = np.linalg.svd(np.nan_to_num(sample), full_matrices=False)
    scores = 0.1 * np.random.default_rng(0).normal(size=(len(targets), count))
    rank = min(count, int(np.sum(singular > 1e-8 * max(singular[0], 1e-300))))
    scores[:, :rank] = np.nan_to_num(targets) @ axes[:rank].T / singular[:rank] * np.sqrt(len(sample))
    return scores


def centres(rows: np.ndarray, count: int, random_state: int) -> np.ndarray:
    """Of clusters of rows; fewer than asked for if fewer rows differ."""
    count = min(count, len(np.unique(rows, axis=0)))
    with threadpool_limits(1, user_api="openmp"):  # of several threads each adds up its part, and digits depend on it
        return KMeans(count, n_init=1, max_iter=20, random_state=random_state).fit(rows).cluster_centers_
