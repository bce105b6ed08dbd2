"""Plain numbers are read as scikit-learn reads them; everything else through `Columns`."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from semigp.estimators.common.reading import learn_inputs, read_inputs


class _Reader(BaseEstimator):
    _columns = None


NUMBERS = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [4, 5, 6]})
MIXED = pl.DataFrame({"a": [1.0, None, 3.0], "day": ["Mon", "Tue", None]})


@pytest.mark.parametrize("X", [NUMBERS, NUMBERS.to_numpy(), NUMBERS.to_numpy(object), NUMBERS.to_numpy().tolist()])
def test_numbers_are_read_by_scikit_learn(X):
    ours, theirs = _Reader(), _Reader()
    expected = validate_data(theirs, X, dtype=np.float64, ensure_all_finite="allow-nan", order="C")
    np.testing.assert_array_equal(learn_inputs(ours, X, ensure_min_samples=2), expected)
    np.testing.assert_array_equal(read_inputs(ours, X), expected)
    assert ours._columns is None
    given = {name: value for name, value in vars(ours).items() if name != "_columns"}
    assert given.keys() == vars(theirs).keys()
    assert ours.n_features_in_ == 2


def test_other_columns_become_codes():
    reader = _Reader()
    expected = [[1, 0], [np.nan, 1], [3, np.nan]]
    np.testing.assert_array_equal(learn_inputs(reader, MIXED), expected)
    assert reader.n_features_in_ == 2
    assert reader.feature_names_in_.tolist() == ["a", "day"]
    np.testing.assert_array_equal(read_inputs(reader, MIXED), expected)
    learn_inputs(reader, NUMBERS)
    assert reader._columns is None


def test_columns_left_out_still_count_as_features():
    n = 30
    frame = pd.DataFrame({"id": range(n), "x": np.arange(n) / 7})
    reader = _Reader()
    with pytest.warns(UserWarning, match="'id'"):
        codes = learn_inputs(reader, frame)
    assert codes.shape == (n, 1)
    assert reader.n_features_in_ == 2
    assert reader._columns.names_of_used == ["x"]
    assert learn_inputs(reader, frame, keeps_identifiers=True).shape == (n, 2)
    assert reader._columns is None


def test_arrays_with_categories():
    reader = _Reader()
    X = np.array([[1.0, "a"], [2.0, "b"]], dtype=object)
    np.testing.assert_array_equal(learn_inputs(reader, X, [1]), [[1, 0], [2, 1]])
    assert not hasattr(reader, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 1 features, but _Reader is expecting 2 features"):
        read_inputs(reader, X[:, :1])
    with pytest.raises(ValueError, match=r"The array X holds text. Give a frame, or say which.*categorical_features="):
        learn_inputs(_Reader(), X)


def test_names_must_be_those_of_the_fit():
    reader = _Reader()
    learn_inputs(reader, MIXED)
    with pytest.raises(ValueError, match="feature names"):
        read_inputs(reader, MIXED.rename({"a": "c"}))
    with pytest.raises(ValueError, match="a minimum of 4 is required"):
        learn_inputs(reader, MIXED, ensure_min_samples=4)
