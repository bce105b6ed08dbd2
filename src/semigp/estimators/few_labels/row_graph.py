"""A Gaussian field over rows that varies little between neighbours: a Matérn covariance on the graph of the rows.

With S the normalised adjacency of the graph, the field has covariance (κ + I - S)⁻², scaled to unit variance at every
row. Its value at a new row is the weighted mean of its values at the row's neighbours.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import eigsh
from scipy.special import softmax
from sklearn.neighbors import NearestNeighbors

# Every row has edges to this many nearest neighbours. The distance to the `_UNIT`-th one is the local unit of length.
_NEIGHBOURS, _UNIT = 15, 8
_SHARPNESS = 4.0
_FAINTEST = -18.0  # log weight of the weakest edge: a row that is far from all others keeps its edges
_KAPPA = 0.01
# Up to this many rows the whole spectrum of the graph is used; with more rows, only this many of its smoothest waves.
_MOST_ROWS, _WAVES = 3000, 500


class RowGraph:
    """The Gaussian field over the rows of a graph."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows
        distances, neighbours = self._search.kneighbors()
        # The smallest unit of length. It is above 0 even if many rows, or all, are equal.
        self._least = 1e-6 * (float(distances.max()) or 1.0)
        self._unit = self._units(distances)
        edges = np.exp(np.maximum(self._log_edges(distances, neighbours), _FAINTEST))
        self._features = _features(edges, neighbours)

    @cached_property
    def _search(self) -> NearestNeighbors:
        return NearestNeighbors(n_neighbors=min(_NEIGHBOURS, len(self._rows) - 1)).fit(self._rows)

    def _stored(self) -> dict[str, Any]:
        """The attributes that are written to a file. The search for neighbours is built again after loading."""
        return {name: part for name, part in vars(self).items() if name != "_search"}

    def covariance(self, labelled: np.ndarray) -> np.ndarray:
        """The covariance (n, l) of all rows with the `labelled` ones."""
        return self._features @ self._features[labelled].T

    def extend(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The values at new rows, from `values` (n, l) at the rows of the graph."""
        distances, neighbours = self._search.kneighbors(rows)
        # By softmax, a new row that is far from all others takes the value of the nearest one.
        weights = softmax(self._log_edges(distances, neighbours), axis=1)
        return np.einsum("nk,nkl->nl", weights, values[neighbours])

    def _units(self, distances: np.ndarray) -> np.ndarray:
        """The local unit of length at each row."""
        return np.maximum(distances[:, min(_UNIT, distances.shape[1]) - 1], self._least)

    def _log_edges(self, distances: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
        """Log weights of the edges from any rows to their neighbours in the graph."""
        return -_SHARPNESS * distances**2 / (self._units(distances)[:, None] * self._unit[neighbours])


def _features(edges: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Features whose inner products are the covariance: waves of the graph over κ + frequency, scaled to length 1."""
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
