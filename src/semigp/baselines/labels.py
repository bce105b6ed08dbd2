"""What classification with few labels is compared with. In y, -1 marks rows without a label, as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.label_gp import CovariancePart, LabelGP, median_square, one_hot, sharpen


class _FromLabelledRows(ClassifierMixin, BaseEstimator):
    """Sorts out which rows have a label."""

    def _labelled(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All rows, which of them are labelled, and the numbers of their classes."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        rows = np.flatnonzero(y != -1)
        if not len(rows):
            raise ValueError("y has no label: every row is -1.")
        self.classes_, numbers = np.unique(y[rows], return_inverse=True)
        return X, rows, numbers

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self._scores(X), axis=1)]

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError


def _knows_probabilities(model: Any) -> bool:
    return hasattr(model.classifier, "predict_proba")


class _WithClassifier(_FromLabelledRows):
    """Rows, as they are or made into something else, go into a classifier of scikit-learn's."""

    @available_if(_knows_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class."""
        return self._scores(X)

    def _scores(self, X: Any) -> np.ndarray:
        """Probabilities where the classifier has them, else 1 for the class it chooses."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        inputs = self._inputs(X)
        if hasattr(self.classifier_, "predict_proba"):
            return self.classifier_.predict_proba(inputs)
        return np.eye(len(self.classes_))[self.classifier_.predict(inputs)]

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return X


class LabelledRows(_WithClassifier):
    """Any classifier, on the labelled rows alone.

    Parameters
    ----------
    classifier : scikit-learn classifier or pipeline
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> LabelledRows:
        """Fit to the rows whose label is not -1."""
        X, rows, numbers = self._labelled(X, y)
        self.classifier_ = clone(self.classifier).fit(X[rows], numbers)
        return self


class OneHotGP(_FromLabelledRows):
    """GP regression of one-hot labels on the labelled rows, isotropic RBF, hyperparameters by evidence."""

    def fit(self, X: Any, y: Any) -> OneHotGP:
        """Fit to the rows whose label is not -1."""
        X, rows, numbers = self._labelled(X, y)
        self._rows, weights = X[rows], np.ones(len(rows))
        squares = euclidean_distances(self._rows, squared=True)
        self._median = median_square(squares)
        self._gp = LabelGP(
            [CovariancePart(squares / self._median, True)], one_hot(numbers, len(self.classes_)), weights
        )
        self._sharpness, _ = sharpen(self._gp.left_out, numbers, weights)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class: softmax of the means, as sharp as suits labels left out."""
        return self._scores(X)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        squares = euclidean_distances(X, self._rows, squared=True)
        return softmax(self._sharpness * self._gp.predict([CovariancePart(squares / self._median, True)]), axis=1)


class Embedded(_WithClassifier):
    """A classifier on an embedding of the rows: of all of them, or of the labelled ones only.

    Parameters
    ----------
    embedding : scikit-learn transformer
        PCA, or a Bayesian GP-LVM.
    classifier : scikit-learn classifier
    n_samples : int
        Draws from q(x) for each labelled row; 0 = means only. The embedding's `transform` must have `return_std`.
    labelled_only : bool
        Leave the other rows out of the embedding.
    random_state : int, RandomState or None
    """

    def __init__(
        self,
        embedding: Any,
        classifier: Any,
        n_samples: int = 0,
        labelled_only: bool = False,
        random_state: Any = None,
    ) -> None:
        self.embedding = embedding
        self.classifier = classifier
        self.n_samples = n_samples
        self.labelled_only = labelled_only
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Embedded:
        """Embed, and fit to the rows whose label is not -1."""
        X, rows, numbers = self._labelled(X, y)
        self.embedding_ = clone(self.embedding).fit(X[rows] if self.labelled_only else X)
        if self.n_samples:
            mean, std = map(np.asarray, self.embedding_.transform(X[rows], return_std=True))
            noise = check_random_state(self.random_state).normal(size=(self.n_samples, *mean.shape))
            inputs, numbers = (mean + std * noise).reshape(-1, mean.shape[1]), np.tile(numbers, self.n_samples)
        else:
            inputs = self.embedding_.transform(X[rows])
        self.classifier_ = clone(self.classifier).fit(inputs, numbers)
        return self

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.embedding_.transform(X))
