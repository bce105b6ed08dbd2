"""Times that are missing become gaps. The oracle is the calendar of pandas, from which rows were taken out."""

from datetime import UTC

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.series.dates import read_dates
from semigp.series.reading import read_next, read_series

BERLIN = "Europe/Berlin"
CALENDARS = {
    "days": pd.date_range("2024-01-30", periods=40, freq="D"),
    "weeks": pd.date_range("2024-01-07", periods=40, freq="W-SUN"),
    "weekdays": pd.date_range("2024-01-30", periods=40, freq="B"),
    "month starts": pd.date_range("2019-03-01", periods=40, freq="MS"),
    "month ends": pd.date_range("2019-03-31", periods=40, freq="ME"),
    "quarter ends": pd.date_range("2010-03-31", periods=40, freq="QE"),
    "years": pd.date_range("1970-01-01", periods=40, freq="YS"),
    "mid-month at noon": pd.date_range("2019-03-01", periods=40, freq="MS") + pd.Timedelta("14D12h"),
    "quarter hours": pd.date_range("2024-03-30 23:00", periods=40, freq="15min"),
    "hours over the day the clocks change": pd.date_range("2024-03-30 20:00", periods=40, freq="h", tz=BERLIN),
    "hours over the day with 25": pd.date_range("2024-10-26 20:00", periods=40, freq="h", tz=BERLIN),
    "days at local midnight": pd.date_range("2024-03-15", periods=40, freq="D", tz=BERLIN),
    "weekdays at local midnight": pd.date_range("2024-03-15", periods=40, freq="B", tz=BERLIN),
    "months at local midnight": pd.date_range("2022-01-01", periods=40, freq="MS", tz="America/New_York"),
    "a fixed offset": pd.date_range("2024-03-15", periods=40, freq="D", tz="UTC+03:00"),
    "years before nanoseconds": pd.DatetimeIndex(np.arange("1500", "1540", dtype="datetime64[Y]").astype("M8[s]")),
    "spans": pd.timedelta_range("0h", periods=40, freq="90min"),
    "quarters": pd.period_range("2010Q1", periods=40, freq="Q"),
    "whole numbers": pd.Index(range(100, 300, 5)),
    "fractions": pd.Index(np.arange(40) * 0.1 + 7),
}
KEPT = np.r_[0:12, 13, 15:18, 21:30]  # five are missing inside, and ten at the end


@pytest.mark.parametrize("name", CALENDARS)
def test_what_is_missing_of_a_pandas_index_is_a_gap(name):
    whole = CALENDARS[name]
    bare = pd.Index(whole.to_numpy(), dtype=whole.dtype, name="t")  # without its frequency, which would be the answer
    given = pd.Series(np.arange(40.0), bare)
    values, timeline = read_series(given.iloc[KEPT])
    expected = np.where(np.isin(np.arange(30), KEPT), np.arange(30.0), np.nan)
    np.testing.assert_array_equal(values[:, 0], expected)
    same = {"check_exact": False} if name == "fractions" else {}
    pd.testing.assert_index_equal(timeline.index, bare[:30], **same)
    pd.testing.assert_index_equal(timeline.after(10), bare[30:], **same)
    pd.testing.assert_index_equal(timeline.extended(4).index, bare[:34], **same)
    pd.testing.assert_index_equal(timeline.extended(4).after(6), bare[34:], **same)
    pd.testing.assert_series_equal(
        timeline.like_the_series(values), pd.Series(expected, bare[:30], name="value"), **same
    )
    if not pd.api.types.is_numeric_dtype(whole.dtype):
        later = read_next(given.iloc[[30, 33]], timeline)
        np.testing.assert_array_equal(later[:, 0], [30, np.nan, np.nan, 33])


@pytest.mark.parametrize("name", [name for name, index in CALENDARS.items() if isinstance(index, pd.DatetimeIndex)])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_times_has_gaps_and_comes_back_with_its_zone(name, library):
    if library == "polars" and name == "a fixed offset":
        pytest.skip("polars has no fixed offsets")
    whole = CALENDARS[name].as_unit("us")
    expected = np.where(np.isin(np.arange(30), KEPT), np.arange(30.0), np.nan)
    if library == "pandas":
        values, timeline = read_series(pd.DataFrame({"t": whole, "v": np.arange(40.0)}).iloc[KEPT])
        back = timeline.like_the_series(values)
        times, later = back.index.tolist(), timeline.frame({}, timeline.after(10)).index.tolist()
        assert str(back.index.tz) == str(whole.tz)
    else:
        column = pl.Series("t", whole.to_numpy() if whole.tz is None else whole.tz_convert("UTC").tz_localize(None))
        if whole.tz is not None:
            column = column.dt.replace_time_zone("UTC").dt.convert_time_zone(str(whole.tz))
        values, timeline = read_series(pl.DataFrame({"t": column, "v": np.arange(40.0)})[KEPT])
        back = timeline.like_the_series(values)
        times, later = back["t"].to_list(), timeline.frame({}, timeline.after(10))["t"].to_list()
        assert back["t"].dtype == column.dtype
    np.testing.assert_array_equal(back["v"], expected)
    assert _instants(times) == _instants(whole[:30])
    assert _instants(later) == _instants(whole[30:])


def _instants(times):
    """In UTC: an hour that clocks show twice is equal to none in a zone of another library (pytz with pandas 2)."""
    return [time.astimezone(UTC) if time.tzinfo else time for time in times]


def test_dates_of_polars_stay_dates():
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 9), eager=True)
    frame = pl.DataFrame({"t": days, "v": np.arange(9.0)})
    values, timeline = read_series(frame[[0, 1, 2, 5, 6, 8]])
    assert pl.DataFrame(timeline.like_the_series(values))["t"].equals(days)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y-%m-%dT%H:%M"])
def test_text_is_read_as_dates(form):
    days = CALENDARS["days"][[0, 1, 2, 4]]
    texts = [day.strftime(form) for day in days]
    for series, time in (
        (pd.Series(np.arange(4.0), texts), None),
        (pd.DataFrame({"t": texts, "v": np.arange(4.0)}), "t"),
        (pl.DataFrame({"t": texts, "v": np.arange(4.0)}), "t"),
    ):
        values, timeline = read_series(series, time=time)
        np.testing.assert_array_equal(values[:, 0], [0, 1, 2, np.nan, 3])
        assert list(timeline.in_utc()[0].astype("M8[D]")) == list(CALENDARS["days"][:5].to_numpy().astype("M8[D]"))


def test_dates_of_python_and_offsets_in_text_are_read():
    days = [day.date() for day in CALENDARS["days"][[0, 1, 2, 4]]]
    for values, timeline in (
        read_series(pd.Series(np.arange(4.0), days)),
        read_series(pd.DataFrame({"t": days, "v": np.arange(4.0)}), time="t"),
    ):
        assert len(values) == len(timeline.index) == 5
    _, timeline = read_series(pd.Series([1.0, 2.0], ["2024-01-01T01:00+01:00", "2024-01-01T01:00Z"]))
    assert [str(time) for time in timeline.after(1)] == ["2024-01-01 02:00:00+00:00"]


def test_years_as_text_are_numbers_and_a_column_of_text_needs_its_name():
    values, timeline = read_series(pd.Series([1.0, 2.0, 4.0], ["2001", "2002", "2004"]))
    assert timeline.index.tolist() == [2001, 2002, 2003, 2004]
    assert np.isnan(values[2, 0])
    with pytest.raises(ValueError, match="dates as text in column 'd'; if these are its times, say time='d'"):
        read_series(pd.DataFrame({"d": ["2001-01-01", "2002-01-01"], "v": [1.0, 2.0]}))


def test_labels_stay_labels_but_dates_with_errors_are_refused():
    values, timeline = read_series(pd.Series([1.0, 2.0, 3.0], ["low", "middle", "high"]))
    assert len(values) == 3
    assert timeline.has_labels
    with pytest.raises(ValueError, match="in 1 rows; the first is '2024-02-30' in row 2"):
        read_series(pd.Series([1.0, 2.0, 3.0], ["2024-02-28", "2024-02-29", "2024-02-30"]))
    with pytest.raises(ValueError, match=r"in 1 rows; the first is '2024-01-03' in row 1\. Write dates as 2015-01-31"):
        read_series(pl.DataFrame({"t": ["01/02/2024", "2024-01-03", "01/04/2024"], "v": [1.0, 2.0, 3.0]}), time="t")


def test_all_dates_together_tell_whether_the_day_is_first():
    """Where they do not, the month is, with a warning."""
    for last, expected in (("01/13/2024", "2024-01-13"), ("13/01/2024", "2024-01-13"), ("01/14/2024", "2024-01-14")):
        times, zone = read_dates(["01/12/2024", None, last])
        assert zone is None
        assert str(times[2]) == expected
        assert str(times[0]) == ("2024-12-01" if last.startswith("13") else "2024-01-12")
    with pytest.warns(UserWarning, match=r"'01/02/2024' is read with the month first; no time tells"):
        assert str(read_dates(["01/02/2024", "01/03/2024"])[0][1]) == "2024-01-03"


def test_what_pandas_knows_goes_on_as_pandas_says():
    """The last weekday of every month; the third Friday of every month."""
    for frequency in ("BME", "WOM-3FRI"):
        index = pd.date_range("2023-01-01", periods=30, freq=frequency)
        _, timeline = read_series(pd.Series(np.arange(20.0), pd.DatetimeIndex(index[:20].to_numpy())))
        assert timeline.after(10).tolist() == index[20:].tolist()


def test_five_days_in_a_row_are_days_and_a_weekend_between_makes_weekdays():
    days = pd.DatetimeIndex(CALENDARS["days"].to_numpy())  # from a Tuesday
    _, short = read_series(pd.Series(np.arange(4.0), days[:4]))
    assert str(short.after(1)[0].date()) == "2024-02-03"
    _, longer = read_series(pd.Series(np.arange(4.0), days[[2, 3, 6, 7]]))
    assert [str(day.date()) for day in longer.after(4)] == ["2024-02-07", "2024-02-08", "2024-02-09", "2024-02-12"]
    # Half of the days are missing anyway, so the weekend may be missing by chance.
    values, _ = read_series(pd.Series(np.arange(4.0), days[[0, 1, 3, 8]]))
    assert len(values) == 9


def test_midnight_that_a_clock_skips_is_one_hour_later():
    """In São Paulo, 2018-11-04 began at 01:00."""
    zone = "America/Sao_Paulo"
    naive = pd.date_range("2018-10-28", periods=14)
    index = naive.tz_localize(zone, nonexistent="shift_forward")
    _, timeline = read_series(pd.Series(np.arange(13.0), index.delete(3)))
    assert timeline.index.tolist() == index.tolist()
    _, before = read_series(pd.Series(np.arange(5.0), index[:5]))
    assert before.after(9).tolist() == index[5:].tolist()


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["2024-01-01", "2024-01-02", "2024-01-02"], "row 2 repeats 2024-01-02 of the row before. Keep one row"),
        (["2024-01-01", "2024-01-03", "2024-01-02"], r"row 2 \(2024-01-02\) comes after row 1 .*Sort the rows by time"),
        (["2024-01-01", None, "2024-01-02"], "missing in 1 rows, first in row 1. Leave these rows out"),
        (["2024-01-01", "2024-01-02", "2024-01-03T07:00"], "2024-01-03T07:00 after 1 day, 7:00:00. Put the values on"),
        (["2024-01-01", "2024-01-02", "2034-01-01"], "are irregular"),
    ],
)
def test_other_times_are_refused_with_the_cure(times, message):
    index = pd.to_datetime(pd.Series(times), format="ISO8601")
    for series in (
        pd.Series([1.0, 2.0, 3.0], pd.DatetimeIndex(index)),
        pl.DataFrame({"t": pl.Series(index.to_numpy()), "v": [1.0, 2.0, 3.0]}),
    ):
        with pytest.raises(ValueError, match=message):
            read_series(series)


def test_a_single_time_in_the_wrong_place_does_not_make_the_grid_finer():
    """Forty weeks with one more day: as days, six of seven would be gaps."""
    index = CALENDARS["weeks"].append(pd.DatetimeIndex(["2024-03-05"])).sort_values()
    with pytest.raises(ValueError, match="38 of 40 follow the one before after 7 days, but 2024-03-05 after 2 days"):
        read_series(pd.Series(np.arange(41.0), index))


def test_numbers_too_far_apart_to_count_are_refused():
    with pytest.raises(ValueError, match="are irregular"):
        read_series(pd.Series([1.0, 2.0, 3.0], [0.0, 1e-300, 1e300]))


def test_one_time_alone_is_read_but_does_not_go_on():
    _, timeline = read_series(pd.Series([1.0], pd.to_datetime(["2024-01-01"])))
    with pytest.raises(ValueError, match="1 times are not enough to know the step"):
        timeline.after(1)
