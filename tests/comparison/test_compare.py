"""`compare`: the same splits for all, within the time, on tables of every kind."""

import time

import numpy as np
import pandas
import polars
import pytest

from semigp import compare
from semigp.comparison.compare import run
from semigp.comparison.tasks.base import COVERAGE, OURS
from semigp.comparison.tasks.classification import Classification
from semigp.comparison.tasks.forecast import Forecasting
from semigp.comparison.tasks.imputation import Imputation
from semigp.comparison.tasks.regression import Regression


class _Clock:
    """A task whose ways do nothing but wait."""

    about, scores, ways, n_splits = "a clock", ("error",), (OURS, "other", "broken"), 10

    def run(self, way, split):
        if way == "broken":
            raise ValueError("it never works.")
        time.sleep(0.02)
        return {"error": 1.0 + split}


def test_no_split_begins_that_would_end_too_late():
    """A split takes 0.04 s, so that 0.1 s are enough for two."""
    found = run(_Clock(), 0.1)
    assert 1 <= found.n_splits <= 2
    assert found.left_out == {"broken": "it never works."}
    assert [record["way"] for record in found.records] == [OURS, "other"] * found.n_splits
    assert run(_Clock(), 1e-9).n_splits == 1


def _line(n=60):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=n)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, y


def test_numbers_are_predicted_and_scored_in_their_own_units():
    """RMSE does not depend on y's zero, and is ten times as large if y is."""
    X, y = _line()
    one, ten = (Regression(X, factor * y + 3.0 * factor, 3, 0) for factor in (1.0, 10.0))
    for way in ("mean + ridge", "boosting"):
        small, large = one.run(way, 0), ten.run(way, 0)
        assert large["RMSE"] == pytest.approx(10 * small["RMSE"], rel=1e-3)
        assert 0 <= small[COVERAGE] <= 1


def test_rows_without_an_output_are_left_out_and_all_ways_run():
    X, y = _line()
    y[:5] = np.nan
    found = compare(X, y, n_splits=2, minutes=1e-9)
    assert found.about.startswith("prediction of 55 rows")
    assert set(found.ways) == set(Regression.ways)
    assert found.mean(OURS, "RMSE") < 1.5


@pytest.mark.parametrize("library", [pandas, polars])
def test_tables_of_every_kind_are_filled(library):
    """A category and three numbers that all say the same: both kinds are found, by ours and by forests."""
    random = np.random.default_rng(1)
    kinds = random.integers(2, size=80)
    numbers = {f"number {k}": 10.0 * kinds + random.normal(size=80) for k in range(3)}
    frame = library.DataFrame({"kind": np.array(["a", "b"])[kinds], **numbers})
    task = Imputation(frame, 2, 0)
    assert task.scores == ("RMSE", "wrong", COVERAGE)
    for way in (OURS, "missForest"):
        found = task.run(way, 0)
        assert found["RMSE"] < 0.6
        assert found["wrong"] < 0.1
    assert task.run("mean", 0)["wrong"] > 0.2


def test_a_column_that_is_left_out_is_in_nobodys_way():
    """Keys of rows are not filled. Oracle: the table without them has the same scores."""
    random = np.random.default_rng(0)
    frame = pandas.DataFrame({"key": [f"k{i}" for i in range(80)], "a": random.normal(size=80)})
    frame["b"], frame["c"] = frame["a"] + 0.1 * random.normal(size=80), (frame["a"] > 0.5) * 1
    with pytest.warns(UserWarning, match="left out"):
        found = Imputation(frame, 2, 0).run(OURS, 0)
    assert found == Imputation(frame.drop(columns="key"), 2, 0).run(OURS, 0)


def test_means_of_whole_numbers_are_scored_as_they_are():
    """One value in three is 1, and nothing tells where: means of 1/3 err by the standard deviation of the column, .47.

    Rounded to 0 they would err by 1.22 of it, and 0 ± .92 would hold 67 %. 1/3 ± .92 holds all. 160 values: ± .08.
    """
    random = np.random.default_rng(1)
    frame = pandas.DataFrame(random.integers(0, 3, size=(400, 4)) == 0, columns=list("abcd")).astype(int)
    found = Imputation(frame, 2, 0).run(OURS, 0)
    assert found["RMSE"] == pytest.approx(1.0, abs=0.08)
    assert found[COVERAGE] > 0.98


def test_classes_from_few_labels():
    """Two clusters, ten labels: nobody is wrong. The rows of hidden labels stay, so that all 60 are seen."""
    random = np.random.default_rng(0)
    classes = np.repeat([0, 1], 30)
    X = random.normal(size=(60, 2)) + 8.0 * classes[:, None]
    labels = np.array(["left", "right"], object)[classes]
    labels[random.permutation(60)[10:]] = None
    task = Classification(X, labels, 5, 0)
    assert task.n_splits <= 5
    for way in ("SVC", "label spreading", OURS):
        assert task.run(way, 0)["error"] == 0.0


def test_a_series_with_a_season_is_forecast():
    """The season is found. The seasonal naive forecast errs by about its own unit, the mean step over a season."""
    season = np.tile([0.0, 5.0, 1.0, -4.0, 2.0, 7.0, -1.0, 3.0, 0.5, 9.0, -2.0, 4.0], 10)
    task = Forecasting(season + 1e-6 * np.random.default_rng(0).normal(size=120), 12, 2, 0)
    assert task.season == 12
    assert task.run("seasonal naive", 0)["MASE"] < 3.0  # its own unit is the error it makes
    assert set(task.ways) == {OURS, "seasonal naive", "AR", "ETS"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": None, "task": "regression"}, "needs y"),
        ({"y": None, "task": "guess"}, "there is no task 'guess'"),
        ({"y": np.arange(6.0), "n_splits": 1}, "n_splits must be 2"),
        ({"y": np.arange(6.0), "minutes": 0}, "minutes must be above 0"),
        ({"y": np.arange(6.0)}, "comparing with 5 folds needs 10"),
        ({"y": np.array(["a", "b", "b", "b", "b", "b"], object)}, "the smallest with 1"),
        ({"y": None}, "needs 100"),
        ({"y": None, "task": "forecast"}, "has 2 columns; compare one at a time"),
    ],
)
def test_errors_say_what_to_do(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(np.arange(12.0).reshape(6, 2), **arguments)
