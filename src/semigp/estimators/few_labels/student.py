"""A linear classifier that is taught by the others: it learns from all rows, with the classes they are predicted.

A row with a label counts by its weight, any other row by the probability of its class. The student sees how all rows
lie, not only the labelled ones, and a linear function cannot follow single mistakes of its teachers. With few labels it
is better than the same function of labelled rows.

Whoever learns decisions does not know how doubtful they were. So the logits are made smaller until they agree best with
the squared probabilities of the teachers. (The teachers themselves are too unsure where classes are clear.)
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ...core.label_gp import evenly_spread
from .labels import LabelColumn

# The prior variance of the slopes, of columns that have variance 1 in all.
_SIGNAL = 20.0
# More rows than this add time but hardly change a linear function.
_MOST_ROWS = 2000


class Student:
    """Multinomial logistic regression of the classes of all rows. It is fitted on creation.

    `columns` (n, p) are all training rows, and `probabilities` (n, c) their classes as predicted.
    """

    def __init__(self, columns: np.ndarray, probabilities: np.ndarray, column: LabelColumn) -> None:
        self._unit = np.sqrt(np.mean(np.sum(columns**2, axis=1))) or 1.0
        taught = probabilities.copy()
        taught[column.rows] = np.eye(column.n_classes)[column.classes]
        classes, weights = np.argmax(taught, axis=1), np.max(taught, axis=1)
        weights[column.rows] = column.weights
        some = np.union1d(evenly_spread(len(columns), _MOST_ROWS), column.rows)
        found = np.unique(classes[some])
        self._slopes = np.zeros((column.n_classes, columns.shape[1]))
        self._constants = np.zeros(column.n_classes)
        if len(found) > 1:
            self._constants[np.setdiff1d(np.arange(column.n_classes), found)] = -np.inf
            model = _regression(columns[some] / self._unit, classes[some], weights[some])
            # Of two classes, scikit-learn has the slopes of the second one only.
            self._slopes[found[-len(model.coef_) :]] = model.coef_
            self._constants[found[-len(model.coef_) :]] = model.intercept_
            scale = _scale(self._logits(columns[some])[:, found], taught[some][:, found] ** 2)
            self._slopes, self._constants = scale * self._slopes, scale * self._constants

    def predict(self, columns: np.ndarray) -> np.ndarray:
        """The probabilities of the classes (n, c).

        A class that no row has been given has probability 0. A student who has seen one class only has no opinion: all
        classes are equally probable.
        """
        return softmax(self._logits(columns), axis=1)

    def _logits(self, columns: np.ndarray) -> np.ndarray:
        return columns @ (self._slopes / self._unit).T + self._constants


def _regression(rows: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> LogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after 200 iterations what is left does not matter
        return LogisticRegression(C=_SIGNAL, max_iter=200).fit(rows, classes, sample_weight=weights)


def _scale(logits: np.ndarray, squares: np.ndarray) -> float:
    """The factor f ≤ 1 for which softmax(f · logits) is nearest to the squares, scaled to probabilities (n, c)."""
    targets = squares / np.sum(squares, axis=1, keepdims=True)

    def loss(log_factor: float) -> float:
        return -float(np.sum(targets * log_softmax(np.exp(log_factor) * logits, axis=1)))  # the cross-entropy

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 0.0), method="bounded").x))
