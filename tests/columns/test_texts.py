"""Frames with numbers and dates as text are frames with numbers and dates; what is filled in is written alike."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.columns import Columns
from semigp.columns.texts import read_numbers

PRICES = ["$3.20", None, "$1,004.50"]
DAYS = ["01/31/2018", "02/02/2018", "NA"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_codes_are_numbers_and_seconds_and_holes_are_written_as_the_column(frame):
    table = frame({"price": PRICES, "day": DAYS, "share": ["12%", "n/a", "30%"]})
    columns = Columns.learn(table)
    day = pd.Timestamp("2018-01-31").timestamp()
    expected = [[3.2, day, 12], [np.nan, day + 2 * 86400, np.nan], [1004.5, np.nan, 30]]
    np.testing.assert_array_equal(columns.encode(table), expected)
    filled = columns.fill(np.tile([17.128, day + 86400, 20.4], (3, 1)), table)
    assert list(filled["price"]) == ["$3.20", "$17.13", "$1,004.50"]
    assert list(filled["day"]) == ["01/31/2018", "02/02/2018", "02/01/2018"]
    assert list(filled["share"]) == ["12%", "20%", "30%"]


def test_an_open_order_of_day_and_month_is_told():
    with pytest.warns(UserWarning, match=r"Column 'x': '01/02/2018' is read with the month first; no cell tells"):
        Columns.learn(pd.DataFrame({"x": ["01/02/2018", "03/04/2018"]}))


def test_numbers_of_text():
    values, form = read_numbers(["1,5", 2, None, "none"])
    np.testing.assert_array_equal(values, [1.5, 2.0, np.nan, np.nan])
    assert form.write(0.25) == "0,25"
    assert read_numbers(["1.5", "2"])[1] is None
    assert read_numbers(["1.5", "x"]) is None
    assert read_numbers(["", "NA"]) is None
