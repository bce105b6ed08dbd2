"""Finding classes from few labels: labels are hidden, and the rows stay, as rows without a label do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from ... import scores
from ...baselines import LabelledRows
from ...columns import Columns
from ...estimators import SemiSupervisedGPClassifier
from ...estimators.common.sklearn_private import take_rows
from ...estimators.few_labels.labels import is_known, without_object_type
from .base import OURS, Scores, coded

_NEIGHBOURS = 7
_LEAST_PROBABILITY = 1e-6  # a class that a way finds impossible would cost it an infinite loss


def _others(n_rows: int) -> dict[str, Any]:
    neighbours = min(_NEIGHBOURS, n_rows - 1)
    return {
        "SVC": LabelledRows(SVC(C=100.0)),
        "logistic regression": LabelledRows(LogisticRegression(max_iter=5000)),
        "1 nearest neighbour": LabelledRows(KNeighborsClassifier(1)),
        "label spreading": LabelSpreading(kernel="knn", n_neighbors=neighbours, max_iter=200),
    }


class Classification:
    """Folds of the labelled rows. Other ways see columns in standard units, with means for missing values."""

    scores = ("error", "log loss")

    def __init__(self, X: Any, y: Any, n_splits: int, seed: int) -> None:
        labels = np.asarray(y).ravel()
        self._labelled = np.flatnonzero(is_known(labels))
        classes, numbers = np.unique(without_object_type(labels[self._labelled]), return_inverse=True)
        fewest = np.bincount(numbers).min() if len(numbers) else 0
        if len(classes) < 2 or fewest < 2:
            raise ValueError(
                "Comparing needs at least two classes with two labels each; "
                f"there are {len(classes)} classes, the smallest with {fewest}."
            )
        self._X, self._seed, self._count = X, seed, len(classes)
        self._numbers = np.full(len(labels), -1)
        self._numbers[self._labelled] = numbers
        self.n_splits = int(min(n_splits, fewest))
        folds = StratifiedKFold(self.n_splits, shuffle=True, random_state=seed)
        self._folds = [test for _, test in folds.split(numbers, numbers)]
        filler = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        self._rows = filler.fit_transform(coded(X, Columns.learn(X)).encoded())
        self.ways = (OURS, *_others(len(self._rows)))
        self.about = f"classes of {len(labels)} rows, {len(self._labelled)} of them labelled"

    def run(self, way: str, split: int) -> Scores:
        """Share of wrong classes, and log loss for ways that know probabilities."""
        hidden = self._labelled[self._folds[split]]
        y = self._numbers.copy()
        y[hidden] = -1
        truth = self._numbers[hidden]
        if way == OURS:
            model = SemiSupervisedGPClassifier(random_state=self._seed).fit(self._X, y)
            return _scored(truth, model.predict_proba(take_rows(self._X, hidden)), model.classes_, self._count)
        model = _others(len(self._rows))[way].fit(self._rows, y)
        if not hasattr(model, "predict_proba"):
            return {"error": float(np.mean(model.predict(self._rows[hidden]) != truth))}
        return _scored(truth, model.predict_proba(self._rows[hidden]), model.classes_, self._count)


def _scored(truth: np.ndarray, found: np.ndarray, classes: np.ndarray, count: int) -> Scores:
    chances = np.zeros((len(truth), count))
    chances[:, classes.astype(int)] = found
    error = float(np.mean(chances.argmax(axis=1) != truth))
    chances = np.maximum(chances, _LEAST_PROBABILITY)
    return {"error": error, "log loss": scores.log_loss(truth, chances / chances.sum(axis=1, keepdims=True))}
