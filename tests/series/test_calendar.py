"""Cycles of known calendars, and places in them against the calendar of pandas."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.series.calendar import cycles, phases
from semigp.series.reading import read_series

BERLIN = "Europe/Berlin"


def timeline(index, rows=None):
    series = pd.Series(np.arange(float(len(index))), index)
    return read_series(series if rows is None else series.iloc[rows])[1]


@pytest.mark.parametrize(
    ("frequency", "lengths", "names"),
    [
        ("15min", (96, 672), ["hour of day", "day of week", "time of year"]),
        ("30min", (48, 336), ["hour of day", "day of week", "time of year"]),
        ("h", (24, 168), ["hour of day", "day of week", "time of year"]),
        ("12h", (2, 14), ["hour of day", "day of week", "time of year"]),
        ("D", (7, 365.25), ["day of week", "time of year"]),
        ("B", (5, 261), ["day of week", "time of year"]),
        ("W-SUN", (365.25 / 7,), ["time of year"]),
        ("MS", (12,), ["time of year"]),
        ("ME", (12,), ["time of year"]),
        ("BME", (12,), ["time of year"]),
        ("QE", (4,), ["time of year"]),
        ("YS", (), []),
    ],
)
def test_the_step_tells_the_cycles(frequency, lengths, names):
    line = timeline(pd.date_range("2020-01-01", periods=60, freq=frequency))
    assert cycles(line) == pytest.approx(lengths, rel=1e-12)
    found, told = phases(line, 50, 30)
    assert told == names
    assert found.shape == (30, len(names))
    assert ((found >= 0) & (found < 1)).all()


def test_numbers_and_labels_have_no_cycles():
    for index in (pd.RangeIndex(9), pd.Index(list("abcdefghi")), pd.timedelta_range("0h", periods=9, freq="h")):
        assert cycles(timeline(index)) == ()
        assert phases(timeline(index), 3, 20)[0].shape == (20, 0)
    assert cycles(read_series(np.arange(9.0))[1]) == ()


def test_places_in_the_calendar_are_those_of_pandas():
    """Over the end of the series, a leap year, and both changes of the clocks; with gaps in the series."""
    whole = pd.date_range("2023-12-30", "2025-01-03", freq="h", tz=BERLIN)
    found, _ = phases(timeline(whole[:500], np.r_[0:100, 120:500]), 0, len(whole))
    length = 365 + whole.is_leap_year
    expected = whole.hour / 24, whole.day_of_week / 7, (whole.day_of_year - 1) / length
    np.testing.assert_allclose(found, np.column_stack(expected), atol=1e-12)


def test_minutes_count():
    found, _ = phases(timeline(pd.date_range("2024-01-01", periods=9, freq="15min")), 5, 2)
    np.testing.assert_allclose(found[:, 0], [1.25 / 24, 1.5 / 24])


def test_months_count_alike_whatever_their_length():
    months = pd.date_range("2023-01-31", periods=30, freq="ME")
    for line in (timeline(months), timeline(months.to_period("M"))):
        found, _ = phases(line, 12, 24)
        np.testing.assert_allclose(found[:, 0], np.arange(24) % 12 / 12)


def test_a_column_of_times_has_the_same_places_as_an_index():
    whole = pd.date_range("2024-03-30", periods=60, freq="h", tz=BERLIN)
    utc = pl.Series("t", whole.tz_convert("UTC").tz_localize(None).to_numpy())
    frame = pl.DataFrame(
        [utc.dt.replace_time_zone("UTC").dt.convert_time_zone(BERLIN), pl.Series("v", np.arange(60.0))]
    )
    found, _ = phases(read_series(frame)[1], 20, 90)
    np.testing.assert_array_equal(found, phases(timeline(whole), 20, 90)[0])
