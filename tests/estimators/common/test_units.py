"""Standard units and back. Oracle: scikit-learn's scaler."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from semigp.estimators.common.units import Units


def test_there_and_back(random):
    values = random.normal(3.0, 2.0, size=(20, 3))
    values[::4, 0], values[:, 2] = np.nan, 7.0
    units = Units.of(values)
    np.testing.assert_array_equal(units.standard(values), StandardScaler().fit_transform(values))
    np.testing.assert_allclose(units.natural(units.standard(values)), values, rtol=1e-12)
    assert units.std[2] == 1.0


def test_no_columns():
    assert Units.of(np.zeros((5, 0))).standard(np.zeros((2, 0))).shape == (2, 0)


def test_in_place(random):
    values = random.normal(size=(5, 2))
    units = Units.of(values)
    expected = units.standard(values)
    assert not np.shares_memory(expected, values)
    assert units.standard(values, in_place=True) is values
    np.testing.assert_array_equal(values, expected)
