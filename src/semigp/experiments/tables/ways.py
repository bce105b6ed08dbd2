"""Ways to predict from a table with holes: ours, and those of practice.

Each is a function of a problem and a seed, and returns means and standard deviations of the test outputs, or means and
None.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from ...baselines.forests import ChainedForests, iterative_trees
from ...baselines.standard_gp import predict_by_gp
from ...core.numerics.mixtures import pooled
from .columns import Columns
from .problems import Problem

Moments = tuple[np.ndarray, np.ndarray | None]
Way = Callable[[Problem, int], Moments]
OURS, ORACLE = "semigp", "oracle GP"
N_DRAWS = 5


def _ours(problem: Problem, seed: int) -> Moments:
    """The default. Tables with text are given as they are, or encoded while the regressor takes numbers only."""
    from ...estimators import SemiDescribedGPRegressor

    model = SemiDescribedGPRegressor(random_state=seed)
    if problem.train.labels:
        try:
            return model.fit(problem.train.frame(), problem.y).predict(problem.test.frame(), return_std=True)
        except (TypeError, ValueError) as error:
            print(f"The regressor did not take a table with text ({error}); it is given 0/1 columns instead.")
    return model.fit(problem.train.encoded(), problem.y).predict(problem.test.encoded(), return_std=True)


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
    return tuple(Columns(part, train.names, train.labels).encoded() for part in (full, values))


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


def _oracle(problem: Problem, seed: int) -> Moments:
    """The GP that sees what was lost. Holes that the table itself has are filled with means."""
    train, test = problem.complete.encoded(), problem.complete_test.encoded()
    filler = SimpleImputer(keep_empty_features=True).fit(train)
    return predict_by_gp(filler.transform(train), problem.y, filler.transform(test), seed)


# ---- Boosting, which takes NaN and categories as they are.


def _boosting(problem: Problem, seed: int) -> Moments:
    model = HistGradientBoostingRegressor(categorical_features=list(problem.train.labels) or None, random_state=seed)
    return model.fit(problem.train.values, problem.y).predict(problem.test.values), None


def _lightgbm(problem: Problem, seed: int) -> Moments:
    """With LightGBM's own functions: the version that miceforest needs has a scikit-learn API of older days."""
    import lightgbm

    rows = lightgbm.Dataset(problem.train.values, problem.y, categorical_feature=list(problem.train.labels))
    settings = {"objective": "regression", "seed": seed, "num_threads": 1, "verbosity": -1}
    return lightgbm.train(settings, rows, num_boost_round=100).predict(problem.test.values), None


def _catboost(problem: Problem, seed: int) -> Moments:
    import catboost

    categories = list(problem.train.labels)
    model = catboost.CatBoostRegressor(
        random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False, cat_features=categories
    )

    def worded(table: Columns) -> np.ndarray:
        """CatBoost takes categories as text, a missing one too."""
        values = table.values.astype(object)
        values[:, categories] = table.values[:, categories].astype(str)
        return values if categories else table.values

    return model.fit(worded(problem.train), problem.y).predict(worded(problem.test)), None


WAYS: dict[str, Way] = {
    OURS: _ours,
    "missForest + GP": _forests_and_gp,
    "missForest + random forest": _forests_and_forest,
    "kNN + GP": _imputer_and_gp(lambda: KNNImputer(keep_empty_features=True)),
    "mean + GP": _imputer_and_gp(lambda: SimpleImputer(keep_empty_features=True)),
    "5 draws + GP each": _draws_and_gps,
    "HistGradientBoosting": _boosting,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    ORACLE: _oracle,
}
PACKAGES = {"LightGBM": "lightgbm", "CatBoost": "catboost"}


def is_there(name: str) -> bool:
    """Whether a way can run here."""
    return name not in PACKAGES or importlib.util.find_spec(PACKAGES[name]) is not None
