"""The nearest possible values; the oracle is written out."""

import numpy as np

from semigp.columns import Levels, Number, Time

CODES = np.array([-3.0, 0.4, 1.6, 9.0, np.nan])


def test_nearest():
    np.testing.assert_array_equal(Number("x", True, 0.0, 2.0).nearest(CODES), [0, 0, 2, 2, np.nan])
    np.testing.assert_array_equal(Number("x", False, 0.0, 2.0).nearest(CODES), [0, 0.4, 1.6, 2, np.nan])
    np.testing.assert_array_equal(Number("x", False, None, None).nearest(CODES), CODES)
    np.testing.assert_array_equal(Levels("x", ("a", "b"), False).nearest(CODES), [0, 0, 1, 1, np.nan])
    np.testing.assert_array_equal(Levels("x", (), False).nearest(CODES), np.full(5, np.nan))
    np.testing.assert_array_equal(Time("x", False, None, 0.0, 2.0).nearest(CODES), [0, 0.4, 1.6, 2, np.nan])


def test_width_in_an_expanded_table():
    assert [Levels("x", tuple("abcd"[:k]), False).width for k in range(5)] == [1, 1, 1, 3, 4]
    assert Levels("x", tuple("abc"), True).width == 1
