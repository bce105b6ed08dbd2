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
    window, models, reports = dynamics.choose_window(series, np.zeros((120, 0)), 100, None)
    assert window == 2
    assert models[0].kernel.kernels[0].lengthscale.shape == (2,)
    assert [report.status for report in reports] == ["converged"]


def test_searches_are_numbered_over_all_windows_and_columns(series, monkeypatch):
    """Three windows and two columns: six searches. An interrupt in the third leaves one iteration to the fourth."""
    monkeypatch.setattr(dynamics, "_CANDIDATES", (1, 2, 3))
    both, told = np.column_stack([series, series[::-1]]), []
    dynamics.choose_window(both, np.zeros((120, 0)), 5, lambda progress: told.append((progress.part, progress.parts)))
    assert sorted(set(told)) == [(part, 6) for part in range(1, 7)]
    stop = lambda progress: progress.part == 3  # noqa: E731
    window, models, reports = dynamics.choose_window(both, np.zeros((120, 0)), 5, stop)
    assert window in (1, 2)
    assert len(models) == 2
    assert [(report.status, len(report.trace)) for report in reports] == [("interrupted", 1)] * 2


def test_the_finalists_are_compared_on_more_windows(series, monkeypatch):
    """Twenty windows, then all: the two best candidates of three are fitted again, and the rest is not."""
    fitted = []

    def fit(values, covariates, window, max_iter, callback, trial):
        fitted.append((window, trial.max_rows, trial.number, trial.count))
        return fit_models(values, covariates, window, max_iter, callback, trial=trial)

    fit_models = dynamics.fit_models
    for name, value in {"_CANDIDATES": (1, 2, 3), "_MAX_TO_TRY": 20, "_FINALISTS": 2, "fit_models": fit}.items():
        monkeypatch.setattr(dynamics, name, value)
    assert dynamics.choose_window(series, np.zeros((120, 0)), 100, None)[0] == 2
    assert fitted[:3] == [(1, 20, 0, 5), (2, 20, 1, 5), (3, 20, 2, 5)]
    assert sorted(window for window, *_ in fitted[3:]) == [2, 3]
    assert [rest for _, *rest in fitted[3:]] == [[500, 3, 5], [500, 4, 5]]


def test_a_fit_from_a_good_start_is_short(series):
    """A second fit that starts where the first ended: no more than five evaluations, and the same evidence to .01."""
    models, (first,) = dynamics.fit_models(series, np.zeros((120, 0)), 2, 100, None)
    _, (second,) = dynamics.fit_models(series, np.zeros((120, 0)), 2, 100, None, models)
    assert second.evaluations <= 5
    assert second.bound == pytest.approx(first.bound, abs=0.01)


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
