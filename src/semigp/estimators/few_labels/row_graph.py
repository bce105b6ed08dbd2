"""A Gaussian field over rows that varies little between neighbours: a Matérn covariance on their graph.

With S the normalised adjacency of the graph, the field has covariance (κ + I - S)⁻², scaled to unit variance at every
row. Its value at a new row is the mean of those at its neighbours, weighed as edges are.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import eigsh
from scipy.special import softmax
from sklearn.neighbors import NearestNeighbors

# Neighbours that have an edge, and the one whose distance is the local unit of length.
_NEIGHBOURS, _UNIT = 15, 8
_SHARPNESS = 4.0
_FAINTEST = -18.0  # log of the weakest edge: a row that is far from all others keeps some
_KAPPA = 0.01
# Up to so many rows the whole spectrum is used, beyond that so many of its smoothest waves.
_MOST_ROWS, _WAVES = 3000, 500


class RowGraph:
    """The field over given rows."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        distances, neighbours = self._search.kneighbors()
        # Not quite nothing where many rows are equal, nor where all are.
        self._least = 1e-6 * (float(distances.max()) or 1.0)
        self._unit = self._units(distances)
        edges = np.exp(np.maximum(self._log_edges(distances, neighbours), _FAINTEST))
        self._features = _features(edges, neighbours)

    @cached_property
    def _search(self) -> NearestNeighbors:
        return NearestNeighbors(n_neighbors=min(_NEIGHBOURS, len(self._rows) - 1)).fit(self._rows)

    def _stored(self) -> dict[str, Any]:
        """All but what is built anew."""
        return {name: part for name, part in vars(self).items() if name != "_search"}

    def covariance(self, labelled: np.ndarray) -> np.ndarray:
        """Of all rows with some of them (n, l)."""
        return self._features @ self._features[labelled].T

    def extend(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What is given for all rows (n, l), at new rows."""
        distances, neighbours = self._search.kneighbors(rows)
        weights = softmax(self._log_edges(distances, neighbours), axis=1)  # far rows still have a nearest one
        return np.einsum("nk,nkl->nl", weights, values[neighbours])

    def _units(self, distances: np.ndarray) -> np.ndarray:
        """How far apart rows are just there."""
        return np.maximum(distances[:, min(_UNIT, distances.shape[1]) - 1], self._least)

    def _log_edges(self, distances: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
        """Log weights of the edges from any rows to their neighbours among the given ones."""
        return -_SHARPNESS * distances**2 / (self._units(distances)[:, None] * self._unit[neighbours])


def _features(edges: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Rows whose inner products are the covariance: waves of the graph over κ + frequency, of unit length."""
    n, count = neighbours.shape
    graph = csr_matrix((edges.ravel(), (np.repeat(np.arange(n), count), neighbours.ravel())), (n, n))
    graph = graph.maximum(graph.T)
    scale = diags(1.0 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    adjacency = scale @ graph @ scale
    if n <= _MOST_ROWS:
        similarity, waves = np.linalg.eigh(adjacency.toarray())
    else:
        similarity, waves = eigsh(adjacency, _WAVES, which="LA", v0=np.ones(n))
    features = waves / (_KAPPA + np.maximum(1.0 - similarity, 0.0))
    return features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
