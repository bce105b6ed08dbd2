"""Experiments: their arithmetic, and a small run of each from the command line's point of view."""

import csv
import importlib
import inspect
import json
import time
from pathlib import Path

import numpy as np
import pytest

import semigp
from semigp import provenance
from semigp.cli.app import EXPERIMENTS
from semigp.experiments import (
    calibration,
    checking,
    deep,
    dimensions,
    forecasting,
    imputation,
    motion,
    multiple_imputation,
    noisy_inputs,
    semi_described,
    semi_supervised,
)
from semigp.experiments import views as views_experiment
from semigp.experiments.collect import write_report
from semigp.experiments.reporting import (
    Summary,
    is_number,
    markdown_table,
    plain_number,
    read_rows,
    read_texts,
    run_cells,
    summarise,
    write_results,
    write_rows,
)

RESULTS = Path(__file__).parents[1] / "results" / "experiments"


def test_summaries():
    rows = [{"method": "a", "x": 1.0}, {"method": "a", "x": 3.0}, {"method": "b", "x": 5.0}, {"method": "b", "x": None}]
    found = summarise(rows, ("method",), "x")
    assert found[("a",)].mean == 2.0
    assert found[("a",)].error == pytest.approx(1.0)  # std 1.414 over √2
    assert found[("b",)].count == 1
    assert markdown_table(["", "x"], [["a", "1"]]) == "|  | x |\n|---|---|\n| a | 1 |\n"


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (55.5, 12.3, "56 ± 12"),  # was 55.5 ± 1e+01
        (0.00244, 0.000141, "0.00244 ± 0.00014"),
        (-1.6, 0.0213, "-1.600 ± 0.021"),
        (0.1, 250.0, "0 ± 250"),
        (3.29e-5, 8.1e-6, "(3.29 ± 0.81)·10⁻⁵"),
        (5.58e6, 4.2e5, "(5.58 ± 0.42)·10⁶"),
        (0.2, 0.0, "0.200 ± 0"),  # one seed
        (0.2, 1e-17, "0.200 ± 0"),  # rounding
        (0.0, 0.0, "0 ± 0"),
        (np.nan, np.nan, "nan ± nan"),
    ],
)
def test_means_are_written_as_far_as_their_errors_reach(mean, error, text):
    assert Summary(mean, error, 10).text == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1.0, "1.00"), (0.0126, "0.0126"), (-0.744, "-0.744"), (12431.0, "12400"), (999.7, "1000"),
        (99_999.0, "1.00·10⁵"), (5.581e6, "5.58·10⁶"), (3.29e-5, "3.29·10⁻⁵"), (np.inf, "inf"),
    ],
)  # fmt: skip
def test_no_number_of_a_table_has_an_exponent_of_a_machine(value, text):
    assert plain_number(value) == text


def test_rows_are_written_in_order(tmp_path):
    write_rows(tmp_path / "rows.csv", [{"data": "b", "x": 1.23456789}, {"data": "a", "x": 2.0, "note": "n"}])
    with (tmp_path / "rows.csv").open() as file:
        assert [row["data"] for row in csv.DictReader(file)] == ["a", "b"]
    assert read_rows(tmp_path / "rows.csv") == [{"data": "a", "x": 2, "note": "n"}, {"data": "b", "x": 1.2346}]
    assert read_rows(tmp_path / "none.csv") == []


def _slow_cell(number):
    time.sleep(0.3)
    return [{"number": number}]


def test_cells_are_not_begun_when_the_time_is_over(tmp_path):
    """Of eight cells in one process, those that had begun are there, and rows of an earlier run come first."""
    known = [{"number": -1}]
    rows = run_cells(_slow_cell, [(k,) for k in range(8)], 1, tmp_path / "rows.csv", known, seconds=0.1)
    assert rows[:2] == [{"number": -1}, {"number": 0}]
    assert len(rows) < 6
    assert len(read_rows(tmp_path / "rows.csv")) == len(rows)


def _counted_cell(number, folder):
    with (Path(folder) / str(number)).open("a") as file:
        file.write("x")
    time.sleep(0.3)
    return [{"number": number, "score": np.float64(number) / 3}]


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch):
    """Oracle: the rows of a run that was not. No cell is computed twice, unless the commit is another one."""
    monkeypatch.setenv("SEMIGP_COMMIT", "abc")
    cells = [(k, str(tmp_path)) for k in range(12)]
    table = tmp_path / "rows.csv"
    some = run_cells(_counted_cell, cells, 1, table, seconds=0.0)
    assert 0 < len(some) < 6
    kept = table.with_suffix(".cells")
    kept.write_text(kept.read_text() + '\n{"cell": "[3')  # as a kill leaves it
    run_cells(_counted_cell, cells, 1, table, seconds=0.0)  # and goes on
    assert run_cells(_counted_cell, cells, 1, table) == [{"number": k, "score": k / 3} for k in range(12)]
    assert [(tmp_path / str(k)).read_text() for k in range(12)] == ["x"] * 12
    assert not kept.exists()
    run_cells(_counted_cell, cells, 1, table, seconds=0.0)
    monkeypatch.setenv("SEMIGP_COMMIT", "def")
    run_cells(_counted_cell, cells, 1, table)
    assert (tmp_path / "0").read_text() == "xxx"


def test_results_name_commit_date_versions_and_machine_of_all_their_parts(tmp_path, monkeypatch):
    for commit, continues in (("abc", False), ("def", False), ("ghi", True)):
        monkeypatch.setenv("SEMIGP_COMMIT", commit)
        path = write_results(tmp_path, "deep", "# Page\n", {"seeds": 2}, 1.2, continues=continues)
    told = json.loads((tmp_path / "deep.json").read_text())
    assert [part["commit"] for part in told["parts"]] == ["def", "ghi"]
    assert {"date", "versions", "machine", "seconds"} <= set(told["parts"][0])
    title, *origins = [line for line in path.read_text().splitlines() if line]
    assert title == "# Page"
    for line, commit in zip(origins, ("def", "ghi"), strict=True):
        assert line.startswith("`semigp reproduce deep` on 20")
        for word in (commit, semigp.__version__, "numpy", "Python", "cores"):
            assert word in line


def test_a_changed_tree_is_no_commit(monkeypatch):
    """Nothing is kept for a later run where the code may be another one then."""
    monkeypatch.delenv("SEMIGP_COMMIT", raising=False)
    found = provenance.commit()
    assert found == "unknown" or len(found.removesuffix(", changed since")) == 12


def test_noisy_inputs_run(tmp_path, monkeypatch):
    monkeypatch.setattr(noisy_inputs, "FUNCTIONS", {"sine": noisy_inputs.FUNCTIONS["sine"]})
    rows = noisy_inputs.run_cell("sine", 0.4, 40, 0)
    assert {row["method"] for row in rows} == {noisy_inputs.OURS, noisy_inputs.CONSTRAINED, noisy_inputs.IGNORED}
    assert all(np.isfinite(row["RMSE"]) for row in rows)
    assert noisy_inputs.OURS in noisy_inputs.table(rows)
    for path in noisy_inputs.figure(tmp_path):
        assert path.stat().st_size > 5000


def test_forecasting_scores_every_method_in_both_units(monkeypatch):
    """The ratio of units is the ratio of standard deviations; ours has the lowest CRPS, over 600 steps."""
    monkeypatch.setattr(forecasting, "HORIZON", 600)
    rows = forecasting.run_cell("authors' protocol", 0, 0)
    assert set(forecasting.PUBLISHED) < {row["method"] for row in rows}
    series = forecasting.datasets.make_mackey_glass(690)
    for row in rows:
        ratio = series[:90].std() / series[:594].std()
        assert row["MAE (authors)"] == pytest.approx(row["MAE"] * ratio)
    ours = next(row for row in rows if row["method"] == forecasting.OURS)
    others = [row for row in rows if row["method"] in ("as in the paper", "AR", "boosted trees", "climatology")]
    assert all(ours["CRPS"] < row["CRPS"] for row in others)
    assert "0.529 / 0.550" in forecasting.table(rows)


@pytest.mark.parametrize("name", list(forecasting.REAL))
def test_real_series_are_what_they_should_be(name):
    """Sunspots: 309 years; carbon dioxide: 2284 weeks, 59 of them without a value."""
    values, covariates = forecasting.load_real(name)
    assert (len(values), int(np.isnan(values).sum())) == {"sunspots": (309, 0), "CO2": (2284, 59)}[name]
    assert len(covariates) == len(values)


def test_dimensions_table_and_figure(tmp_path):
    rows = [row for p in (1, 2) for seed in (0, 1) for row in _dimension_cell(p, seed)]
    text = dimensions.table(rows)
    assert "q = 2" in text
    for path in dimensions.figure(rows, tmp_path):
        assert path.stat().st_size > 5000


def _dimension_cell(p, seed):
    rows = []
    for varied in ("q", "p", "n"):
        for method, error in ((dimensions.OURS, 0.5), (dimensions.STANDARD, 1.0)):
            row = {"varied": varied, "value": 2, "rate": 0.5 * p, "seed": seed, "method": method}
            rows.append(row | {"MSE": error * (1 + 0.1 * seed), "coverage": 0.95})
    return rows


def test_semi_described_tables_and_figure(tmp_path):
    """The best method but the oracle is in bold; the oracle never is."""
    rows = []
    for data in ("simulated", "mocap"):
        for method, error in ((semi_described.OURS, 0.2), ("mean", 1.0), (semi_described.ORACLE, 0.1)):
            for rate in (0.2, 0.5):
                for seed in (0, 1):
                    row = {"data": data, "rate": rate, "seed": seed, "method": method, "missing inputs": None}
                    scores = {
                        "MSE": error,
                        "MAE": error,
                        "NLPD": error,
                        "CRPS": error,
                        "coverage": 0.95,
                        "seconds": 1.0,
                    }
                    rows.append(row | scores)
    text = semi_described.tables(rows)
    assert f"| {semi_described.OURS} | **0.200 ± 0** | **0.200 ± 0** |" in text
    assert f"| {semi_described.ORACLE} | 0.100 ± 0 |" in text
    for path in semi_described.figure(rows, tmp_path):
        assert path.stat().st_size > 5000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_semi_described_cell():
    """Half of the simulated inputs missing: SD-GP's errors below every single imputation, on one seed."""
    rows = {row["method"]: row for row in semi_described.run_cell("simulated", 7, 0.5)}
    assert len(rows) == 14
    assert all(rows[semi_described.OURS]["MSE"] < rows[name]["MSE"] for name in semi_described.SINGLE)


def test_labels_are_nested_and_every_class_is_among_them():
    classes = np.repeat([0, 1, 2], [50, 8, 2])
    order = semi_supervised.label_order(classes, 0)
    assert sorted(order) == list(range(60))
    assert set(classes[order[:3]]) == {0, 1, 2}


def test_semi_supervised_cell(tmp_path):
    """Wine, nine labels to forty: every method is there; ours has at most 7 errors of 68 with forty labels."""
    rows = semi_supervised.run_cell("wine", 7)
    by_method = {row["method"]: row for row in rows if row["labels"] == 40}
    assert len(by_method) == 16
    assert by_method[semi_supervised.OURS]["errors"] <= 7
    assert by_method["1-NN"].get("log loss") is None
    assert "### wine, errors" in semi_supervised.tables(rows)
    for path in semi_supervised.figure([row | {"data": "oil"} for row in rows], tmp_path):
        assert path.stat().st_size > 5000


def test_imputation_and_the_report_of_all(tmp_path, monkeypatch):
    """On curved columns GPs find lost entries better than every linear way, and their intervals hold."""
    monkeypatch.setattr(imputation, "METHODS", {k: v for k, v in imputation.METHODS.items() if k != "BayesianGPLVM"})
    rows = imputation.run_cell("curved", 0.2, 100)
    errors = {row["method"]: row["RMSE"] for row in rows}
    assert errors["GPImputer"] < 0.8 * min(errors[name] for name in ("IterativeImputer", "joint Gaussian", "mean"))
    assert 0.88 < rows[0]["coverage"] <= 1.0
    (tmp_path / "imputation.md").write_text(imputation.report(rows), encoding="utf-8")
    imputation.figure(rows, tmp_path)
    page = write_report(tmp_path, ["semi-described", "imputation"]).read_text(encoding="utf-8")
    assert "Tables with missing entries" in page
    assert page.count("<img ") == 1
    assert "Semi-described" not in page.partition("<main>")[2]


def test_views(tmp_path, monkeypatch):
    """Made views of three columns each: the page has every way, ours is below PLS, and known inputs are found."""
    from semigp.experiments.views import experiment, problems

    def made(random):
        t = random.uniform(0.0, 6.0, 80)
        tables = {"a": np.column_stack([np.sin(t), np.cos(t), t / 3]), "b": np.column_stack([np.sin(2 * t), t**2 / 9])}
        tables = {name: rows + 0.05 * random.normal(size=rows.shape) for name, rows in tables.items()}
        return tables, np.arange(50), np.arange(50, 80)

    monkeypatch.setitem(problems._LOADERS, "oil", made)
    ways = ("SharedGPLVM", "SharedGPLVM, model alone", "GP, a lengthscale per column", "GP, one lengthscale", "PLS")
    rows = [row for way in ways for row in experiment.run_cell("oil", 0.1, 100, way)]
    errors = {row["method"]: row["error"] for row in rows}
    assert errors["SharedGPLVM"] < 0.8 * errors["PLS"]
    assert 0.85 < rows[0]["coverage"] <= 1.0
    rows += experiment.run_cell("made", 0.0, 0, "SharedGPLVM")
    assert rows[-1]["found"] == 1
    page = experiment.report(rows)
    assert all(f"| {way} |" in page for way in ways)
    assert "found as they are in 1 of 1 seeds" in page
    for path in experiment.figure(rows, tmp_path):
        assert path.stat().st_size > 5000
    assert views_experiment.NAME == "views"


def test_calibration(tmp_path):
    """Three systems, a data set each, and four ranks. A bar against regressions: 95 % intervals hold 85 % or more."""
    cells = ("regression", "smooth"), ("imputation", "clusters"), ("forecasting", "sine and noise")
    rows = [row for cell in cells for row in calibration.run_cell(*cell, 100)]
    assert all(0.85 <= row["95%"] <= 1.0 and row["50%"] > 0.3 for row in rows)
    for system in calibration.PARTS["ranks"][1]:
        rows += [row for seed in (100, 101) for row in calibration.run_cell("ranks", system, seed)]
    assert "| clusters |" in calibration.report(rows)
    assert all(path.exists() for path in calibration.figure(rows, tmp_path))


def test_deep(tmp_path, monkeypatch):
    """One function, two depths. A bar against regressions: two layers are better on steps, by .2 nats a row."""
    monkeypatch.setattr(deep, "FUNCTIONS", {"steps": deep.FUNCTIONS["steps"]})
    rows = [row for depth in (1, 2) for row in deep.run_cell("steps", 0.0, depth, 0)]
    (gap,) = deep.differences(rows)
    assert gap == rows[1]["NLPD"] - rows[0]["NLPD"]
    assert gap < -0.2
    assert "| steps, 0% missing |" in deep.report(rows)
    assert all(path.stat().st_size > 5000 for path in deep.figure(rows, tmp_path))


def test_problems_for_stacks_have_holes_in_training_rows_only(monkeypatch):
    monkeypatch.setattr(deep.datasets, "load_uci", lambda name: (np.arange(400.0).reshape(200, 2), np.arange(200.0)))
    X, y, X_new, truth = deep.make_problem("any", 0.3, 0)
    assert (len(X), len(X_new)) == (140, 60)
    assert 0.2 < np.isnan(X).mean() < 0.4
    np.testing.assert_array_equal(X_new[:, 0], 2 * truth)
    known = ~np.isnan(X[:, 0])
    np.testing.assert_array_equal(X[known, 0], 2 * y[known])


def test_coverage_of_known_ranks():
    below = np.array([0.01, 0.2, 0.5, 0.74, 0.999])
    assert [calibration.covered(below, level) for level in (0.5, 0.8, 0.95)] == [0.4, 0.6, 0.6]


def test_rubins_rules():
    """Oracle: by hand. Estimates 1 and 3 with squared errors 1: within 1, between 2, total 1 + 1.5·2 = 4."""
    fits = [(np.array([value]), np.array([1.0]), 100) for value in (1.0, 3.0)]
    estimate, error, freedom = multiple_imputation.rubin(fits)
    assert (estimate[0], error[0]) == (2.0, 2.0)
    lost = 0.75
    of_rows = 101 / 103 * 100 * (1 - lost)
    assert freedom[0] == pytest.approx(1 / (lost**2 / 1 + 1 / of_rows))


def test_multiple_imputation(tmp_path):
    """A third of x2 is missing. Intervals are wider than without holes, and errors within four standard errors."""
    rows = [row for seed in range(2) for row in multiple_imputation.run_cell(seed)]
    width = summarise([row for row in rows if row["coefficient"] == "x2"], ("way",), "width")
    assert width[multiple_imputation.OURS,].mean > width["no holes",].mean
    ours = [row for row in rows if row["way"] == multiple_imputation.OURS]
    assert all(abs(row["error"]) < row["width"] for row in ours)
    assert 0.25 < np.mean([row["missing"] for row in rows]) < 0.4
    assert "| coefficient of x2 | held |" in multiple_imputation.report(rows)
    for path in multiple_imputation.figure(rows, tmp_path):
        assert path.stat().st_size > 5000


def test_motion_table_and_figures(tmp_path):
    """The lowest error of every case is in bold; methods without intervals are not in the table of intervals."""
    rows, paths = [], []
    for method, error in ((motion.OURS, 2.0), (motion.STATIC_SHOWN, 3.0), ("nearest frame", 4.0)):
        for number in motion.MOTIONS:
            for part in motion.PARTS:
                for hole in motion.HOLES:
                    row = {"method": method, "seed": motion.FIRST_SEED, "motion": number, "part": part, "hole": hole}
                    row |= {"RMSE, degrees": error, "RMSE, standard units": error / 10}
                    rows.append(row | ({} if error == 4.0 else {"NLPD": 0.5, "coverage": 0.94}))
        for column in ("left hip", "left knee"):
            shown = {"method": method, "part": "legs", "column": column, "truth": 1.0, "mean": 0.5, "std": 0.1}
            paths += [shown | {"step": step} for step in range(20)]
    text = motion.table(rows)
    assert f"| {motion.OURS} | **2.00** | **2.00** | **2.00** | **2.00** |" in text
    assert "| nearest frame | 4.00 |" in text
    assert "0.50 (0.94)" in text.rpartition("## ")[2]
    assert "nearest" not in text.rpartition("## ")[2]
    for path in motion.figure(rows, paths, tmp_path):
        assert path.stat().st_size > 5000


def test_motion_fillers_keep_what_is_known(random):
    """Straight lines, nearest frames and regressions: exact where the missing columns are linear in the known ones."""
    frames = random.normal(size=(60, 4))
    frames[:, 2:] = frames[:, :2] @ np.array([[1.0, 0.5], [-2.0, 1.0]])
    given = frames[40:].copy()
    given[10:, 2:] = np.nan
    for fill in (motion.interpolation, motion.nearest([frames[:40]], 1), motion.ridge([frames[:40]])):
        filled, std = fill(given)
        assert std is None
        np.testing.assert_array_equal(filled[~np.isnan(given)], given[~np.isnan(given)])
        assert not np.isnan(filled).any()
    np.testing.assert_allclose(filled, frames[40:], atol=0.05)  # ridge, with the smallest penalty of .01
    same, _ = motion.nearest([frames], 1)(given)
    np.testing.assert_allclose(same, frames[40:], atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of scikit-learn's own search
def test_motion_gp_that_sees_changes(random):
    """Missing columns depend on a known one, and on how fast that changes. A value alone tells half of it."""

    def waves(start):
        phase = start + np.arange(60) / 4
        both = np.sin(phase) + np.cos(phase)
        return np.column_stack([np.sin(phase), both, -both]) + 0.05 * random.normal(size=(60, 3)) * [0, 1, 1]

    truth = waves(0.3)
    given = truth.copy()
    given[30:, 1:] = np.nan
    errors = []
    for sees_changes in (False, True):
        filled, std = motion.gp([waves(start) for start in (1.0, 2.0)], 0, sees_changes)(given)
        np.testing.assert_array_equal(std[~np.isnan(given)], 0.0)
        errors.append(np.sqrt(np.mean((filled - truth)[30:, 1:] ** 2)))
    assert errors[1] < 0.15 < 0.5 < errors[0]  # the noise is .05, and the root mean square of the cosine .7


# ---- tables that are checked

_TABLE = [
    {"data": "oil", "labels": "20", "seed": "1", "method": "ours", "errors": "15", "log loss": "0.2", "seconds": "3"},
    {"data": "oil", "labels": "40", "seed": "1", "method": "ours", "errors": "11", "log loss": "", "seconds": "3"},
    {"data": "oil", "labels": "20", "seed": "2", "method": "ours", "errors": "15", "log loss": "0.2", "seconds": "3"},
]


def _compared(*rows):
    return checking.compare("some", 1, rows, [_TABLE])


def test_numbers_that_are_computed_again_are_compared():
    """By hand: times do not count, a number that has become another one is found, and so is one that is gone."""
    same = _compared(_TABLE[0] | {"seconds": "9"}, _TABLE[1])
    assert (len(same.differences), same.n_equal, same.n_absent) == (6, 6, 0)  # labels, errors and log loss
    assert same.is_confirmed
    assert same.sentence == "some: 6 of 6 numbers are the same (cells: 1)."
    changed = _compared(_TABLE[0] | {"errors": "12"})
    assert changed.worst == (0.2, "errors (oil, 1, ours)")
    assert not changed.is_confirmed
    assert "; the largest difference is 20 %, of errors" in changed.sentence
    assert _compared(_TABLE[0] | {"log loss": "-0.0001"}).worst[0] == 1.0005  # 0.2001 of 0.2
    absent = _compared(_TABLE[0], _TABLE[0] | {"seed": "3"})
    assert (absent.n_absent, absent.n_equal, absent.is_confirmed) == (1, 3, False)
    assert absent.sentence.endswith("; rows that are not in the table: 1.")
    assert not _compared(_TABLE[0], {"data": "oil", "seed": "1", "error": "ValueError: no"}).is_confirmed


@pytest.mark.parametrize(
    ("before", "now", "difference"),
    [("0.2", "", 1), ("0.2", "nan", 1), ("nan", "nan", 0), ("inf", "0.2", 1), ("0", "-0", 0), ("0.2", "0.20001", 5e-5),
     ("1e-6", "-1e-6", 1e-3)],
)  # fmt: skip
def test_differences_of_numbers(before, now, difference):
    """Numbers near zero are compared with a hundredth of what is usual in their column, here of .2."""
    assert checking._difference(now, before, floor=0.002) == pytest.approx(difference, rel=1e-3)


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_last_digits_do_not_hide_which_row_it_is(name):
    """Rows of the committed tables whose scores are changed a little are found again. Oracle: their own rows."""
    random = np.random.default_rng(0)
    table = read_texts(RESULTS / f"{name}.csv")
    rows = [dict(table[i]) for i in random.permutation(len(table))[:20]]
    for row in rows:
        for column, value in row.items():
            if "." in value and is_number(value) and column not in ("rate", "missing", "variance", "share"):
                row[column] = repr(float(value) * (1 + 1e-4 * random.uniform(-1, 1)))
    found = checking.compare(name, 20, rows, [table])
    assert found.is_confirmed, found.sentence


@pytest.mark.parametrize("name", ["tables", "series", "views"])
def test_committed_tables_have_the_cells_of_the_profile(name, shared, monkeypatch):
    """A row for each cell, whose arguments are in it."""
    monkeypatch.setenv("SEMIGP_DATA", str(shared / "data"))
    rows = {frozenset(row.values()) for row in read_texts(RESULTS / f"{name}.csv")}
    for cell in importlib.import_module(EXPERIMENTS[name]).cells("paper"):
        wanted = {f"{each:.5g}" if isinstance(each, float) else str(each) for each in cell} - {""}
        assert any(wanted <= row for row in rows), cell


def test_cells_of_a_table_are_computed_again(tmp_path, monkeypatch):
    """Three cells of the real experiment, in a table of which one number was changed."""
    monkeypatch.setitem(multiple_imputation.PROFILES, "paper", {"data sets": 3})
    rows = [row for (seed,) in multiple_imputation.cells("paper") for row in multiple_imputation.run_cell(seed)]
    rows[0]["estimate"] *= 1.1
    write_rows(tmp_path / "multiple-imputation.csv", rows)
    found = checking.check("multiple-imputation", multiple_imputation, "paper", tmp_path, 3, n_jobs=1)
    assert found.n_equal == len(found.differences) - 1
    assert found.worst[0] == pytest.approx(1 - 1 / 1.1, rel=1e-3)
    page = checking.write_page(tmp_path, [found], 3).read_text(encoding="utf-8")
    assert "| multiple-imputation | 3 |" in page
    assert "estimate (" in page


def test_every_experiment_says_what_its_cells_are(shared, monkeypatch):
    """All different; the paper's profile has more of them than the quick one."""
    monkeypatch.setenv("SEMIGP_DATA", str(shared / "data"))
    for module in EXPERIMENTS.values():
        experiment = importlib.import_module(module)
        quick, paper = experiment.cells("quick"), experiment.cells("paper")
        assert len(set(paper)) == len(paper) > len(quick) > 0
        for cell in paper:
            inspect.signature(experiment.run_cell).bind(*cell)
