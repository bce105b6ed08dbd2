"""What is not a table is refused with a sentence that says what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.columns.tables import copied, is_frame, read_sheet


def test_frames_and_arrays():
    for X in (pd.DataFrame({"a": [1], "b": ["x"]}), pl.DataFrame({"a": [1], "b": ["x"]})):
        assert is_frame(X)
        assert read_sheet(X).names == ["a", "b"]
    sheet = read_sheet([[1, "x"]])
    assert not is_frame([[1, "x"]])
    assert sheet.names == [0, 1]
    assert [column.tolist() for column in sheet.columns] == [[1], ["x"]]


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        (pd.DataFrame(), ValueError, "X has no columns"),
        (pl.DataFrame({"a": []}), ValueError, "X has no rows"),
        (np.empty((0, 2)), ValueError, "X has no rows"),
        (np.ones(3), ValueError, r"X has shape \(3,\)\. Give a frame, or an array of rows and columns"),
        (pl.LazyFrame({"a": [1]}), TypeError, r"lazy frame. Call its method collect\(\) first"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), ValueError, "X has 2 columns with the name 'a'"),
    ],
)
def test_what_is_not_a_table(X, error, match):
    with pytest.raises(error, match=match):
        read_sheet(X)


def test_a_copy_does_not_change_with_the_table():
    frame, array = pd.DataFrame({"a": [1, 2]}), np.array([[1], [2]])
    copies = copied(frame), copied(array)
    frame.loc[0, "a"] = array[0, 0] = 9
    assert [np.asarray(each).tolist() for each in copies] == [[[1], [2]]] * 2
