"""Ways of practice to predict from a table with holes.

Each is a function of a problem and a seed, and returns means and standard deviations of the test outputs, or means and
None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import RidgeCV

from ...core.numerics.mixtures import pooled
from ..forests import ChainedForests, iterative_trees
from ..standard_gp import predict_by_gp
from .coded import CodedTable

Moments = tuple[np.ndarray, np.ndarray | None]
N_DRAWS = 5
LEAST_COMPLETE = 10  # a GP of fewer rows says nothing


class Problem(Protocol):
    """Training rows with their outputs, and the inputs of test rows."""

    @property
    def train(self) -> CodedTable:
        """The inputs of the training rows."""

    @property
    def y(self) -> np.ndarray:
        """The outputs of the training rows."""

    @property
    def test(self) -> CodedTable:
        """The inputs of the rows to predict."""


Way = Callable[[Problem, int], Moments]


# ---- Imputation first. Training rows are filled with the help of y; the filler of test rows has never seen y.


def _standard(problem: Problem, without_last: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Encoded training and test inputs and y, in standard units of the training rows: distances need them."""
    train, test = problem.train.encoded(without_last), problem.test.encoded(without_last)
    mean, std = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
    std = np.where(std > 0, std, 1.0)
    return (train - mean) / std, (test - mean) / std, (problem.y - problem.y.mean()) / problem.y.std()


def _filled(problem: Problem, imputer: Callable[[], Any], without_last: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Training and test inputs without holes."""
    train, test, y = _standard(problem, without_last)
    full = imputer().fit_transform(np.column_stack([train, y]))[:, :-1]
    if np.isnan(test).any():
        test = imputer().fit(train).transform(test)
    return full, test


def _filled_by_forests(problem: Problem, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Filled as by missForest. Categories have forests of classifiers."""
    if not problem.train.labels:
        return _filled(problem, lambda: iterative_trees(seed))
    levels, train, test = problem.train.levels, problem.train, problem.test
    full = ChainedForests(levels, seed).fit_transform(np.column_stack([train.values, problem.y]))[:, :-1]
    values = test.values
    if np.isnan(values).any():
        forests = ChainedForests(levels, seed)
        forests.fit_transform(train.values)
        values = forests.transform(values)
    return tuple(CodedTable(part, train.names, train.labels).encoded() for part in (full, values))


def _forests_and_gp(problem: Problem, seed: int) -> Moments:
    full, test = _filled_by_forests(problem, seed)
    return predict_by_gp(full, problem.y, test, seed)


def _forests_and_forest(problem: Problem, seed: int) -> Moments:
    full, test = _filled_by_forests(problem, seed)
    return RandomForestRegressor(300, random_state=seed).fit(full, problem.y).predict(test), None


def _imputer_and_gp(imputer: Callable[[], Any]) -> Way:
    def way(problem: Problem, seed: int) -> Moments:
        full, test = _filled(problem, imputer)
        return predict_by_gp(full, problem.y, test, seed)

    return way


def _draws_and_gps(problem: Problem, seed: int) -> Moments:
    """Multiple imputation: a GP for each draw of the missing entries, and their predictions pooled."""
    found = []
    for k in range(N_DRAWS):
        draw = IterativeImputer(
            sample_posterior=True, max_iter=10, random_state=N_DRAWS * seed + k, keep_empty_features=True
        )
        full, test = _filled(problem, lambda draw=draw: draw, without_last=True)
        found.append(predict_by_gp(full, problem.y, test, seed))
    means, stds = (np.array(part) for part in zip(*found, strict=True))
    mean, variance = pooled(means, stds**2)
    return np.asarray(mean), np.sqrt(np.asarray(variance))


# ---- Boosting, which takes NaN and categories as they are.


def _boosting(problem: Problem, seed: int) -> Moments:
    model = HistGradientBoostingRegressor(categorical_features=list(problem.train.labels) or None, random_state=seed)
    return model.fit(problem.train.values, problem.y).predict(problem.test.values), None


# ---- Plain ways, which `semigp.compare` shows too.


def _mean_and_ridge(problem: Problem, seed: int) -> Moments:
    full, test = _filled_without_outputs(problem, SimpleImputer(keep_empty_features=True))
    return RidgeCV(np.logspace(-3, 3, 13)).fit(full, problem.y).predict(test), None


def _complete_rows_and_gp(problem: Problem, seed: int) -> Moments:
    """A GP of the rows without holes. Holes of test rows are filled with means."""
    rows = ~np.isnan(problem.train.values).any(axis=1)
    if rows.sum() < LEAST_COMPLETE:
        raise ValueError(f"{rows.sum()} of {len(rows)} rows have no holes; {LEAST_COMPLETE} are needed.")
    filler = SimpleImputer(keep_empty_features=True).fit(problem.train.encoded())
    test = filler.transform(problem.test.encoded())
    return predict_by_gp(problem.train.rows(rows).encoded(), problem.y[rows], test, seed)


def _filled_without_outputs(problem: Problem, imputer: Any) -> tuple[np.ndarray, np.ndarray]:
    train, test, _ = _standard(problem, without_last=False)
    return imputer.fit_transform(train), imputer.transform(test)


PLAIN_WAYS: dict[str, Way] = {"mean + ridge": _mean_and_ridge, "complete rows + GP": _complete_rows_and_gp}
WAYS: dict[str, Way] = {
    "missForest + GP": _forests_and_gp,
    "missForest + random forest": _forests_and_forest,
    "kNN + GP": _imputer_and_gp(lambda: KNNImputer(keep_empty_features=True)),
    "mean + GP": _imputer_and_gp(lambda: SimpleImputer(keep_empty_features=True)),
    "5 draws + GP each": _draws_and_gps,
    "HistGradientBoosting": _boosting,
}
