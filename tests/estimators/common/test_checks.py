"""Checks that all estimators share. Oracles: the sentences themselves, and columns put in order by hand."""

import numpy as np
import pandas
import polars
import pytest

from semigp.estimators.common.checks import check_columns, check_error_bars, check_outputs


class _Fitted:
    feature_names_in_ = np.array(["a", "b"], object)


@pytest.mark.parametrize("library", [pandas, polars])
def test_error_bars_of_a_frame_go_by_name(library):
    X = np.array([[1.0, 2.0], [np.nan, 3.0]])
    frame = library.DataFrame({"b": [0.2, 0.4], "a": [0.1, 0.3]})
    np.testing.assert_array_equal(check_error_bars(frame, X, _Fitted()), [[0.1, 0.2], [0.0, 0.4]])
    np.testing.assert_array_equal(check_error_bars(frame, X), [[0.2, 0.1], [0.0, 0.3]])  # X had no names


def test_error_bars_of_other_columns():
    frame = pandas.DataFrame({"a": [0.1], "c": [0.2]})
    with pytest.raises(ValueError, match=r"X_std has the columns a, c; X has a, b\. Give the error bars"):
        check_error_bars(frame, np.ones((1, 2)), _Fitted())


def test_error_bars_that_cannot_be():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"X_std has shape \(1, 2\) but X has shape \(2, 2\)"):
        check_error_bars([[0.1, 0.1]], X)
    with pytest.raises(ValueError, match="X_std is NaN at row 1, column 0, where X has a value"):
        check_error_bars([[0.1, 0.1], [np.nan, 0.1]], X)
    with pytest.raises(ValueError, match="X_std has 1 negative value, first at row 0, column 1"):
        check_error_bars([[0.1, -0.1], [0.1, 0.1]], X)


def test_outputs_of_another_model():
    with pytest.raises(ValueError, match="y has 2 columns; the model was fitted to 1"):
        check_outputs(np.ones((3, 2)), np.ones((3, 1)), 1)
    assert check_outputs([1.0, np.nan], np.ones((2, 1)), 1).shape == (2, 1)


def test_columns_without_values_are_named():
    table = np.array([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match="Column 1 has no value"):
        check_columns(table)
    with pytest.raises(ValueError, match="Column 'b' has no value"):
        check_columns(table, ["a", "b"])
