"""The cells of a column, whatever its library: the oracle is what was put in."""

import importlib.util
from datetime import UTC, date, datetime

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.columns import Columns
from semigp.columns.cells import read_cells

NEEDS_ARROW = pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="needs pyarrow")


def _cells(values, name="x"):
    return read_cells(nw.from_native(values, series_only=True), name)


def test_numbers():
    nan = np.nan
    for values in (
        pd.Series([1, None, 2.5]),
        pd.Series([1, None, 2.5], dtype=object),
        pd.Series(pd.array([1, None, 2.5], "Float64")),
        pl.Series([1.0, float("nan"), 2.5]),
        pl.Series([1.0, None, 2.5]),
    ):
        cells = _cells(values)
        assert cells.form == "numbers"
        np.testing.assert_array_equal(cells.floats, [1, nan, 2.5])


def test_times_are_seconds_since_1970():
    moment = datetime(2024, 7, 1, 12, tzinfo=UTC)
    zoned = pd.Series([pd.Timestamp(moment).tz_convert("Europe/Paris"), None])
    expected = [moment.timestamp(), np.nan]
    for values in (
        zoned,
        zoned.astype(object),
        pl.Series([moment, None]),
        pl.Series([moment.replace(tzinfo=None), None]),
    ):
        np.testing.assert_array_equal(_cells(values).floats, expected)
    np.testing.assert_array_equal(_cells(zoned).wall, np.add(expected, 7200))
    np.testing.assert_array_equal(_cells(pl.Series([date(1970, 1, 2), None])).floats, [86400, np.nan])


def test_arrays_of_times():
    column = np.array(["1970-01-02", "NaT"], "M8[D]")
    np.testing.assert_array_equal(read_cells(column, 0).floats, [86400, np.nan])


def test_columns_without_any_value_are_numbers():
    for values in (pd.Series([None, None], dtype=object), pl.Series([None, None])):
        frame = pd.DataFrame({"x": values}) if isinstance(values, pd.Series) else pl.DataFrame({"x": values})
        (kind,) = Columns.learn(frame).used
        assert (kind.lower, kind.upper, type(kind).__name__) == (None, None, "Number")


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([[1], [2]]),
        pd.Series([b"a", None]),
        pd.Series([1j, 2j]),
        pd.Series([{"a": 1}, None]),
        pd.Series(["a", date(2024, 1, 1)]),
        pd.Series(pd.period_range("2024", periods=2)),
        pl.Series([[1], None]),
        pl.Series([b"a", None]),
        pl.Series([{"a": 1}, None]),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(values):
    with pytest.raises(TypeError, match=r"Column 'odd' holds .*, which cannot be used. Leave it out, or turn it into"):
        _cells(values, "odd")


def test_infinite_values_are_refused_by_name():
    with pytest.raises(ValueError, match=r"Column 'x' has an infinite value in row 1\. Mark missing values with NaN"):
        _cells(pl.Series([1.0, np.inf]))
    with pytest.raises(ValueError, match=r"Column 'x' has 2 infinite values, the first in row 0"):
        _cells(pd.Series([-np.inf, 2.0, np.inf]))


@NEEDS_ARROW
def test_columns_of_arrow():
    import pyarrow as pa

    frame = pd.DataFrame(
        {
            "number": pd.Series([1.5, None], dtype=pd.ArrowDtype(pa.float32())),
            "whole": pd.Series([1, None], dtype=pd.ArrowDtype(pa.int64())),
            "text": pd.Series(["a", None], dtype=pd.ArrowDtype(pa.large_string())),
            "flag": pd.Series([True, None], dtype=pd.ArrowDtype(pa.bool_())),
            "time": pd.Series([datetime(2024, 1, 1), None], dtype=pd.ArrowDtype(pa.timestamp("us", "Europe/Paris"))),
            "day": pd.Series([date(2024, 1, 1), None], dtype=pd.ArrowDtype(pa.date32())),
        }
    )
    columns = Columns.learn(frame)
    codes = columns.encode(frame)
    filled = columns.fill(codes[[0, 0]], frame)
    assert list(filled.dtypes) == list(frame.dtypes)
    assert filled.iloc[0].tolist() == filled.iloc[1].tolist()
