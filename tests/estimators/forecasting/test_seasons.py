"""Seasons that are found. Oracles: the periods of series that were made, and series that have none."""

import numpy as np
import pytest

from semigp.estimators.forecasting import seasons
from semigp.estimators.forecasting.searches import Searches
from semigp.estimators.forecasting.seasons import find_seasons, seasonal_lags


def _standard(values):
    return ((values - np.nanmean(values)) / np.nanstd(values))[:, None]


def _wave(period, count):
    return np.sin(2.0 * np.pi * np.arange(count) / period)


def _hourly(random):
    """Five weeks: a wave every day, and higher values at weekends."""
    time = np.arange(24 * 7 * 5)
    return _standard(_wave(24, len(time)) + 1.5 * (time // 24 % 7 >= 5) + 0.2 * random.normal(size=len(time)))


def test_hours_of_the_day(random):
    assert 24.0 in find_seasons(_hourly(random), (24.0, 168.0))


def test_weeks_come_with_days(random):
    """Of a calendar as without one, though two and a half weeks hardly show them."""
    assert find_seasons(_hourly(random), (24.0, 168.0)) == (24.0, 168.0)


@pytest.mark.parametrize("with_gaps", [False, True])
def test_months_of_a_trend(with_gaps):
    """A line and a season of 12 that is no pure wave, ten times: in nine or more 12 is found, and never 24 or 36."""
    found = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        profile = 1.5 * _wave(12, 12) + 0.5 * random.normal(size=12)
        values = 0.1 * np.arange(120) + np.tile(profile, 10) + 0.1 * random.normal(size=120)
        if with_gaps:
            values[random.random(120) < 0.2] = np.nan
        found.append(find_seasons(_standard(values)))
    assert sum(12.0 in each for each in found) >= 9
    assert not any({24.0, 36.0} & set(each) for each in found)


def test_noise_and_walks_have_no_season():
    """Forty series of 120 values, half of them white noise and half random walks: at most one in twenty has a season.

    Each is a search over 47 periods. Five nats beyond BIC's penalty are a chance of about exp(-5) per period that is
    independent of the others, less for wide periods: 5 % is what a user may be asked to bear.
    """
    wrong = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=120)
        wrong += sum(bool(find_seasons(_standard(values))) for values in (noise, np.cumsum(noise)))
    assert wrong <= 2


def test_a_season_must_be_seen_often_enough():
    """Two cycles are not enough, and no season of a calendar is found that was not asked for."""
    assert find_seasons(_standard(_wave(30, 60)), (30.0,)) == ()
    assert 12.0 not in find_seasons(_standard(_wave(12, 240)), (7.0,))


def test_columns_with_hardly_a_value_are_left_out(random):
    """A second column of ten values changes nothing; alone it has no season."""
    values = _standard(_wave(12, 120) + 0.1 * random.normal(size=120))
    few = np.where(np.arange(120) < 10, 1.0 * np.arange(120), np.nan)[:, None]
    assert find_seasons(np.hstack([values, few])) == (12.0,)
    assert find_seasons(few) == ()


def test_a_stop_during_the_search_is_noted():
    """Ctrl-C while seasons are searched for must not be forgotten: the searches that follow end at once."""
    searches = Searches(lambda progress: True)
    find_seasons(_standard(_wave(12, 60)), (), searches)
    assert searches.interrupted.status == "interrupted"


def test_whitened_waves_are_orthonormal_and_removed_ones_stay_away(random):
    white = seasons._Whitened(_standard(_wave(12, 100) + random.normal(size=100))[:, 0], Searches(None))
    waves, ends = white._waves(12.0)
    assert ends.tolist() == [2, 6, 11, 11]  # one, three or six waves; the sixth is a cosine alone
    np.testing.assert_allclose(waves.T @ waves, np.eye(waves.shape[1]), atol=1e-10)
    white.remove(12.0)
    np.testing.assert_allclose(waves.T @ white._left, 0.0, atol=1e-8)
    assert white.gain(12.0) <= 0.0


@pytest.mark.parametrize(
    ("given", "count", "expected"),
    [((7.0, 12.0), 60, [7, 8, 12, 13]), ((12.0,), 42, [12]), ((52.18,), 200, [52, 53]), ((30.0,), 60, []), ((), 9, [])],
)
def test_lags_of_seasons(given, count, expected):
    """The season and the step after it, if the series is three and a half times as long."""
    assert seasonal_lags(given, count).tolist() == expected
