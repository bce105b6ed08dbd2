"""Features of a row's outputs. A back constraint makes q(x) a function of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from ..common.starts import centres

# The largest numbers of principal components and of centres, and how many rows there must be for each centre.
_MOST_DIRECTIONS, _MOST_CENTRES, _ROWS_PER_CENTRE = 50, 200, 3


@dataclass(frozen=True)
class Features:
    """φ(y) = [1, principal components, Gaussian bumps around centres] times a matrix that makes columns orthonormal."""

    directions: np.ndarray  # (p, r)
    centres: np.ndarray  # (k, p)
    precision: float  # of the bumps; their width is the median distance between centres
    mixing: np.ndarray  # (1 + r + k, f)

    @classmethod
    def of(cls, rows: np.ndarray, random_state: int) -> Features:
        """Features that are orthonormal over these rows (without NaN), so that all weights have the same scale."""
        count = min(_MOST_CENTRES, max(1, len(rows) // _ROWS_PER_CENTRE))
        places = centres(rows, count, random_state)
        directions = np.linalg.svd(rows, full_matrices=False)[2][:_MOST_DIRECTIONS].T
        apart = float(np.median(euclidean_distances(places, squared=True)))
        raw = cls(directions, places, 1.0 / max(apart, 1e-12), np.eye(1 + directions.shape[1] + len(places)))
        _, singular, right = np.linalg.svd(raw(rows), full_matrices=False)
        kept = singular > 1e-6 * singular[0]
        mixing = right[kept].T / singular[kept] * np.sqrt(len(rows))
        return cls(directions, places, raw.precision, mixing)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """The features of rows without NaN."""
        bumps = np.exp(-0.5 * self.precision * euclidean_distances(rows, self.centres, squared=True))
        return np.column_stack([np.ones(len(rows)), rows @ self.directions, bumps]) @ self.mixing
