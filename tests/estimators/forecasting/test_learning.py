"""How a series is learned. Oracles: what the user asked for, and models of the same values without exceptions."""

import numpy as np
import pandas as pd
import pytest

from semigp.estimators.forecasting import learning
from semigp.estimators.forecasting.learning import Settings, Shared, learn
from semigp.estimators.forecasting.priors import Increments, OverTime, Past
from semigp.series import read_series


def _settings(**changes):
    usual = {
        "window": 2, "season": None, "trend": "auto", "positive": "auto", "covariate_lags": 0, "n_draws": 3,
        "max_iter": 50, "seed": 0,
    }  # fmt: skip
    return Settings(**{**usual, **changes})


def _learned(series, shared=None, callback=None, **changes):
    values, timeline = read_series(series)
    return learn(values, np.zeros((len(values), 0)), timeline, _settings(**changes), callback, shared)


@pytest.fixture
def walk(random):
    return np.cumsum(random.normal(size=90))


@pytest.mark.parametrize(
    ("trend", "kinds"),
    [
        ("auto", {"past": Past, "increments": Increments, "time": OverTime}),
        ("increments", {"increments": Increments}),
        ("time", {"time": OverTime}),
        (None, {"past": Past}),
    ],
)
def test_the_priors_that_were_asked_for(walk, trend, kinds):
    model, reports = _learned(walk, trend=trend)
    assert {name: type(prior) for name, prior in model.priors.items()} == kinds
    assert model.weights.sum() == pytest.approx(1.0, abs=1e-5)
    assert len(reports) == 1
    assert isinstance(model.past, Past)  # moment matching needs it in any case


def test_long_series_have_a_recent_prior_too(random):
    """It looks at a third of 450 values, and 90 values are too few for it."""
    model, _ = _learned(random.normal(size=450))
    assert model.priors["recent"].latest == 150
    assert "recent" not in _learned(random.normal(size=90))[0].priors


def test_seasons_that_were_asked_for_are_sorted_and_unique(walk):
    assert _learned(walk, season=12)[0].seasons == (12.0,)
    assert _learned(walk, season=[12, 7, 7])[0].seasons == (7.0, 12.0)
    assert _learned(walk, season=None)[0].seasons == ()


def test_a_calendar_is_seen_unless_there_are_no_seasons(walk):
    """Days of the week as two waves or more; without an index, and with season=None, nothing beside the past."""
    dated = pd.Series(walk, pd.date_range("2024", periods=90, freq="D"))
    for series, season, has in ((dated, "auto", True), (dated, None, False), (walk, "auto", False)):
        assert _learned(series, season=season)[0].has_calendar is has


def test_spikes_become_gaps_and_jumps_become_offsets(random):
    """The parameters are those of the same series with NaN in place of the spike; the values stay as they were."""
    values = random.normal(size=120)
    spiky, gap = values.copy(), values.copy()
    spiky[50], gap[50] = 1000.0, np.nan
    one, other = _learned(spiky)[0], _learned(gap)[0]
    np.testing.assert_array_equal(one.past.models[0].kernel.kernels[0].lengthscale,
                                  other.past.models[0].kernel.kernels[0].lengthscale)  # fmt: skip
    np.testing.assert_array_equal(one.pasts, other.pasts)
    assert one.values[50, 0] == 1000.0
    jumped = values + 100.0 * (np.arange(120) >= 60)
    assert np.ptp(_learned(jumped)[0].standard()) < 2.0 * np.ptp(_learned(values)[0].standard())
    assert not _learned(jumped, trend=None)[0].offsets.any()  # a function of the past may know of jumps


def test_what_a_panel_shares_is_used(walk):
    """Its window and seasons are not searched for, and a narrow prior of the time model is obeyed."""
    prior = np.zeros(10), np.full(10, 1e-3)
    model, _ = _learned(walk, shared=Shared(3, (9.0,), prior), window="auto", season="auto")
    assert (model.window, model.seasons) == (3, (9.0,))
    wide, _ = _learned(walk, shared=Shared(3, (9.0,), None), window="auto", season="auto")
    assert np.abs(wide.over_time.models[0].logs - model.over_time.models[0].logs).max() > 0.1


def test_gaps_are_drawn_as_often_as_asked(walk):
    walk[30:33] = np.nan
    model, _ = _learned(walk, n_draws=4)
    assert model.pasts.shape == (4, 90, 1)
    known = ~np.isnan(walk)
    assert (np.ptp(model.pasts[:, known], axis=0) == 0.0).all()
    assert (model.pasts[:, 30:33].std(axis=0) > 0.0).all()


@pytest.mark.parametrize("call", [1, 2, 5, 20])
def test_a_stop_at_any_time_leaves_a_model_and_a_report(walk, call):
    """The season search, the scale, the windows and the priors: whichever is running, all the others end at once."""
    calls = []

    def stop(progress):
        calls.append(progress)
        return len(calls) >= call

    model, reports = _learned(walk + 50.0, callback=stop, window="auto", season="auto")
    assert len(calls) == call
    assert "interrupted" in {report.status for report in reports}
    assert np.isfinite(model.paths(np.zeros((3, 0)), 5, 0)[0]).all()


def test_the_names_that_trend_may_have_are_names_of_priors(walk):
    assert set(learning.ONLY.values()) <= set(_learned(walk)[0].priors)
