"""Ways to predict from a table with holes: ours, those of practice, and an oracle.

Each is a function of a problem and a seed, and returns means and standard deviations of the test outputs, or means and
None.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np
from sklearn.impute import SimpleImputer

from ...baselines.standard_gp import predict_by_gp
from ...baselines.tables import predicting
from ...baselines.tables.coded import CodedTable
from ...baselines.tables.predicting import Moments
from .problems import Problem

Way = Callable[[Problem, int], Moments]
OURS, ORACLE = "semigp", "oracle GP"


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


def _oracle(problem: Problem, seed: int) -> Moments:
    """The GP that sees what was lost. Holes that the table itself has are filled with means."""
    train, test = problem.complete.encoded(), problem.complete_test.encoded()
    filler = SimpleImputer(keep_empty_features=True).fit(train)
    return predict_by_gp(filler.transform(train), problem.y, filler.transform(test), seed)


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

    def worded(table: CodedTable) -> np.ndarray:
        """CatBoost takes categories as text, a missing one too."""
        values = table.values.astype(object)
        values[:, categories] = table.values[:, categories].astype(str)
        return values if categories else table.values

    return model.fit(worded(problem.train), problem.y).predict(worded(problem.test)), None


WAYS: dict[str, Way] = {
    OURS: _ours,
    **predicting.WAYS,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    ORACLE: _oracle,
}
PACKAGES = {"LightGBM": "lightgbm", "CatBoost": "catboost"}


def is_there(name: str) -> bool:
    """Whether a way can run here."""
    return name not in PACKAGES or importlib.util.find_spec(PACKAGES[name]) is not None
