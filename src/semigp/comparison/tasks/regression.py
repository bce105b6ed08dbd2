"""Predicting a column of numbers: cross-validated, with the holes of the table in the rows to predict as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from ... import scores
from ...baselines.tables.coded import CodedTable
from ...baselines.tables.predicting import PLAIN_WAYS, WAYS, Moments, Way
from ...columns import Columns
from ...estimators import SemiDescribedGPRegressor
from ...estimators.common.sklearn_private import take_rows
from .base import COVERAGE, OURS, Scores, coded

_OTHERS: dict[str, Way] = {
    "boosting": WAYS["HistGradientBoosting"],
    **{name: WAYS[name] for name in ("missForest + GP", "kNN + GP")},
    **PLAIN_WAYS,
}
_INNER_FOLDS = 5  # the spread of a way without error bars is that of rows it has not seen


@dataclass(frozen=True)
class _Fold:
    train: CodedTable
    y: np.ndarray
    test: CodedTable


class Regression:
    """Rows without an output are left out."""

    scores = ("RMSE", "NLPD", COVERAGE)
    ways = (OURS, *_OTHERS)

    def __init__(self, X: Any, y: Any, n_splits: int, seed: int) -> None:
        outputs = np.asarray(y, float).ravel()
        known = np.flatnonzero(~np.isnan(outputs))
        if len(known) < 2 * n_splits:
            raise ValueError(f"y has {len(known)} known values; comparing with {n_splits} folds needs {2 * n_splits}.")
        self._X, self._y, self._seed, self.n_splits = take_rows(X, known), outputs[known], seed, n_splits
        self._table = coded(self._X, Columns.learn(self._X))
        self._folds = list(KFold(n_splits, shuffle=True, random_state=seed).split(self._y))
        self.about = f"prediction of {len(known)} rows, {np.isnan(self._table.values).mean():.0%} of entries missing"

    def run(self, way: str, split: int) -> Scores:
        """Scores on one fold, in the units of y."""
        train, test = self._folds[split]
        if way == OURS:
            model = SemiDescribedGPRegressor(random_state=self._seed).fit(take_rows(self._X, train), self._y[train])
            mean, std = model.predict(take_rows(self._X, test), return_std=True)
        else:
            mean, std = self._other(_OTHERS[way], train, test)
        truth, std = self._y[test], np.maximum(std, 1e-9 * self._y.std())
        return {
            "RMSE": float(np.sqrt(scores.mean_squared_error(truth, mean))),
            "NLPD": scores.negative_log_density(truth, mean, std),
            COVERAGE: scores.coverage(truth, mean, std),
        }

    def _other(self, way: Way, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, std = self._predicted(way, train, test)
        if std is not None:
            return mean, std
        errors = []
        for inner, left_out in KFold(_INNER_FOLDS, shuffle=True, random_state=self._seed).split(train):
            errors.append(self._y[train[left_out]] - self._predicted(way, train[inner], train[left_out])[0])
        return mean, np.full(len(test), np.sqrt(np.mean(np.concatenate(errors) ** 2)))

    def _predicted(self, way: Way, train: np.ndarray, test: np.ndarray) -> Moments:
        return way(_Fold(self._table.rows(train), self._y[train], self._table.rows(test)), self._seed)
