"""How columns lie in a table of features. Oracle: what is asked of every value, written out."""

import numpy as np
import pytest

from semigp.estimators.particles.layout import Layout

NAN = np.nan
GROUPS = ((0,), (1, 2, 3), (4,))


@pytest.fixture
def layout(random):
    """A number without levels, a category with three, and a number with the levels -1, 0 and 2."""
    table = np.zeros((12, 5))
    table[:, 0], table[:, 1:4] = random.normal(size=12), np.eye(3)[np.arange(12) % 3]
    table[:, 4] = np.array([-1.0, 0.0, 2.0])[np.arange(12) % 3]
    table[0, 0] = table[1, 4] = NAN
    table[2, 1:4] = NAN
    return Layout.of(table, GROUPS)


def test_groups_and_levels(layout):
    np.testing.assert_array_equal(layout.group_of, [0, 1, 1, 1, 2])
    assert [layout.is_number(group) for group in range(3)] == [True, False, True]
    assert layout.levels[:2] == (None, None)
    np.testing.assert_array_equal(layout.levels[2], [-1.0, 0.0, 2.0])
    # At most half as many different values as known ones make levels.
    assert Layout.of(np.array([[1.0], [1.0], [2.0], [2.0], [NAN]]), ((0,),)).levels[0] is not None
    assert Layout.of(np.array([[1.0], [1.0], [2.0], [NAN], [NAN]]), ((0,),)).levels[0] is None


def test_missing_groups_and_places(layout, random):
    table = random.normal(size=(3, 5))
    table[0, 1:4], table[2, 4] = NAN, NAN
    np.testing.assert_array_equal(layout.is_missing(table), [[0, 1, 0], [0, 0, 0], [0, 0, 1]])
    rows = np.array([2, 0])
    np.testing.assert_array_equal(table[layout.at(rows, 1)], table[[2, 0], 1:4])
    np.testing.assert_array_equal(layout.others(table, 1), table[:, [0, 4]])


def test_allowed_values(layout, random):
    """Oracles: clipping, and the nearest of all levels. Both keep the shape."""
    values = 3 * random.normal(size=(20, 7))
    np.testing.assert_array_equal(layout.allowed(values, 0), np.clip(values, layout.lower[0], layout.upper[0]))
    levels = np.array([-1.0, 0.0, 2.0])
    nearest = levels[np.argmin(np.abs(values[..., None] - levels), axis=-1)]
    np.testing.assert_array_equal(layout.allowed(values, 2), nearest)
    np.testing.assert_array_equal(layout.allowed(levels, 2), levels)


def test_a_single_level():
    """A constant column has one, to which everything goes."""
    layout = Layout.of(np.full((4, 1), 3.0), ((0,),))
    np.testing.assert_array_equal(layout.allowed(np.array([-9.0, 3.0, 9.0]), 0), 3.0)
