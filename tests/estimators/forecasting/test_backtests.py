"""Backtests. Oracles: forecasters that are fitted and updated by hand, from the same origins."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp import GPForecaster
from semigp.estimators.forecasting.backtests import _framed
from semigp.series import read_series


def _forecaster(**options):
    return GPForecaster(2, random_state=0, **options)


@pytest.fixture
def walk(random):
    return np.cumsum(random.normal(size=60))


def test_every_origin_is_a_forecast_after_an_update(walk, random):
    """With covariates: fitted up to the middle, updated up to each origin, and scored against what came."""
    x = random.normal(size=(60, 1))
    found = _forecaster().backtest(walk, 10, 3, covariates=x, season=4)
    assert [row["origin"] for row in found] == [30, 40, 50]
    model = _forecaster().fit(walk[:30], x[:30])
    for row, start in zip(found, (30, 40, 50), strict=True):
        if start > 30:
            model.update(walk[start - 10 : start], x[start - 10 : start])
        expected = model.forecast(10, covariates=x[start : start + 10]).score(walk[start : start + 10], season=4)
        assert row == {"origin": start, **expected}


def test_the_calendar_is_seen(walk):
    """A series of days goes into every fit with its times, as a user would give it."""
    series = pd.Series(walk, pd.date_range("2024", periods=60), name="y")
    (row,) = _forecaster().backtest(series, 5, 1)
    expected = _forecaster().fit(series[:30]).forecast(5).score(walk[30:35])
    assert row == {"origin": 30, **expected}


@pytest.mark.parametrize("columns", [1, 2])
def test_a_part_of_a_frame_is_a_frame(walk, columns):
    frame = pd.DataFrame(dict.fromkeys("ab"[:columns], walk), pd.date_range("2024", periods=60))
    values, timeline = read_series(frame)
    beginning, time = _framed(values[:20], timeline)
    assert time is None  # the times are the index
    pd.testing.assert_frame_equal(beginning, frame[:20], check_freq=False)


def test_numbers_may_be_times_of_a_polars_frame(walk):
    """Numbers are not recognised as times by themselves: the column is named again."""
    frame = pl.DataFrame({"t": np.arange(60), "y": walk})
    (row,) = _forecaster().backtest(frame, 5, 1, time="t")
    expected = _forecaster().fit(frame[:30], time="t").forecast(5).score(walk[30:35, None])
    assert row == {"origin": 30, **expected}


def test_a_panel_has_a_row_for_each_series_and_origin(walk):
    frame = pd.DataFrame({"n": np.repeat(["a", "b"], 60), "y": np.r_[walk, 5.0 - walk]})
    found = _forecaster().backtest(frame, 10, 2, id="n", value="y")
    assert found["n"].tolist() == ["a", "a", "b", "b"]
    assert found["origin"].tolist() == [30, 50] * 2
    alone = _forecaster().backtest(walk, 10, 2)
    assert found["CRPS"].tolist()[:2] == [row["CRPS"] for row in alone]


def test_one_covariate_of_a_panel_may_be_a_name(walk, random):
    frame = pd.DataFrame({"n": "a", "y": walk, "price": random.normal(size=60)})
    one, other = (_forecaster().backtest(frame, 5, 1, id="n", value="y", covariates=c) for c in ("price", ["price"]))
    pd.testing.assert_frame_equal(one, other)


def test_gaps_in_the_truth_do_not_count(walk):
    walk[35:38] = np.nan
    (row,) = _forecaster().backtest(walk, 10, 1)
    assert all(np.isfinite(value) for value in row.values())


def test_a_horizon_must_fit_into_the_second_half(walk):
    with pytest.raises(ValueError, match="A horizon of 31 leaves no room in the second half of 60 steps"):
        _forecaster().backtest(walk, 31)
    for name in ("horizon", "n_origins"):
        with pytest.raises(ValueError, match=name):
            _forecaster().backtest(walk, **{"horizon": 5, "n_origins": 2, name: 0})
