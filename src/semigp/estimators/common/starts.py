"""Where a search starts: q(x) of unknown inputs, and the inducing points."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.impute import KNNImputer
from threadpoolctl import threadpool_limits

from .table import Table

# Variance of q(x) at the start where nothing is known about it, and the smallest variance that a start may have.
START_VARIANCE, _MIN_VARIANCE = 0.5, 0.01


def starting_inputs(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of q(x) at the start.

    Missing inputs start at the table's moments, if it has some. Otherwise they start at the values of the nearest row,
    compared on [X, Y]. Latent inputs start at the principal components of Y.
    """
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
    """The inputs, with latent ones (NaN in every row) replaced by principal components of the outputs."""
    inputs, is_latent = table.inputs.copy(), np.isnan(table.shared.inputs).all(axis=0)
    if is_latent.any():
        inputs[:, is_latent] = principal_components(table.targets, int(is_latent.sum()), table.shared.targets)
    return inputs


def principal_components(targets: np.ndarray, count: int, sample: np.ndarray | None = None) -> np.ndarray:
    """The first principal components of Y, with 0 for missing values, scaled to unit variance.

    Components beyond the rank of Y are small random numbers. The directions come from `sample`, if it is given.
    """
    sample = targets if sample is None else sample
    _, singular, axes = np.linalg.svd(np.nan_to_num(sample), full_matrices=False)
    scores = 0.1 * np.random.default_rng(0).normal(size=(len(targets), count))
    rank = min(count, int(np.sum(singular > 1e-8 * max(singular[0], 1e-300))))
    scores[:, :rank] = np.nan_to_num(targets) @ axes[:rank].T / singular[:rank] * np.sqrt(len(sample))
    return scores


def centres(rows: np.ndarray, count: int, random_state: int) -> np.ndarray:
    """The centres of `count` clusters of rows, or fewer if there are fewer distinct rows."""
    count = min(count, len(np.unique(rows, axis=0)))
    with threadpool_limits(1, user_api="openmp"):  # with several threads the last digits depend on their number
        return KMeans(count, n_init=1, max_iter=20, random_state=random_state).fit(rows).cluster_centers_
