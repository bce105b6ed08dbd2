"""What kind a column is, and what becomes of values that the training rows did not have."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.columns import Columns, Levels, Number, Time

DAY = 86400.0


def _kind(values):
    (kind,) = Columns.learn(pd.DataFrame({"x": pd.Series(values)})).used
    return kind


def test_text_that_is_numbers_is_a_column_of_numbers():
    assert _kind(["1", " 2 ", None]) == Number("x", True, 1.0, 2.0)
    assert _kind(pd.Series([1, "2.5"], dtype=object)) == Number("x", False, 1.0, 2.5)


@pytest.mark.parametrize("text", ["007", "1_000", "inf", "a", "12345678901234567890"])
def test_text_that_is_a_key_or_a_word_is_not(text):
    assert _kind(["1", text]) == Levels("x", tuple(sorted(["1", text])), False)


def test_words_for_missing_values_are_missing_among_numbers_and_times_only():
    assert _kind(["1", "nan", "N/A", "", "None"]) == Number("x", True, 1.0, 1.0)
    assert _kind(["2024-01-02", "-", "NULL"]) == Time("x", False, DAY, 19724 * DAY, 19724 * DAY)
    assert _kind(["none", "mild", "NA"]).levels == ("NA", "mild", "none")


def test_levels_are_sorted_and_categories_keep_their_order():
    assert _kind(["b", "a", None]).levels == ("a", "b")
    assert _kind(pd.Series([2, "a", 1], dtype=object)).levels == (1, 2, "a")
    assert _kind(pd.Categorical(["b", "a"], ["c", "b", "a"])) == Levels("x", ("b", "a"), False)
    assert _kind(pd.Categorical(["b", "a"], ["c", "b", "a"], ordered=True)).is_ordered
    (kind,) = Columns.learn(pl.DataFrame({"x": pl.Series(["b", "a"], dtype=pl.Enum(["c", "b", "a"]))})).used
    assert kind == Levels("x", ("b", "a"), False)


def test_whole_days_hours_minutes_and_seconds():
    for text, step in [("2024-01-02", DAY), ("2024-01-02 03:00", 3600.0), ("2024-01-02 03:04", 60.0)]:
        assert _kind(pd.to_datetime(pd.Series(["2024-01-01", text], dtype=object), format="mixed")).step == step
    assert _kind(pd.to_timedelta([1, 2], unit="s")) == Time("x", True, 1.0, 1.0, 2.0)
    assert _kind(pd.to_timedelta([1.5, 2], unit="s")).step is None


def test_many_categories_are_kept_if_they_repeat():
    names = [f"level {i}" for i in range(30)]
    assert len(_kind(names * 2).levels) == 30
    with pytest.raises(ValueError, match="No column of X can be learned from"):
        _kind(names)


def test_unseen_levels_count_as_missing_and_are_named():
    columns = Columns.learn(pl.DataFrame({"day": ["Mon", "Tue"], "x": [1, 2]}))
    new = pl.DataFrame({"day": ["Fri", "Tue", "Fri"], "x": [1, 2, 3]})
    with pytest.warns(
        UserWarning, match=r"^Column 'day': the value 'Fri' was not seen in training and counts as missing\.$"
    ):
        codes = columns.encode(new)
    np.testing.assert_array_equal(codes[:, 0], [np.nan, 1, np.nan])
    with pytest.warns(UserWarning, match=r"^Column 'day': 2 values, such as 'Fri', were not seen in training"):
        columns.encode(pl.DataFrame({"day": ["Sat", "Fri"], "x": [1, 2]}))
    filled = columns.fill(np.zeros((3, 2)), new)
    assert filled.equals(new)  # a value that was not seen is still a value


def test_levels_and_numbers_are_found_in_another_type():
    frame = pd.DataFrame({"flag": [True, False], "grade": ["1", "x"], "x": [0.5, 1.0]})
    columns = Columns.learn(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes = columns.encode(pl.DataFrame({"flag": ["true", "False"], "grade": [1, 1], "x": ["0.5", None]}))
    np.testing.assert_array_equal(codes, [[1, 0, 0.5], [0, 0, np.nan]])


@pytest.mark.parametrize(
    ("before", "now", "match"),
    [
        ([1.0, 2.0], ["1", "many"], r"Column 'x' held numbers in training, but now 'many'\. Convert it"),
        (pd.to_datetime(["2024-01-01"] * 2), ["a", "b"], r"Column 'x' held times in training, but now text"),
        (pd.to_timedelta([1, 2], unit="s"), [1.0, 2.0], r"held spans of time in training, but now numbers"),
    ],
)
def test_columns_that_changed_their_kind(before, now, match):
    columns = Columns.learn(pd.DataFrame({"x": before}))
    with pytest.raises(ValueError, match=match):
        columns.encode(pd.DataFrame({"x": now}))


def test_times_are_not_categories():
    with pytest.raises(ValueError, match=r"Column 'x' holds times, which are not categories. Convert it to text"):
        Columns.learn(pd.DataFrame({"x": pd.to_datetime(["2024-01-01"])}), ["x"])


def test_the_order_of_day_and_month_is_that_of_the_training_rows():
    """Rows to predict that leave it open are read as the training rows were, whatever stands beside them."""
    days = pd.DataFrame({"day": ["13/02/2020", "01/12/2020", "05/06/2020"]})
    columns = Columns.learn(days)
    new = pd.DataFrame({"day": ["01/12/2020", "12/01/2020"]})
    expected = [[each.timestamp()] for each in pd.to_datetime(new["day"], dayfirst=True).dt.tz_localize("UTC")]
    np.testing.assert_array_equal(columns.encode(new), expected)


def test_a_word_among_many_numbers_is_named():
    numbers = [str(i / 7) for i in range(40)]
    with pytest.raises(ValueError, match=r"Column 'a' holds 'unknown' in row 5, and numbers such as '0.0' elsewhere"):
        Columns.learn(pd.DataFrame({"a": [*numbers[:5], "unknown", *numbers[6:]]}))


@pytest.mark.parametrize(("before", "now"), [(["50%", "20%"], [0.5]), ([50.0, 20.0], ["50%"])])
def test_percent_on_one_side_only_is_told(before, now):
    columns = Columns.learn(pd.DataFrame({"p": before}))
    with pytest.warns(UserWarning, match="Column 'p': only the training rows, or only these rows, are in percent"):
        columns.encode(pd.DataFrame({"p": now}))
