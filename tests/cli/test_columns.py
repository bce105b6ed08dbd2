"""Tables with columns of every kind. Oracles: the estimator itself on the same frame, and what was written."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import semigp
from semigp.cli.columns import choose_inputs, choose_numbers, input_frame
from semigp.cli.problems import Problem
from semigp.cli.tables import numbers, read_table
from semigp.columns import Columns

PATH = Path("t.csv")
HOLES = {"colour": 5, "ok": 7, "count": 6, "x": 8, "day": 9}


def _table(n=60):
    """Identifiers, text, booleans, whole numbers, numbers with error bars, days; and an output of some of them."""
    random = np.random.default_rng(0)
    kind, x = random.integers(3, size=n), random.normal(size=n)
    whole = pl.DataFrame(
        {
            "id": np.arange(n),
            "who": [f"person {i}" for i in range(n)],
            "colour": np.array(["red", "green", "blue"])[kind],
            "ok": kind > 0,
            "count": random.integers(9, size=n),
            "x": x,
            "x_std": np.full(n, 0.1),
            "day": [date(2024, 1, 1) + timedelta(days) for days in random.integers(50, size=n).tolist()],
            "y": kind + x,
        }
    )
    rows = pl.int_range(n)
    return whole.with_columns(pl.when(rows % step != 0).then(name).alias(name) for name, step in HOLES.items())


def test_every_column_is_chosen_but_numbers_are_floats():
    table = _table()
    names = choose_inputs(table, ["y"], PATH, print)
    assert names == ["id", "who", "colour", "ok", "count", "x", "day"]
    frame = input_frame(table, names, PATH)
    assert frame.dtypes == [pl.Float64, pl.String, pl.String, pl.Boolean, pl.Float64, pl.Float64, pl.Date]
    assert [frame[name].null_count() for name in names] == [table[name].null_count() for name in names]


def test_numbers_are_chosen_where_others_are_of_no_use():
    notes: list[str] = []
    assert choose_numbers(_table(), ["y"], PATH, notes.append) == ["id", "ok", "count", "x"]
    assert [note.partition("; ")[2] for note in notes] == ["it holds text.", "it holds text.", "it holds times."]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2", None], pl.Float64),
        (["007", "12", "13"], pl.String),
        (["1", "2", "4+", "4+"], pl.String),
        (["a", "b", "1"], pl.String),
    ],
)
def test_text_that_was_meant_to_be_numbers(cells, kind):
    assert input_frame(pl.DataFrame({"a": cells}), ["a"], PATH)["a"].dtype == kind


def test_a_slip_among_numbers_is_an_error():
    for cells in (["1", "2", "x5"], [*map(str, range(30)), "many", "many"]):
        with pytest.raises(Problem, match=r"'(x5|many)' is not a number"):
            input_frame(pl.DataFrame({"a": cells}), ["a"], PATH)


def test_new_rows_are_read_as_in_training_and_need_no_identifiers():
    class Model:
        _columns = Columns.learn(pl.DataFrame({"x": [1.0, 2.0], "grade": ["1", "x"]}))

    Model._columns.left_out["id"] = "for this test"
    frame = input_frame(pl.DataFrame({"x": ["3"], "grade": [1]}), ["id", "x", "grade"], PATH, Model)
    assert frame.rows() == [(None, 3.0, 1)]
    with pytest.raises(Problem, match="there is no column 'grade'"):
        input_frame(pl.DataFrame({"x": [3.0]}), ["x", "grade"], PATH, Model)


def test_booleans_of_a_file_stay_booleans_and_can_be_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"ok": [True, None, False]}).write_parquet(path)
    table = read_table(path)
    assert table["ok"].to_list() == [True, None, False]
    np.testing.assert_array_equal(numbers(table, ["ok"], path)[:, 0], [1.0, np.nan, 0.0])


def test_classify(shell):
    """Probabilities are those of the estimator, and new rows need no identifier."""
    table = _table().with_columns(pl.when(pl.int_range(60) % 3 == 0).then("colour").alias("colour")).drop("y")
    table.write_parquet("t.parquet")
    result = shell("classify t.parquet --label colour --components 2 --save m.semigp -o out.csv")
    assert "column 'id' is left out; its name and its values are those of an identifier." in result.stderr
    assert "column 'who' is left out; nearly every value is different" in result.stderr
    assert "Note: Columns" not in result.stderr
    model = semigp.load("m.semigp")
    inputs = input_frame(table, ["id", "who", "ok", "count", "x", "day"], PATH)
    assert model._columns.names_of_used == ["ok", "count", "x", "day"]
    found = pl.read_csv("out.csv").select("colour=blue", "colour=green", "colour=red")
    np.testing.assert_allclose(found, model.predict_proba(inputs), rtol=1e-5)
    table.drop("id", "who").write_parquet("new.parquet")
    again = shell("classify --model m.semigp --predict new.parquet --quiet").stdout
    np.testing.assert_array_equal(pl.read_csv(again.encode()).select(found.columns), found)


def test_impute(shell):
    """Cells that were known are unchanged, holes are filled in the form of their column."""
    table = _table()
    table.write_parquet("t.parquet")
    told = shell.json("impute t.parquet --draws 3 -o out.parquet --save m.semigp")
    assert list(told["left_out"]) == ["id", "who"]
    assert told["columns"] == ["colour", "ok", "count", "x", "day", "y"]
    assert told["filled"] == sum(table.null_count().row(0))
    out = pl.read_parquet("out.parquet")
    assert out.select(table.columns).schema == table.schema
    assert not sum(out.null_count().row(0))
    for name, step in HOLES.items():
        known = np.arange(60) % step != 0
        assert out[name].filter(known).equals(table[name].filter(known))
    for name in ("colour", "ok"):
        sure = out[f"{name}_prob"].to_numpy()
        assert ((sure > 0) & (sure <= 1)).all()
        assert (sure[np.arange(60) % HOLES[name] != 0] == 1).all()
    assert "colour_std" not in out.columns
    table.drop("id").write_csv("new.csv")
    again = pl.read_csv(shell("impute new.csv --model m.semigp --quiet").stdout.encode(), try_parse_dates=True)
    assert again["day"].dtype == pl.Date
    assert not sum(again.null_count().row(0))


def test_regress(shell):
    """Predictions are those of the estimator on the same frame."""
    table = _table()
    table.write_csv("t.csv")
    table.drop("id", "who").write_csv("new.csv")
    told = shell.json("regress t.csv -t y --predict new.csv --inducing 15 -o out.csv --save m.semigp")
    assert told["inputs"] == ["colour", "ok", "count", "x", "day"]
    assert set(told["relevance"]) == set(told["inputs"])
    frame = input_frame(read_table(Path("t.csv")), ["id", "who", *told["inputs"]], PATH)
    bars = np.zeros(frame.shape)
    bars[:, frame.columns.index("x")] = np.where(frame["x"].is_null(), 0.0, 0.1)
    mean = semigp.load("m.semigp").predict(frame, X_std=bars)
    np.testing.assert_allclose(pl.read_csv("out.csv")["y_predicted"], mean, rtol=1e-5)
