"""The experiment on tables: its problems, its encodings, its ranks, and a small run of two cheap ways."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from semigp.baselines.forests import ChainedForests
from semigp.baselines.tables.coded import CodedTable
from semigp.experiments.tables import __main__, columns, fillers, problems, summary, ways
from semigp.experiments.tables.run import filled, predicted


@pytest.fixture(autouse=True)
def _data(shared, monkeypatch):
    monkeypatch.setenv("SEMIGP_DATA", str(shared / "data"))
    columns.load.cache_clear()


@pytest.mark.parametrize("mechanism", problems.MECHANISMS)
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_problem_has_the_holes_that_were_asked_for(mechanism, rate):
    """215 rows of six inputs, 70 % of the table; one column decides, and is whole, where holes depend on it."""
    problem = problems.regression("yacht", 300, rate, mechanism, False, 7)
    lost = np.isnan(problem.train.values)
    np.testing.assert_array_equal(problem.train.values[~lost], problem.complete.values[~lost])
    if mechanism == problems.DEPENDING:
        seen = problems.driver(problem.complete)
        assert not lost[:, seen].any()
        lost = np.delete(lost, seen, axis=1)
    assert lost.mean() == pytest.approx(rate, abs=0.06)
    assert (len(problem.y), len(problem.y_test)) == (215, 93)
    assert not np.isnan(problem.test.values).any()


def test_test_rows_with_holes_and_the_same_rows_at_every_rate():
    few, many = (problems.regression("penguins", 300, rate, problems.AT_RANDOM, True, 7) for rate in (0.1, 0.5))
    assert np.isnan(many.test.values).mean() == pytest.approx(0.5, abs=0.02)
    np.testing.assert_array_equal(few.complete.values, many.complete.values)
    complete = problems.regression("penguins", 300, 0.1, problems.AT_RANDOM, False, 7)
    assert not np.isnan(complete.test.values).any()  # rows with real holes are not among them


def test_categories_become_columns_and_frames():
    """A missing category is missing in all its columns; names with very many levels are left out."""
    pytest.importorskip("pandas")
    values = np.array([[1.5, 0.0], [2.5, 2.0], [np.nan, np.nan]])
    table = CodedTable(values, ["a", "b"], {1: ["x", "y", "z"]})
    nan = np.nan
    np.testing.assert_array_equal(table.encoded(), [[1.5, 1, 0, 0], [2.5, 0, 0, 1], [nan, nan, nan, nan]])
    np.testing.assert_array_equal(table.encoded(without_last=True), [[1.5, 1, 0], [2.5, 0, 0], [nan, nan, nan]])
    frame = table.frame()
    assert list(frame["b"][:2]) == ["x", "z"]
    assert frame.isna().to_numpy().tolist() == [[False, False], [False, False], [True, True]]
    cars, _ = columns.load("mpg")
    assert "name" not in cars.names
    assert cars.labels[len(cars.names) - 1] == ["europe", "japan", "usa"]


def test_chained_forests_find_categories_and_numbers():
    """A class that is a step of a number, and the number of the class: both are found again, in new rows as well."""
    random = np.random.default_rng(0)
    truth = np.repeat([0.0, 1.0, 2.0], 60)
    table = np.column_stack([truth, 10 * truth + random.normal(size=180), random.normal(size=180)])
    holes = np.zeros(table.shape, bool)
    holes[::4, 0], holes[1::4, 1] = True, True
    forests = ChainedForests({0: 3})
    found = forests.fit_transform(np.where(holes, np.nan, table))
    assert np.mean(found[holes[:, 0], 0] == truth[holes[:, 0]]) > 0.95
    assert np.abs(found - table)[holes[:, 1], 1].mean() < 2.0
    np.testing.assert_allclose(forests.probabilities_[0][holes[:, 0]].sum(axis=1), 1.0)
    np.testing.assert_array_equal(forests.transform(np.array([[np.nan, 20.0, 0.0]]))[0], [2.0, 20.0, 0.0])


def test_a_way_that_knows_the_truth_has_perfect_scores(monkeypatch):
    """Oracle: the truth itself, and the entropy of nothing: no error, all categories right, and no log loss."""
    problem = problems.filling("penguins", 400, 0.3, problems.AT_RANDOM, 7)
    truth = problem.truth
    sure = {j: np.eye(count)[np.nan_to_num(truth.values[:, j]).astype(int)] for j, count in truth.levels.items()}
    known = fillers.Filled(truth.values, np.ones_like(truth.values), sure)
    monkeypatch.setitem(fillers.FILLERS, "truth", lambda table, seed: known)
    row = filled(problem, "truth", 0)
    assert (row["RMSE"], row["right"], row["coverage"]) == (0.0, 1.0, 1.0)
    assert row["log loss"] < 0.01  # the floor of .001 on the other levels
    sex = problem.truth.names.index("sex")
    halved = fillers.Filled(truth.values, None, sure | {sex: 0.5 * sure[sex]})
    monkeypatch.setitem(fillers.FILLERS, "truth", lambda table, seed: halved)
    with pytest.raises(ValueError, match=r"probabilities of sex do not add up to 1: in one row they make 0\.5"):
        filled(problem, "truth", 0)


# Lengthscales of inputs that do not matter end at their bound.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("way", ["HistGradientBoosting", "kNN + GP", "missForest + random forest"])
def test_ways_learn(way):
    """In units of the outputs' variance a constant has an error of 1; with 10 % missing, every way has half at most."""
    problem = problems.regression("yacht", 100, 0.1, problems.AT_RANDOM, True, 7)
    with threadpool_limits(1):
        assert predicted(problem, way, 0)["MSE"] < 0.5


def test_ranks():
    """Two tables: places 1 and 2, then 2 and 1, the oracle apart; a way without a score on one table has no rank."""
    part = summary.PARTS[0]
    a, b, c = "semigp", "kNN + GP", "mean + GP"
    found = {(a, "yacht"): 1.0, (b, "yacht"): 2.0, (a, "tips"): 5.0, (b, "tips"): 4.0, (c, "tips"): 1.0}
    found |= {(ways.ORACLE, "yacht"): 0.0, (ways.ORACLE, "tips"): 0.0}
    assert summary.mean_ranks(found, part) == {a: 1.5, b: 1.5}


def test_a_run_is_continued(tmp_path, capsys):
    """The second run makes only the records that are missing, and the page has both ways."""
    line = ["--jobs", "1", "--out", str(tmp_path), "--only", "imputation", "--tables", "yacht", "--seeds", "7"]
    line += ["--rates", ".3", "--rows", "60"]
    __main__.main([*line, "--ways", "mean"])
    __main__.main([*line, "--ways", "mean,kNN"])
    assert "1 records are there, 1 are to be made." in capsys.readouterr().out
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "| kNN |" in page
    assert "| mean |" in page
    assert (tmp_path / "tables-imputation.png").stat().st_size > 5000
    assert len((tmp_path / "tables.csv").read_text().splitlines()) == 3
