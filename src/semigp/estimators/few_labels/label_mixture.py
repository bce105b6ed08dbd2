"""The classifier "auto": Gaussian processes on the labels, weighted by how well each predicts labels that it left out.

A row has a place in two spaces, the latent inputs and the columns of X. In each, labels may vary smoothly with
distance, or be alike along clusters, which a graph of neighbours shows. One GP uses the graphs of both spaces, one uses
the distances in both, and one uses all four. The last GP uses the distances in the columns of X alone, because with
many labels nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from ...core.label_gp import LabelGP, one_hot, sharpen
from .labels import LabelColumn
from .spaces import Locations, TrainingSpaces

# The parts of the covariance of each GP. 0 and 1 are the graphs in latent inputs and in columns, 2 and 3 the distances.
_HEADS = {"graphs": (0, 1), "distances": (2, 3), "all": (0, 1, 2, 3), "columns": (3,)}
# Weights are exp(_TRUST · log-likelihood of the labels left out). It is below 1, because few labels say little about
# which GP is best.
_TRUST = 0.5
# New rows are predicted this many at a time, so that the matrices of their distances to the labelled rows stay small.
_CHUNK = 4096


class LabelMixture:
    """A weighted mixture of GPs on the labels. It is fitted to the labelled rows when it is created."""

    _FORMER_NAMES: ClassVar = {"_view": "_labelled"}

    def __init__(self, spaces: TrainingSpaces, column: LabelColumn) -> None:
        self._labelled = spaces.from_labelled(column.rows)
        parts, labels = self._labelled.among(), one_hot(column.classes, column.n_classes)
        self._gps = [LabelGP([parts[k] for k in which], labels, column.weights) for which in _HEADS.values()]
        fits = [sharpen(gp.left_out, column.classes, column.weights) for gp in self._gps]
        self._sharpness = [sharpness for sharpness, _ in fits]
        self.weights = dict(zip(_HEADS, softmax([_TRUST * score for _, score in fits]).tolist(), strict=True))

    def predict(self, locations: Locations) -> np.ndarray:
        """The probabilities of the classes (n, c)."""
        return np.concatenate([self._predict(some) for some in _chunks(locations)])

    def _predict(self, locations: Locations) -> np.ndarray:
        parts = self._labelled.towards(locations)
        each = zip(_HEADS.values(), self._gps, self._sharpness, self.weights.values(), strict=True)
        return sum(  # type: ignore[return-value]
            weight * softmax(sharpness * gp.predict([parts[k] for k in which]), axis=1)
            for which, gp, sharpness, weight in each
        )


def _chunks(locations: Locations) -> Iterator[Locations]:
    for start in range(0, len(locations.latent), _CHUNK):
        some = slice(start, start + _CHUNK)
        yield Locations(locations.latent[some], locations.columns[some])
