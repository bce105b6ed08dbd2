"""Tables of every kind become floats and come back: what was known is unchanged, what was missing has its own type."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from semigp import storage
from semigp.columns import Columns, Levels, Number, Time
from semigp.columns.columns import holds_only_numbers
from semigp.estimators.stored import stored_classes

from .frames import pandas_frame, polars_frame


def _guess(codes):
    """Codes without NaN: means in place of what is missing."""
    return np.where(np.isnan(codes), np.nan_to_num(np.nanmean(codes, axis=0)), codes)


def _holes(frame):
    if isinstance(frame, pd.DataFrame):
        return frame.isna().to_numpy()
    return np.column_stack([c.is_null() | (c.is_nan() if c.dtype.is_float() else False) for c in frame]).astype(bool)


@pytest.mark.parametrize("frame", [pandas_frame(), polars_frame()], ids=["pandas", "polars"])
def test_every_kind_of_column_comes_back_full_with_its_type(frame):
    columns = Columns.learn(frame)
    codes = columns.encode(frame)
    assert columns.names_of_used == list(frame.columns)
    assert columns.left_out == {}
    assert not columns.is_numeric_only
    assert codes.dtype == np.float64
    assert codes.flags.c_contiguous
    np.testing.assert_array_equal(np.isnan(codes), _holes(frame))
    filled = columns.fill(_guess(codes), frame)
    assert list(filled.dtypes) == list(frame.dtypes)
    assert not _holes(filled).any()
    known = ~np.isnan(codes)
    np.testing.assert_array_equal(columns.encode(filled)[known], codes[known])


NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-5, 5))
WORDS = st.one_of(st.none(), st.sampled_from(["a", "b", "", "ü", "1"]))
MOMENTS = st.one_of(st.none(), st.datetimes(pd.Timestamp("1950-01-01"), pd.Timestamp("2100-01-01")))
ROWS = st.lists(st.tuples(NUMBERS, WORDS, MOMENTS, st.one_of(st.none(), st.booleans())), min_size=1, max_size=12)


def _pandas(rows):
    number, word, moment, flag = (list(column) for column in zip(*rows, strict=True))
    columns = {
        "flag": pd.array(flag, "boolean"),
        "number": pd.array(number, "Float64"),
        "category": pd.Categorical(word, ["b", "", "ü", "1", "a"]),
        "object": pd.Series(["one" if each == "1" else each for each in word], dtype=object),  # "" beside 1 is a hole
        "moment": pd.Series(moment, dtype="datetime64[us, Asia/Tokyo]"),
        "float": pd.Series(number, dtype=float),
    }
    return pd.DataFrame(columns).set_axis([f"row {i % 5}" for i in range(len(rows))])


def _polars(rows):
    number, word, moment, flag = zip(*rows, strict=True)
    kinds = {"flag": pl.Boolean, "moment": pl.Datetime("us"), "number": pl.Float64, "word": pl.Categorical}
    return pl.DataFrame({"flag": flag, "moment": moment, "number": number, "word": word}, schema=kinds, strict=False)


@given(ROWS)
def test_no_known_cell_changes_in_pandas(rows):
    frame = _pandas(rows)
    columns = Columns.learn(frame)
    before = frame.copy()
    filled = columns.fill(np.nan_to_num(columns.encode(frame)), frame)
    assert_frame_equal(filled.mask(frame.isna()), frame.mask(frame.isna()))  # types, index and order, too
    assert_frame_equal(frame, before)
    can_be_filled = [kind.name for kind in columns.used if not isinstance(kind, Levels) or kind.levels]
    assert not filled[can_be_filled].isna().any(axis=None)


@given(ROWS)
def test_no_known_cell_changes_in_polars(rows):
    frame = _polars(rows)
    columns = Columns.learn(frame)
    filled = columns.fill(np.nan_to_num(columns.encode(frame)), frame)
    assert filled.schema == frame.schema
    for name in frame.columns:
        known = frame[name].is_not_null()
        assert filled[name].filter(known).to_list() == frame[name].filter(known).to_list()


def test_arrays_with_categories():
    X = np.array([[1.5, "red", 1], [np.nan, None, 2], [2.5, "blue", None]], dtype=object)
    columns = Columns.learn(X, categorical_features=[1, -1])
    assert columns.used == (Number(0, False, 1.5, 2.5), Levels(1, ("blue", "red"), False), Levels(2, (1, 2), False))
    np.testing.assert_array_equal(columns.encode(X), [[1.5, 1, 0], [np.nan, np.nan, 1], [2.5, 0, np.nan]])
    filled = columns.fill(np.zeros((3, 3)), X)
    assert filled.tolist() == [[1.5, "red", 1], [1.5, "blue", 2], [2.5, "blue", 1]]
    assert filled.dtype == object


def test_an_array_of_floats_stays_one():
    X = np.array([[0.5, 3.0], [np.nan, np.nan], [1.0, 8.0]])
    columns = Columns.learn(X, categorical_features=np.array([False, True]))
    np.testing.assert_array_equal(columns.fill(np.full((3, 2), 0.6), X), [[0.5, 3.0], [0.6, 8.0], [1.0, 8.0]])


@pytest.mark.parametrize("features", [["zip"], [1], [False, True]])
def test_columns_of_a_frame_that_are_called_categorical(features):
    frame = pd.DataFrame({"x": [1.0, 2.0], "zip": [8001, 3011]})
    assert Columns.learn(frame, features).used[1] == Levels("zip", (3011, 8001), False)


@pytest.mark.parametrize(
    ("features", "match"),
    [
        (["zap"], r"names the column 'zap', which X does not have: 'x', 'y'"),
        ([2], r"names the column 2, which X does not have"),
        ([True], r"categorical_features has 1 entries; X has 2 columns"),
    ],
)
def test_categorical_features_that_are_not_there(features, match):
    with pytest.raises(ValueError, match=match):
        Columns.learn(pd.DataFrame({"x": [1.0], "y": [2.0]}), features)


def test_text_in_an_array_is_an_error_with_a_cure():
    with pytest.raises(ValueError, match=r"Column 1 of the array X does not hold numbers.*categorical_features=\[1\]"):
        Columns.learn([[1, "a"], [2, "b"]])


def _identified(n=30):
    return pl.DataFrame({"id": range(n), "name": [f"no {i}" for i in range(n)], "x": np.arange(n) / 7})


def test_identifiers_and_free_text_are_left_out_and_named():
    frame = _identified()
    with pytest.warns(UserWarning, match=r"Columns are left out \('id': its name and .*; 'name': nearly every"):
        columns = Columns.learn(frame)
    assert columns.names_of_used == ["x"]
    assert list(columns.left_out) == ["id", "name"]
    holes = frame.with_columns(pl.when(pl.col("id") < 3).then(None).otherwise(pl.col("name")).alias("name"))
    assert columns.fill(columns.encode(holes), holes).equals(holes)


def test_nothing_left_is_an_error():
    with pytest.raises(ValueError, match=r"No column of X can be learned from \('id': .*; 'name'"):
        Columns.learn(_identified().drop("x"))


def test_plain_numbers_are_recognised():
    frame = pd.DataFrame({"id": range(19), "x": 0.5, "n": pd.array([1] * 19, "Int64")})
    assert holds_only_numbers(frame)
    assert Columns.learn(frame).is_numeric_only
    assert not holds_only_numbers(pd.concat([frame, frame.assign(id=frame["id"] + 100)]))
    assert not holds_only_numbers(frame.assign(x=True))
    assert not holds_only_numbers(frame.to_numpy())


def test_expanded_tables_and_back():
    frame = pd.DataFrame(
        {
            "x": [0.5, 2.0, np.nan, 1.0],
            "three": ["a", "b", None, "c"],
            "two": ["y", "n", "y", None],
            "size": pd.Categorical(["S", "L", "M", None], ["S", "M", "L"], ordered=True),
        }
    )
    columns = Columns.learn(frame)
    codes = columns.encode(frame)
    nan = np.nan
    assert columns.groups == ((0,), (1, 2, 3), (4,), (5,))
    expected = [[0.5, 1, 0, 0, 1, 0], [2, 0, 1, 0, 0, 2], [nan, nan, nan, nan, 1, 1], [1, 0, 0, 1, nan, nan]]
    np.testing.assert_array_equal(columns.expand(codes), expected)
    np.testing.assert_array_equal(columns.collapse(columns.expand(codes)), codes)
    between = columns.collapse([[7.3, 0.2, 0.5, 0.3, 0.7, 9.0], [nan, nan, nan, nan, -3.0, 0.4]])
    np.testing.assert_array_equal(between, [[7.3, 1, 1, 2], [nan, nan, 0, 0]])


def test_saved_and_loaded(tmp_path):
    with pytest.warns(UserWarning, match="left out"):
        identified = Columns.learn(_identified())
    for columns in (Columns.learn(pandas_frame()), Columns.learn(polars_frame()), identified):
        storage.write(tmp_path / "columns", columns, stored_classes(), {})
        assert storage.read(tmp_path / "columns", stored_classes()) == columns


def test_columns_are_found_by_name_and_in_arrays_by_place():
    frame = pl.DataFrame({"x": [1.0, 2.0], "day": ["Mon", "Tue"]})
    columns = Columns.learn(frame)
    expected = [[1, 0], [2, 1]]
    np.testing.assert_array_equal(columns.encode(frame.select("day", "x")), expected)
    np.testing.assert_array_equal(columns.encode(np.array(frame.rows(), object)), expected)
    with pytest.raises(ValueError, match=r"X has no column 'day', which it had in training; there are 'x'\."):
        columns.encode(frame.select("x"))


def test_times_are_rounded_on_the_clock_of_their_zone():
    """Noon in London, whose clocks went forward on 31 March 2024: one day has 23 hours."""
    noons = pd.date_range("2024-03-29 12:00", periods=5, freq="D", tz="Europe/London").to_series(index=range(5))
    days = noons.dt.normalize()
    frame = pd.DataFrame({"day": days.where(days.index != 3)})
    columns = Columns.learn(frame)
    assert columns.used == (Time("day", False, 86400.0, days.iloc[0].timestamp(), days.iloc[-1].timestamp()),)
    near = np.full((5, 1), days.iloc[3].timestamp() + 5000.0)
    assert columns.fill(near, frame)["day"].tolist() == days.tolist()
