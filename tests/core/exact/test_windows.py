"""The layout of lags. Oracle: a loop over steps."""

import jax.numpy as jnp
import numpy as np

from semigp.core.exact.windows import as_lags, flatten, slopes_by_lag, window_table, windows_before


def test_window_table(random):
    """Oldest value first, the columns of a step together, then the covariates of the step that is predicted."""
    values, covariates = random.normal(size=(7, 2)), random.normal(size=(7, 1))
    inputs, targets = window_table(values, covariates, 3)
    assert inputs.shape == (4, 7)
    for row, step in enumerate(range(3, 7)):
        expected = np.concatenate([values[step - 3], values[step - 2], values[step - 1], covariates[step]])
        np.testing.assert_array_equal(inputs[row], expected)
        np.testing.assert_array_equal(targets[row], values[step])


def test_the_same_layout_in_jax_and_for_shared_covariates(random):
    values, covariates = random.normal(size=(7, 2)), random.normal(size=1)
    windows = windows_before(values, np.array([3, 5]), 3)
    one = np.concatenate([windows[1].ravel(), covariates])
    np.testing.assert_array_equal(flatten(windows, covariates)[1], one)
    np.testing.assert_allclose(flatten(jnp.asarray(windows), jnp.asarray(covariates))[1], one, rtol=1e-6)


def test_slopes_by_lag():
    """Lag 1, the latest value, comes first; covariates are left out."""
    np.testing.assert_array_equal(slopes_by_lag(np.arange(7.0), 3, 2), [[4.0, 5.0], [2.0, 3.0], [0.0, 1.0]])


def test_a_number_of_lags_means_all_of_them_largest_first():
    np.testing.assert_array_equal(as_lags(4), [4, 3, 2, 1])
    np.testing.assert_array_equal(as_lags(np.array([12, 2, 1])), [12, 2, 1])


def test_window_table_of_some_lags(random):
    """Lags 5, 2 and 1: the first step is the sixth, and steps between are not seen."""
    values, covariates = random.normal(size=(9, 2)), random.normal(size=(9, 1))
    inputs, targets = window_table(values, covariates, np.array([5, 2, 1]))
    assert inputs.shape == (4, 7)
    for row, step in enumerate(range(5, 9)):
        expected = np.concatenate([values[step - 5], values[step - 2], values[step - 1], covariates[step]])
        np.testing.assert_array_equal(inputs[row], expected)
        np.testing.assert_array_equal(targets[row], values[step])
    every, same = window_table(values, covariates, 3), window_table(values, covariates, np.array([3, 2, 1]))
    np.testing.assert_array_equal(every[0], same[0])
