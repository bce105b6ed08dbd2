"""The dynamics of a series. Oracles: the linear system that made it, and the layout of its windows."""

import numpy as np
import pytest

from semigp.core import RBF, Linear
from semigp.core.exact.gp import ExactModel
from semigp.estimators.forecasting import dynamics
from semigp.estimators.forecasting.searches import Searches


@pytest.fixture(scope="module")
def series():
    """x_t = 1.6 x_{t-1} - .9 x_{t-2} + noise: two lags and no more."""
    random = np.random.default_rng(0)
    values = np.zeros(120)
    for t in range(2, 120):
        values[t] = 1.6 * values[t - 1] - 0.9 * values[t - 2] + 0.1 * random.normal()
    return ((values - values.mean()) / values.std())[:, None]


NOTHING, NO_SEASON = np.zeros((120, 0)), np.zeros(0, int)


def _chosen(values, windows=(1, 2, 3), seasonal=NO_SEASON, max_iter=100, callback=None):
    return dynamics.choose_lags(values, NOTHING, list(windows), seasonal, max_iter, Searches(callback))


def test_two_lags_are_chosen(series):
    window, lags, models, reports = _chosen(series)
    assert window == 2
    np.testing.assert_array_equal(lags, [2, 1])
    assert models[0].kernel.kernels[0].lengthscale.shape == (2,)
    assert [report.status for report in reports] == ["converged"]


def test_lags_of_a_season_are_kept_if_they_help(series):
    """x_t = x_{t-12} + noise needs lag 12; the series of two lags does not, and is better without it."""
    random = np.random.default_rng(0)
    seasonal = np.tile(random.normal(size=12), 10)[:, None] + 0.05 * random.normal(size=(120, 1))
    window, lags, models, _ = _chosen(seasonal, (1, 2), np.array([12, 13]))
    np.testing.assert_array_equal(lags, [13, 12, *range(window, 0, -1)])
    assert models[0].kernel.kernels[0].lengthscale.shape == lags.shape
    window, lags, _, _ = _chosen(series, (1, 2, 3), np.array([17, 18]))
    np.testing.assert_array_equal(lags, range(window, 0, -1))


def test_lags_of_a_window_and_of_seasons():
    np.testing.assert_array_equal(dynamics.with_seasons(3, np.array([7, 8])), [8, 7, 3, 2, 1])
    np.testing.assert_array_equal(dynamics.with_seasons(9, np.array([7, 8])), range(9, 0, -1))
    np.testing.assert_array_equal(dynamics.with_seasons(1, NO_SEASON), [1])


@pytest.mark.parametrize(
    ("window", "count", "most"), [("auto", 3, 1), ("auto", 20, 4), ("auto", 10_000, 36), (7, 20, 7)]
)
def test_windows_to_choose_from(window, count, most):
    """A quarter of the series at most; a window that was asked for is the only one."""
    found = dynamics.candidates(window, count)
    assert found[-1] == most
    assert found == sorted(found)
    assert found[0] == (1 if window == "auto" else 7)


def test_searches_are_numbered_over_all_windows_and_columns(series):
    """Three windows and two columns: six searches. After an interrupt in the third, the fourth makes one iteration."""
    both, told = np.column_stack([series, series[::-1]]), []
    _chosen(both, max_iter=5, callback=lambda progress: told.append((progress.part, progress.parts)))
    assert sorted(set(told)) == [(part, 6) for part in range(1, 7)]
    window, lags, models, reports = _chosen(both, max_iter=5, callback=lambda progress: progress.part == 3)
    assert window in (1, 2)
    assert len(lags) == window
    assert len(models) == 2
    assert [(report.status, len(report.trace)) for report in reports] == [("interrupted", 1)] * 2


def test_the_trial_without_seasons_is_numbered_too(series):
    """Three windows with the lags of a season, and the best without them: four searches."""
    told = []
    _chosen(series, seasonal=np.array([12, 13]), max_iter=5, callback=lambda p: told.append((p.part, p.parts, p.phase)))
    assert sorted(set(told)) == [(part, 4, "trial") for part in range(1, 5)]


def test_the_finalists_are_compared_on_more_windows(series, monkeypatch):
    """Twenty windows, then all: the two best candidates of three are fitted again, and the rest is not."""
    fitted = []

    def fit(values, covariates, lags, max_iter, searches, trial):
        fitted.append((len(lags), trial.max_rows, trial.number, trial.count))
        return fit_models(values, covariates, lags, max_iter, searches, trial=trial)

    fit_models, most = dynamics.fit_models, dynamics._MAX_TO_FIT
    for name, value in {"_MAX_TO_TRY": 20, "_FINALISTS": 2, "fit_models": fit}.items():
        monkeypatch.setattr(dynamics, name, value)
    assert _chosen(series)[0] == 2
    assert fitted[:3] == [(1, 20, 0, 5), (2, 20, 1, 5), (3, 20, 2, 5)]
    assert sorted(window for window, *_ in fitted[3:]) == [2, 3]
    assert [rest for _, *rest in fitted[3:]] == [[most, 3, 5], [most, 4, 5]]


def test_windows_are_compared_on_the_same_values(series, monkeypatch):
    """Those that have enough past for the longest lag, also where a trial has shorter lags."""
    seen = []
    fit_exact = dynamics.fit_exact

    def fit(first, rows, *others):
        seen.append(np.asarray(rows.targets))
        return fit_exact(first, rows, *others)

    monkeypatch.setattr(dynamics, "fit_exact", fit)
    _chosen(series, seasonal=np.array([12, 13]), max_iter=5)
    assert len(seen) == 4
    for targets in seen:
        np.testing.assert_array_equal(targets, series[13:, 0])


def test_a_fit_from_a_good_start_is_short(series):
    """A second fit that starts where the first ended: no more than five evaluations, and the same evidence to .01."""
    models, (first,) = dynamics.fit_models(series, NOTHING, 2, 100, Searches(None))
    _, (second,) = dynamics.fit_models(series, NOTHING, 2, 100, Searches(None), models)
    assert second.evaluations <= 5
    assert second.bound == pytest.approx(first.bound, abs=0.01)


def test_relevance_by_lag():
    """Lag 1 has the last inputs of a window; covariates come behind and are left out."""
    kernel = RBF(1.0, np.array([2.0, 1.0, 9.0])) + Linear(np.array([0.0, 1.0, 9.0]))
    np.testing.assert_allclose(dynamics.lag_relevance([ExactModel(kernel, 0.1)], 2), [[1.0], [0.125]])


def test_relevance_by_lags_of_a_season():
    """Lags 12 and 1: two rows, that of lag 1 first."""
    kernel = RBF(1.0, np.array([2.0, 1.0])) + Linear(np.array([0.0, 1.0]))
    np.testing.assert_allclose(dynamics.lag_relevance([ExactModel(kernel, 0.1)], np.array([12, 1])), [[1.0], [0.125]])


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
