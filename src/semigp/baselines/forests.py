"""Imputation by forests: every column is predicted from the others by trees, in turn, as missForest does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

N_TREES, N_SWEEPS = 50, 5


def iterative_trees(seed: int) -> IterativeImputer:
    """Scikit-learn's IterativeImputer over extra-trees, for tables of numbers."""
    forest = ExtraTreesRegressor(N_TREES, random_state=seed)
    return IterativeImputer(forest, max_iter=N_SWEEPS, random_state=seed, keep_empty_features=True)


def one_hot(values: np.ndarray, levels: Mapping[int, int]) -> np.ndarray:
    """Columns of 0 and 1 for every column that holds class numbers, NaN in all of them where the class is missing.

    `levels` maps the number of such a column to its number of classes. Other columns stay as they are.
    """
    parts = []
    for j, column in enumerate(values.T):
        if j not in levels:
            parts.append(column[:, None])
            continue
        hot = (column[:, None] == np.arange(levels[j])).astype(float)
        parts.append(np.where(np.isnan(column)[:, None], np.nan, hot))
    return np.concatenate(parts, axis=1)


class ChainedForests:
    """The same for tables in which some columns hold class numbers: a forest of classifiers for each of these.

    With 0/1 columns instead, which are missing together, each would be read off the guesses of the others.

    Parameters
    ----------
    levels : mapping
        The number of classes for each column that holds class numbers, by the number of the column.
    random_state : int
    """

    def __init__(self, levels: Mapping[int, int], random_state: int = 0) -> None:
        self.levels = levels
        self.random_state = random_state

    def fit_transform(self, values: np.ndarray) -> np.ndarray:
        """Learn from a table (n, q) with NaN, and fill it."""
        self._start = [self._usual(column[~np.isnan(column)], j) for j, column in enumerate(values.T)]
        self._forests: dict[int, Any] = {}
        for j in range(values.shape[1]):
            kind = ExtraTreesClassifier if j in self.levels else ExtraTreesRegressor
            self._forests[j] = kind(N_TREES, random_state=self.random_state)
        return self._sweep(values, is_new=False)

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Fill new rows."""
        return self._sweep(values, is_new=True)

    def _sweep(self, values: np.ndarray, is_new: bool) -> np.ndarray:
        """Sweeps over the columns, those with the fewest holes first."""
        holes = np.isnan(values)
        filled = np.where(holes, self._start, values)
        self.probabilities_ = {}
        for sweep in range(N_SWEEPS):
            for j in np.argsort(holes.sum(axis=0), kind="stable"):
                # Columns without holes get their forest in the last sweep, since new rows may lack them.
                if holes[:, j].any() or (not is_new and sweep == N_SWEEPS - 1):
                    self._renew(filled, values[:, j], holes[:, j], int(j), is_new)
        return filled

    def _renew(self, filled: np.ndarray, column: np.ndarray, hole: np.ndarray, j: int, is_new: bool) -> None:
        """Fill one column from the present values of the others."""
        others = one_hot(filled, {k: count for k, count in self.levels.items() if k != j})
        others = np.delete(others, sum(self.levels.get(k, 1) for k in range(j)), axis=1)
        forest = self._forests[j]
        if not is_new:
            if hole.all():
                return
            forest.fit(others[~hole], column[~hole])
        if not hole.any() or not hasattr(forest, "estimators_"):
            return
        filled[hole, j] = forest.predict(others[hole])
        if j in self.levels:
            found = np.zeros((len(filled), self.levels[j]))
            found[np.ix_(hole, forest.classes_.astype(int))] = forest.predict_proba(others[hole])
            self.probabilities_[j] = found

    def _usual(self, known: np.ndarray, j: int) -> float:
        """Where a column starts: its mean, or its most frequent class."""
        if not len(known):
            return 0.0
        return float(np.bincount(known.astype(int)).argmax()) if j in self.levels else float(known.mean())
