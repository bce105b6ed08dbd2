"""The classifier "auto": Gaussian processes on the labels, mixed by how well each predicts what it leaves out.

Rows lie in two spaces, that of their latent inputs and that of their own columns, and labels may vary smoothly with
either, or be alike along clusters. One GP has the graphs of both spaces, one the distances in both, one has all four;
the last has the distances between columns alone, since labels that are many need no help.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from ...core.label_gp import LabelGP, one_hot, sharpen
from .labels import LabelColumn
from .spaces import Locations, TrainingSpaces

# Which parts each GP has. The parts are the graphs of latent inputs and of columns, then the distances in them.
_HEADS = {"graphs": (0, 1), "distances": (2, 3), "all": (0, 1, 2, 3), "columns": (3,)}
# Weights are exp(log-likelihood of the labels left out, times this): few labels say less about which GP is best.
_TRUST = 0.5
# New rows at a time: their tables with the labelled rows stay small.
_CHUNK = 4096


class LabelMixture:
    """Fitted on creation to the labelled rows."""

    _FORMER_NAMES: ClassVar = {"_view": "_labelled"}

    def __init__(self, spaces: TrainingSpaces, column: LabelColumn) -> None:
        self._labelled = spaces.from_labelled(column.rows)
        parts, labels = self._labelled.among(), one_hot(column.classes, column.n_classes)
        self._gps = [LabelGP([parts[k] for k in which], labels, column.weights) for which in _HEADS.values()]
        fits = [sharpen(gp.left_out, column.classes, column.weights) for gp in self._gps]
        self._sharpness = [sharpness for sharpness, _ in fits]
        self.weights = dict(zip(_HEADS, softmax([_TRUST * score for _, score in fits]).tolist(), strict=True))

    def predict(self, locations: Locations) -> np.ndarray:
        """Probabilities of the classes (n, c)."""
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
