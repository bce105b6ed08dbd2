"""Filters of inputs. The oracle is the filter with which the outputs were made."""

import numpy as np
import pytest

from semigp.core.dynamics.input_directions import _windows, input_filters


@pytest.mark.parametrize("shape", [np.abs, np.tanh], ids=["even", "odd"])
def test_filter_is_found_where_outputs_are_a_function_of_it(random, shape):
    inputs = random.normal(size=(300, 1))
    weights = 0.8 ** np.arange(15)
    clean = np.convolve(inputs[:, 0], weights)[:300] / np.sqrt(np.sum(weights**2))
    values = shape(clean)[:, None] + 0.1 * random.normal(size=(300, 1))
    values[::17] = np.nan
    found = input_filters(values, inputs, np.arange(300) == 0, 2)
    known = ~np.isnan(found[:, 0])
    assert np.isnan(found[:29]).all()
    assert known[29:].all()
    assert np.abs(np.corrcoef(found[known, 0], clean[known])[0, 1]) > 0.95
    np.testing.assert_allclose(found[known].std(axis=0), 1.0)


def test_short_series_are_left_out(random):
    """Windows never reach from one series into another."""
    inputs, values = random.normal(size=(70, 2)), random.normal(size=(70, 1))
    is_first = np.isin(np.arange(70), [0, 60, 64])
    found = input_filters(values, inputs, is_first, 1)
    assert np.isnan(found[:9]).all()
    assert not np.isnan(found[9:60]).any()
    assert np.isnan(found[60:]).all()


def test_windows_hold_the_latest_inputs_first():
    """By a loop over steps. Two inputs, a series of 21 steps and one of 12: windows of three."""
    inputs = np.arange(66.0).reshape(33, 2)
    windows, rows = _windows(inputs, np.isin(np.arange(33), [0, 21]))
    np.testing.assert_array_equal(rows, [*range(2, 21), *range(23, 33)])
    for window, row in zip(windows, rows, strict=True):
        np.testing.assert_array_equal(window, np.concatenate([inputs[row - lag] for lag in range(3)]))
