"""Local times against those of pandas."""

from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from semigp.series.zones import to_local, to_utc

ZONES = ["Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]


@pytest.mark.parametrize("zone", [*ZONES, "UTC+05:30", "-03:00"])
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_local_times_are_those_of_pandas(zone, unit):
    """Times at random from 1930 to 2060, among them times within an hour of a change of the clocks."""
    random = np.random.default_rng(0)
    utc = np.sort(random.integers(-1_262_304_000, 2_840_140_800, 20_000)).astype("M8[s]").astype(f"M8[{unit}]")
    # From a name, pandas 2 makes a zone of pytz, which knows no summer time after 2037.
    theirs = ZoneInfo(zone) if zone in ZONES else zone
    index = pd.DatetimeIndex(utc).tz_localize("UTC").tz_convert(theirs)
    local = index.tz_localize(None)
    np.testing.assert_array_equal(to_local(utc, zone), local.to_numpy())
    np.testing.assert_array_equal(to_local(utc, index.tz), local.to_numpy())
    is_first = np.ones(len(local), bool)  # where a clock shows a time twice, the first is meant
    expected = local.tz_localize(theirs, ambiguous=is_first, nonexistent="shift_forward").tz_convert("UTC")
    np.testing.assert_array_equal(to_utc(local.to_numpy(), zone), expected.tz_localize(None).to_numpy())


def test_the_day_with_23_hours_and_the_day_with_25():
    for day, hours in (("2024-03-31", 23), ("2024-10-27", 25), ("2024-06-01", 24)):
        begin = np.datetime64(day, "s")
        ends = to_utc(begin + np.arange(2) * np.timedelta64(1, "D"), "Europe/Berlin")
        assert np.diff(ends)[0] == np.timedelta64(hours, "h")


def test_a_time_that_a_clock_skips_is_as_long_after_the_change():
    local = np.array(["2024-03-31T02:30"], "M8[s]")
    assert str(to_local(to_utc(local, "Europe/Berlin"), "Europe/Berlin")[0]) == "2024-03-31T03:30:00"
