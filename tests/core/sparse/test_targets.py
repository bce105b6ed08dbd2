"""Outputs with holes. Oracle: the columns one by one."""

import jax
import numpy as np

from semigp.core.sparse.targets import Targets

Y = np.array([[1.0, 2.0, 3.0], [np.nan, 4.0, np.nan], [5.0, 6.0, 7.0]])


def test_columns_with_the_same_holes_are_a_group():
    targets = Targets.of(Y)
    np.testing.assert_array_equal(targets.values, np.nan_to_num(Y))
    assert targets.weights.shape == (3, 2)
    np.testing.assert_array_equal(targets.weights[:, targets.group], ~np.isnan(Y))
    assert targets.group[0] == targets.group[2] != targets.group[1]
    np.testing.assert_array_equal(targets.counts, [2, 3, 2])


def test_some_rows():
    some = Targets.of(Y).take([1, 0])
    np.testing.assert_array_equal(some.values, np.nan_to_num(Y)[[1, 0]])
    np.testing.assert_array_equal(some.weights[:, some.group], ~np.isnan(Y)[[1, 0]])


def test_traced_outputs_are_taken_to_be_complete():
    shapes = jax.eval_shape(Targets.of, jax.ShapeDtypeStruct((5, 2), np.float32))
    assert (shapes.weights.shape, shapes.group.shape) == ((5, 1), (2,))
