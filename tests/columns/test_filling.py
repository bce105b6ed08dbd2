"""What is filled in is of the column's own type, rounded and inside the known range."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.columns import Columns


def _filled(training, new, code):
    columns = Columns.learn(training)
    return columns.fill(np.full((len(new), 1), code), new)


def test_whole_numbers_are_rounded_and_clipped():
    frame = pd.DataFrame({"x": [1.0, np.nan, 4.0]})
    assert _filled(frame, frame, 2.6)["x"].tolist() == [1.0, 3.0, 4.0]
    assert _filled(frame, frame, 99.0)["x"].tolist() == [1.0, 4.0, 4.0]


def test_objects_keep_the_types_of_their_neighbours():
    frame = pd.DataFrame({"x": pd.Series([1, None, 4], dtype=object)})
    filled = _filled(frame, frame, 2.6)["x"].tolist()
    assert filled == [1, 3, 4]
    assert isinstance(filled[1], int)
    frame = pd.DataFrame({"x": pd.Series([date(2024, 1, 1), None, date(2024, 1, 9)], dtype=object)})
    assert _filled(frame, frame, datetime(2024, 1, 2, 13).timestamp())["x"].iloc[1] == date(2024, 1, 3)


def test_categories_that_new_rows_do_not_have_are_added():
    training = pd.DataFrame({"x": pd.Categorical(["a", "b"])})
    new = pd.DataFrame({"x": pd.Categorical(["b", None])})
    filled = _filled(training, new, 0.0)["x"]
    assert filled.tolist() == ["b", "a"]
    assert list(filled.cat.categories) == ["b", "a"]
    new = pl.DataFrame({"x": pl.Series(["b", None], dtype=pl.Enum(["b"]))})
    assert _filled(training, new, 0.0)["x"].to_list() == ["b", "a"]


@pytest.mark.parametrize(
    ("known", "code", "expected"),
    [
        (["a", "b"], 1.0, "b"),
        ([True, False], 1.0, True),
        ([timedelta(seconds=1), timedelta(seconds=5)], 2.2, timedelta(seconds=2)),
        ([datetime(1970, 1, 1), datetime(1970, 1, 9)], 86400.0, datetime(1970, 1, 2)),
        ([0.5, 2.5], 1.25, 1.25),
    ],
)
def test_empty_columns_of_new_rows_get_a_type(known, code, expected):
    """A column without any value is read as floats by pandas, and as null by polars."""
    training = pd.DataFrame({"x": known})
    assert _filled(training, pd.DataFrame({"x": [np.nan, np.nan]}), code)["x"].tolist() == [expected] * 2
    assert _filled(training, pl.DataFrame({"x": [None, None]}), code)["x"].to_list() == [expected] * 2
    empty = pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Float64)})
    assert _filled(training, empty, code)["x"].to_list() == [expected] * 2


def test_arrays_of_times():
    X = np.array([["2024-01-01"], ["NaT"], ["2024-01-09"]], "M8[D]")
    code = np.datetime64("2024-01-03T18", "s").astype(float)
    assert _filled(X, X, code)[1, 0] == np.datetime64("2024-01-04")


def test_sparse_columns_become_dense():
    frame = pd.DataFrame({"x": pd.arrays.SparseArray([1.0, np.nan, 0.5])})
    assert _filled(frame, frame, 0.75)["x"].tolist() == [1.0, 0.75, 0.5]


def test_without_a_code_a_hole_stays():
    frame = pd.DataFrame({"x": pd.array([1, None, 2], "Int64")})
    assert _filled(frame, frame, np.nan)["x"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("training", "new", "expected"),
    [
        ([True, False], ["false", None], "true"),
        ([True, False], ["TRUE", None], "TRUE"),
        (["true", "false"], [False, None], True),
        (["1", "x"], [1, None], 1),
    ],
)
def test_levels_are_filled_in_as_the_column_writes_them(training, new, expected):
    columns = Columns.learn(pl.DataFrame({"x": training}), ["x"])
    codes = columns.encode(pl.DataFrame({"x": [expected]}))
    assert columns.fill(codes[[0, 0]], pl.DataFrame({"x": new}))["x"][1] == expected
