"""The classifier "auto": Gaussian processes on the labels, of two kinds, in a weighted mixture.

A row has a place in two spaces, the latent inputs and the columns of X. In each, labels may vary smoothly with
distance, or be alike along clusters, which a graph of neighbours shows. They may also be linear in the columns.

- Two GPs regress one-hot labels. One uses the graphs and the distances in both spaces, one uses distances only. They
  are weighted by how well they predict labels that are left out. They use every label, which is best where classes
  are far apart, as in images.
- Three GPs have a softmax likelihood. One lives in the latent space, one follows the graph in the columns, and one is
  linear in the columns. They are weighted by their evidence. Labels near the border between classes matter most to
  them, which is best where classes overlap.

Probabilities of the GPs are averaged, and both kinds have the same weight. What they predict for all rows teaches a
linear classifier, the `Student`. The answer is the weighted geometric mean of both,

    p ∝ p_GPs^(1 - w) · p_student^w

An average of two unlike opinions is too unsure where both are right. Their product is as sure as they are, and where
they contradict each other it is still unsure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from ...core.class_gp import ClassGP
from ...core.label_gp import CovariancePart, LabelGP, one_hot, sharpen
from .labels import LabelColumn
from .spaces import Locations, TrainingSpaces
from .student import Student

# The parts of the covariance of each GP: 0 and 1 are the graphs in latent inputs and in columns, 2 and 3 the distances,
# 4 products of columns. And its weight before any label is seen, which matters as long as labels are few.
_REGRESSIONS = {"all": ((0, 1, 2, 3), 2.0), "distances": ((2, 3), 1.0)}
_CLASSIFIERS = {"latent": ((0, 2), 6.0), "graph of columns": ((1,), 4.0), "linear": ((4,), 1.0)}
# The medians of the hyperpriors on the signals of the parts, for classifiers. Along a graph classes hardly mix.
_SIGNALS = (1000.0, 1000.0, 100.0, 100.0, 30.0)
# The weight w of the linear classifier that the others teach.
_STUDENT = 0.25
# Probabilities are at least this before their logarithm is taken.
_LEAST = 1e-12
# Log weights are log likelihoods times this number over the square root of the number of labels, but at most once:
# differences between likelihoods have standard errors that grow with that root.
_TRUST = 3.0
# New rows are predicted this many at a time, so that the matrices of their distances to the labelled rows stay small.
_CHUNK = 4096


class LabelMixture:
    """A weighted mixture of GPs on the labels. It is fitted to the labelled rows when it is created."""

    _FORMER_NAMES: ClassVar = {"_view": "_labelled"}

    def __init__(self, spaces: TrainingSpaces, column: LabelColumn) -> None:
        self._labelled = spaces.from_labelled(column.rows)
        parts = self._labelled.among()
        self._fit_regressions(parts, column)
        self._fit_classifiers(parts, column)
        locations = spaces._locations
        self._student = Student(locations.columns, self._taught(locations), column)
        each = {name: 0.5 * (1.0 - _STUDENT) * weight for name, weight in self._weights_of_gps().items()}
        self.weights = each | {"student": _STUDENT}

    def _fit_regressions(self, parts: Sequence[CovariancePart], column: LabelColumn) -> None:
        labels = one_hot(column.classes, column.n_classes)
        heads = [[parts[k] for k in which] for which, _ in _REGRESSIONS.values()]
        self._regressions = [LabelGP(head, labels, column.weights) for head in heads]
        fits = [sharpen(gp.left_out, column.classes, column.weights) for gp in self._regressions]
        self._sharpness = [sharpness for sharpness, _ in fits]
        self._regression_weights = _weights(_REGRESSIONS, [score for _, score in fits], len(column.rows))

    def _fit_classifiers(self, parts: Sequence[CovariancePart], column: LabelColumn) -> None:
        labels = np.eye(column.n_classes)[column.classes]
        self._classifiers = [
            ClassGP([parts[k] for k in which], [_SIGNALS[k] for k in which], labels, column.weights)
            for which, _ in _CLASSIFIERS.values()
        ]
        scores = [gp.evidence for gp in self._classifiers]
        self._class_weights = _weights(_CLASSIFIERS, scores, self._classifiers[0].n_used)

    def predict(self, locations: Locations) -> np.ndarray:
        """The probabilities of the classes (n, c)."""
        gps, student = self._taught(locations), self._student.predict(locations.columns)
        # log p = (1 - w) log p_GPs + w log p_student, up to a constant in each row
        logs = (1.0 - _STUDENT) * np.log(np.maximum(gps, _LEAST)) + _STUDENT * np.log(np.maximum(student, _LEAST))
        return softmax(logs, axis=1)

    def _taught(self, locations: Locations) -> np.ndarray:
        """What the GPs predict, without the student."""
        return np.concatenate([self._of_gps(some) for some in _chunks(locations)])

    def _weights_of_gps(self) -> dict[str, float]:
        return self._regression_weights | self._class_weights

    def _of_gps(self, locations: Locations) -> np.ndarray:
        parts = self._labelled.towards(locations)
        heads = [[parts[k] for k in which] for which, _ in (*_REGRESSIONS.values(), *_CLASSIFIERS.values())]
        gps: list[LabelGP | ClassGP] = [*self._regressions, *self._classifiers]
        sharpness = [*self._sharpness, *[1.0] * len(self._classifiers)]
        each = zip(self._weights_of_gps().values(), sharpness, gps, heads, strict=True)
        return sum(  # type: ignore[return-value]
            0.5 * weight * softmax(factor * gp.predict(head), axis=1) for weight, factor, gp, head in each
        )


def _weights(heads: dict, scores: Sequence[float], n_labels: int) -> dict[str, float]:
    trust = min(1.0, _TRUST / np.sqrt(n_labels))
    prior = np.log([weight for _, weight in heads.values()])
    return dict(zip(heads, softmax(prior + trust * np.array(scores)).tolist(), strict=True))


def _chunks(locations: Locations) -> Iterator[Locations]:
    for start in range(0, len(locations.latent), _CHUNK):
        some = slice(start, start + _CHUNK)
        yield Locations(locations.latent[some], locations.columns[some])
