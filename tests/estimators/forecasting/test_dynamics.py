"""The dynamics of a series. Oracles: the linear system that made it, and the layout of its windows."""

import numpy as np
import pytest

from semigp.core import RBF, Linear
from semigp.core.exact.gp import ExactModel
from semigp.estimators.forecasting import dynamics


@pytest.fixture(scope="module")
def series():
    """x_t = 1.6 x_{t-1} - .9 x_{t-2} + noise: two lags and no more."""
    random = np.random.default_rng(0)
    values = np.zeros(120)
    for t in range(2, 120):
        values[t] = 1.6 * values[t - 1] - 0.9 * values[t - 2] + 0.1 * random.normal()
    return ((values - values.mean()) / values.std())[:, None]


def test_two_lags_are_chosen(series, monkeypatch):
    monkeypatch.setattr(dynamics, "_CANDIDATES", (1, 2, 3))
    assert dynamics.choose_window(series, np.zeros((120, 0)), 100, None) == 2


def test_relevance_by_lag():
    """Lag 1 has the last inputs of a window; covariates come behind and are left out."""
    kernel = RBF(1.0, np.array([2.0, 1.0, 9.0])) + Linear(np.array([0.0, 1.0, 9.0]))
    np.testing.assert_allclose(dynamics.lag_relevance([ExactModel(kernel, 0.1)], 2), [[1.0], [0.125]])


def test_enough_windows():
    """Thirty complete windows, or five for each lag."""
    values, nothing = np.zeros((60, 1)), np.zeros((60, 0))
    assert dynamics.has_enough_windows(values, nothing, 4)
    values[::5] = np.nan
    assert not dynamics.has_enough_windows(values, nothing, 4)


def test_the_latest_windows_count(series, monkeypatch):
    monkeypatch.setattr(dynamics, "_MAX_TO_CONDITION", 10)
    model = ExactModel(RBF(1.0, np.ones(2)) + Linear(np.ones(2)), 0.1)
    (posterior,) = dynamics.posteriors([model], series, np.zeros((120, 0)), 2)
    np.testing.assert_array_equal(posterior.rows.targets, series[-10:, 0])
