"""The two spaces in which rows have a place, latent inputs and columns of X, and how near the labelled rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from ...core.label_gp import CovariancePart, evenly_spread, median_square
from .row_graph import RowGraph

# The median distance is computed from at most this many rows.
_ENOUGH_ROWS = 1000
# The variance of the constant in a linear function of the columns, which have variance 1 in all.
_CONSTANT = 0.1


@dataclass(frozen=True)
class Locations:
    """The places of rows in both spaces."""

    latent: np.ndarray  # (n, q) means of q(x), or draws from it
    columns: np.ndarray  # (n, p) without NaN


class TrainingSpaces:
    """The spaces with all training rows, labelled or not. They turn locations into parts of a covariance."""

    _FORMER_NAMES: ClassVar = {"_places": "_locations"}  # names of attributes in older files

    def __init__(self, locations: Locations, lengthscale: np.ndarray) -> None:
        self._lengthscale = lengthscale
        self._graphs = [RowGraph(space) for space in self._graph_spaces(locations)]
        spaces = self._distance_spaces(locations)
        some = evenly_spread(len(locations.latent), _ENOUGH_ROWS)
        self._medians = [median_square(euclidean_distances(space[some], squared=True)) for space in spaces]
        self._length = float(np.mean(np.sum(locations.columns**2, axis=1))) or 1.0
        self._locations = locations

    def _graph_spaces(self, locations: Locations) -> tuple[np.ndarray, np.ndarray]:
        """The spaces in which neighbours are found.

        Latent inputs are divided by the square roots of their lengthscales, halfway between their own units and units
        of the lengthscale.
        """
        return locations.latent / np.sqrt(self._lengthscale), locations.columns

    def _distance_spaces(self, locations: Locations) -> tuple[np.ndarray, np.ndarray]:
        return locations.latent / self._lengthscale, locations.columns

    def from_labelled(self, labelled: np.ndarray) -> LabelledSpaces:
        """The spaces, seen from the `labelled` rows."""
        graphs = [graph.covariance(labelled) for graph in self._graphs]
        spaces = [space[labelled] for space in self._distance_spaces(self._locations)]
        return LabelledSpaces(self, labelled, graphs, spaces)


@dataclass(frozen=True)
class LabelledSpaces:
    """The spaces of the training rows, seen from the labelled rows."""

    _FORMER_NAMES: ClassVar = {"landscape": "training"}

    training: TrainingSpaces
    labelled: np.ndarray
    graphs: list[np.ndarray]  # for each graph, the covariance (n, l) of all rows with the labelled ones
    spaces: list[np.ndarray]  # the labelled rows in each space in which distances are measured

    def among(self) -> list[CovariancePart]:
        """The parts of the covariance of the labelled rows with each other.

        They are the graphs in latent inputs and in columns, the distances in both, and products of columns.
        """
        parts = [CovariancePart(graph[self.labelled], False) for graph in self.graphs]
        return [*parts, *self._distances(self.spaces), self._products(self.spaces[1])]

    def towards(self, locations: Locations) -> list[CovariancePart]:
        """The parts of the covariance of new rows with the labelled ones."""
        triples = zip(self.training._graphs, self.graphs, self.training._graph_spaces(locations), strict=True)
        graphs = (graph.extend(covariance, space) for graph, covariance, space in triples)
        parts = [CovariancePart(graph, False) for graph in graphs]
        return [
            *parts,
            *self._distances(self.training._distance_spaces(locations)),
            self._products(locations.columns),
        ]

    def _distances(self, spaces: Sequence[np.ndarray]) -> list[CovariancePart]:
        triples = zip(spaces, self.spaces, self.training._medians, strict=True)
        return [
            CovariancePart(euclidean_distances(new, old, squared=True) / median, True) for new, old, median in triples
        ]

    def _products(self, columns: np.ndarray) -> CovariancePart:
        """The covariance of a linear function of the columns."""
        return CovariancePart(columns @ self.spaces[1].T / self.training._length + _CONSTANT, False)
