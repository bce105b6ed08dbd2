"""Messages about entries that are no numbers: what, where, and what to do."""

import numpy as np
import pandas
import polars
import pytest

from semigp import BayesianGPLVM, SemiDescribedGPRegressor
from semigp.estimators.common.numbers import read_numbers

TIMES = pandas.date_range("2024-01-01", periods=3)
WRONG = [
    (["1", "x", "2"], "y holds 'x' at row 1, which is not a number. Mark missing values with NaN."),
    (pandas.DataFrame({"a": [1.0, 2.0], "b": ["3", "low"]}), "y holds 'low' at row 1, column 'b', which is not"),
    (np.array([[1.0, 2.0], [3.0, -np.inf]]), "y has 1 infinite value, first at row 1, column 1."),
    (pandas.Series(TIMES), "y holds times. Turn them into numbers first"),
    (polars.DataFrame({"a": TIMES}), "y holds times."),
    (TIMES.to_numpy(), "y holds times."),
    ([1.0, 1e200], "y has values beyond 1e.150, which cannot be squared. Change its units."),
]


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_the_first_entry_that_is_wrong_is_named(values, message):
    with pytest.raises(ValueError, match=message):
        read_numbers(values, "y", ensure_2d=False)


def test_numbers_in_other_forms_are_numbers():
    assert read_numbers(["1.5", "nan"], "y", ensure_2d=False)[0] == 1.5
    flags = pandas.Series([True, None], dtype="boolean")
    np.testing.assert_array_equal(read_numbers(flags, "y", ensure_2d=False), [1.0, np.nan])
    prices = pandas.Series(["$1,234.50", None, "$3.20"])
    np.testing.assert_array_equal(read_numbers(prices, "y", ensure_2d=False), [1234.5, np.nan, 3.2])


def test_estimators_say_so():
    X, y = np.zeros((4, 2)), np.arange(4.0)
    with pytest.raises(ValueError, match="y holds 'a' at row 0"):
        SemiDescribedGPRegressor().fit(X, ["a"] * 4)
    with pytest.raises(ValueError, match=r"X has 1 infinite value, first at row 2, column 1\. Mark missing"):
        SemiDescribedGPRegressor().fit(np.where(np.arange(8).reshape(4, 2) == 5, np.inf, X), y)
    model = SemiDescribedGPRegressor(random_state=0).fit(pandas.DataFrame({"a": y, "b": y**2}), y)
    with pytest.raises(ValueError, match="X holds 'low' at row 1, column 'b', which is not a number"):
        model.predict(pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, "low"]}))
    with pytest.raises(ValueError, match="X_std is a single number"):
        SemiDescribedGPRegressor().fit(X, y, 0.1)
    with pytest.raises(ValueError, match="Y holds 'a' at row 0, column 'name'"):
        BayesianGPLVM().fit(pandas.DataFrame({"name": ["a", "b"], "x": [1.0, 2.0]}))


def test_error_bars_of_other_rows_are_refused():
    """Columns are found by their names, and rows by their place. So labels in another order are a mistake."""
    X = pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [2.0, 1.0, 0.0, 3.0]}, index=list("pqrs"))
    bars, y = X * 0 + 0.1, np.arange(4.0)
    with pytest.raises(ValueError, match=r"X_std has the label 's' at row 0, where X has 'p'. Give the error bars"):
        SemiDescribedGPRegressor().fit(X, y, bars.iloc[::-1])
    model = SemiDescribedGPRegressor(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X_std has the label 's' at row 0"):
        model.predict(X, X_std=bars.iloc[::-1])
