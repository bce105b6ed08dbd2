"""The order of rows and columns. Oracle: any permutation of a table is arranged to the same one."""

import numpy as np
import pytest

from semigp.estimators.common.order import Arrangement, column_order


@pytest.mark.parametrize("grid", [False, True])
def test_however_a_table_comes_it_is_arranged_alike(random, grid):
    """A grid's columns hold the same values: the outputs tell them apart."""
    X, y = random.normal(size=(12, 3)), random.normal(size=(12, 1))
    if grid:
        X = np.stack(np.meshgrid([0.0, 1.0], [0.0, 1.0, 2.0], [0.0, 1.0]), axis=-1).reshape(12, 3)
    X[4, 1] = np.nan
    expected = Arrangement.of(X, y).arranged(X)
    for _ in range(5):
        rows, columns = random.permutation(12), random.permutation(3)
        moved = X[rows][:, columns]
        arrangement = Arrangement.of(moved, y[rows])
        np.testing.assert_array_equal(arrangement.arranged(moved), expected)
        np.testing.assert_array_equal(arrangement.as_given(np.stack([expected, expected]))[1], moved)
        np.testing.assert_array_equal(arrangement.columns_as_given(moved[:2, arrangement.columns]), moved[:2])


def test_units_of_measure_do_not_count(random):
    X = random.normal(size=(12, 3))
    np.testing.assert_array_equal(column_order(X), column_order(1000.0 * X + 7.0))
