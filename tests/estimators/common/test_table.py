"""Which rows of a table are certain, and which complete."""

import numpy as np

from semigp.estimators.common.table import Table

TABLE = Table(
    inputs=np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 3.0], [4.0, 4.0]]),
    targets=np.array([[1.0], [2.0], [3.0], [np.nan]]),
    error=np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.0], [0.0, 0.0]]),
)


def test_kinds_of_rows():
    assert TABLE.is_certain.tolist() == [True, False, False, True]
    assert TABLE.is_certain_with_output.tolist() == [True, False, False, False]
    np.testing.assert_array_equal(TABLE.take(np.array([2])).error, [[0.1, 0.0]])


def test_rows_that_are_certain_with_an_output():
    np.testing.assert_array_equal(TABLE.certain_with_output().inputs, [[1.0, 2.0]])
    none = TABLE.take(np.array([1, 2])).certain_with_output()
    assert none.inputs.shape == (1, 2)
    assert np.isnan(none.targets).all()
