"""The classifier "auto": Gaussian processes on the labels, mixed by how well each predicts what it leaves out.

Rows lie in two spaces, that of their latent inputs and that of their own columns, and labels may vary smoothly with
either, or be alike along clusters. One GP has the graphs of both spaces, one the distances in both, one has all four;
the last has the distances between columns alone, since labels that are many need no help.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances

from ..core.label_gp import LabelGP, Part, evenly_spread, median_square, one_hot, sharpen
from .labels import LabelColumn
from .row_graph import RowGraph

# Which parts each GP has. The parts are the graphs of latent inputs and of columns, then the distances in them.
_HEADS = {"graphs": (0, 1), "distances": (2, 3), "all": (0, 1, 2, 3), "columns": (3,)}
# Weights are exp(log-likelihood of the labels left out, times this): few labels say less about which GP is best.
_TRUST = 0.5
# Rows that tell a median distance.
_ENOUGH_ROWS = 1000
# New rows at a time: their tables with the labelled rows stay small.
_CHUNK = 4096


@dataclass(frozen=True)
class Places:
    """Where rows lie."""

    latent: np.ndarray  # (n, q) means of q(x), or draws from it
    columns: np.ndarray  # (n, p) without NaN


class Landscape:
    """All training rows, labelled or not: what turns places into parts of a covariance."""

    def __init__(self, places: Places, lengthscale: np.ndarray) -> None:
        self._lengthscale = lengthscale
        self._graphs = [RowGraph(space) for space in self._graph_spaces(places)]
        spaces = self._distance_spaces(places)
        some = evenly_spread(len(places.latent), _ENOUGH_ROWS)
        self._medians = [median_square(euclidean_distances(space[some], squared=True)) for space in spaces]
        self._places = places

    def _graph_spaces(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours are found in latent inputs half way between their own and the kernel's units."""
        return places.latent / np.sqrt(self._lengthscale), places.columns

    def _distance_spaces(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        return places.latent / self._lengthscale, places.columns

    def view(self, labelled: np.ndarray) -> View:
        """As seen from some of the rows."""
        graphs = [graph.covariance(labelled) for graph in self._graphs]
        spaces = [space[labelled] for space in self._distance_spaces(self._places)]
        return View(self, labelled, graphs, spaces)


@dataclass(frozen=True)
class View:
    """The landscape, from the labelled rows."""

    landscape: Landscape
    labelled: np.ndarray
    graphs: list[np.ndarray]  # covariance of all rows with the labelled ones
    spaces: list[np.ndarray]  # the labelled rows where distances are measured

    def among(self) -> list[Part]:
        """The labelled rows with each other."""
        return [Part(graph[self.labelled], False) for graph in self.graphs] + self._distances(self.spaces)

    def towards(self, places: Places) -> list[Part]:
        """New rows with the labelled ones."""
        triples = zip(self.landscape._graphs, self.graphs, self.landscape._graph_spaces(places), strict=True)
        graphs = (graph.extend(covariance, space) for graph, covariance, space in triples)
        return [Part(graph, False) for graph in graphs] + self._distances(self.landscape._distance_spaces(places))

    def _distances(self, spaces: Sequence[np.ndarray]) -> list[Part]:
        triples = zip(spaces, self.spaces, self.landscape._medians, strict=True)
        return [Part(euclidean_distances(new, old, squared=True) / median, True) for new, old, median in triples]


class LabelMixture:
    """Fitted on creation to the labelled rows."""

    def __init__(self, landscape: Landscape, column: LabelColumn) -> None:
        self._view = landscape.view(column.rows)
        parts, labels = self._view.among(), one_hot(column.classes, column.n_classes)
        self._gps = [LabelGP([parts[k] for k in which], labels, column.weights) for which in _HEADS.values()]
        fits = [sharpen(gp.left_out, column.classes, column.weights) for gp in self._gps]
        self._sharpness = [sharpness for sharpness, _ in fits]
        self.weights = dict(zip(_HEADS, softmax([_TRUST * score for _, score in fits]).tolist(), strict=True))

    def predict(self, places: Places) -> np.ndarray:
        """Probabilities of the classes (n, c)."""
        return np.concatenate([self._predict(some) for some in _chunks(places)])

    def _predict(self, places: Places) -> np.ndarray:
        parts = self._view.towards(places)
        each = zip(_HEADS.values(), self._gps, self._sharpness, self.weights.values(), strict=True)
        return sum(  # type: ignore[return-value]
            weight * softmax(sharpness * gp.predict([parts[k] for k in which]), axis=1)
            for which, gp, sharpness, weight in each
        )


def _chunks(places: Places) -> Iterator[Places]:
    for start in range(0, len(places.latent), _CHUNK):
        some = slice(start, start + _CHUNK)
        yield Places(places.latent[some], places.columns[some])
