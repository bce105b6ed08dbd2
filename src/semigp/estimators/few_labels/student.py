"""A linear classifier that is taught by the others: it learns from all rows, with the classes they are predicted.

It sees how all rows lie, not only the labelled ones, and a linear function cannot follow single mistakes of its
teachers. With few labels it is better than the same function of labelled rows.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ...core.label_gp import evenly_spread
from .labels import LabelColumn

# The weight of a row whose class is predicted, next to 1 for a row with a label.
_PREDICTED = 0.3
# The prior variance of the weights, of columns that have variance 1 in all.
_SIGNAL = 30.0
# More rows than this add time but hardly change a linear function.
_MOST_ROWS = 2000


class Student:
    """Multinomial logistic regression of the classes of all rows. It is fitted on creation.

    `columns` (n, p) are all training rows, and `probabilities` (n, c) their classes as predicted.
    """

    def __init__(self, columns: np.ndarray, probabilities: np.ndarray, column: LabelColumn) -> None:
        self._unit = np.sqrt(np.mean(np.sum(columns**2, axis=1))) or 1.0
        classes, weights = np.argmax(probabilities, axis=1), _PREDICTED * np.max(probabilities, axis=1)
        classes[column.rows], weights[column.rows] = column.classes, column.weights
        some = np.union1d(evenly_spread(len(columns), _MOST_ROWS), column.rows)
        found = np.unique(classes[some])
        self._slopes = np.zeros((column.n_classes, columns.shape[1]))
        self._constants = np.full(column.n_classes, -np.inf)
        self._constants[found] = 0.0
        if len(found) > 1:
            model = _regression(columns[some] / self._unit, classes[some], weights[some])
            # Of two classes, scikit-learn has the slopes of the second one only.
            self._slopes[found[-len(model.coef_) :]] = model.coef_
            self._constants[found[-len(model.coef_) :]] = model.intercept_

    def predict(self, columns: np.ndarray) -> np.ndarray:
        """The probabilities of the classes (n, c). A class that no row has been given has probability 0."""
        return softmax(columns @ (self._slopes / self._unit).T + self._constants, axis=1)


def _regression(rows: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> LogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after 200 iterations what is left does not matter
        return LogisticRegression(C=_SIGNAL, max_iter=200).fit(rows, classes, sample_weight=weights)
