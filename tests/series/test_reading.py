"""Series with their time axes, and forecasts of them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.series.forecast import Forecast
from semigp.series.reading import read_series


def forecast(series, steps=3):
    values, timeline = read_series(series)
    moments = np.zeros((2, steps, values.shape[1]))
    return Forecast.from_moments(*moments, timeline, values)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (pd.date_range("2024-01-30", periods=5, freq="D"), ["2024-02-04", "2024-02-05", "2024-02-06"]),
        (pd.date_range("2023-10-31", periods=5, freq="ME"), ["2024-03-31", "2024-04-30", "2024-05-31"]),
        (pd.period_range("2023Q1", periods=5, freq="Q"), ["2024Q2", "2024Q3", "2024Q4"]),
        (pd.Index([10, 20, 30, 40, 50]), ["60", "70", "80"]),
        (pd.Index(list("abcde")), ["5", "6", "7"]),
    ],
)
def test_a_pandas_index_goes_on(index, expected):
    found = forecast(pd.Series(np.arange(5.0), index)).index
    assert [str(label).removesuffix(" 00:00:00") for label in found] == expected


def test_a_time_zone_is_kept():
    times = pl.datetime_range(pl.datetime(2024, 1, 1), pl.datetime(2024, 1, 5), "1d", time_zone="UTC", eager=True)
    zoned = pl.DataFrame({"t": times.dt.convert_time_zone("Asia/Tokyo"), "v": np.arange(5.0)})
    frame = forecast(zoned).to_frame()
    assert frame["t"].dtype.time_zone == "Asia/Tokyo"
    assert str(frame["t"][0]) == "2024-01-06 09:00:00+09:00"


def test_month_ends_of_polars_go_on():
    times = pl.Series(["2023-10-31", "2023-11-30", "2023-12-31", "2024-01-31"]).str.to_date()
    frame = forecast(pl.DataFrame({"t": times, "v": np.arange(4.0)}), 2).to_frame()
    assert [str(day) for day in frame["t"]] == ["2024-02-29", "2024-03-31"]


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (np.array([1.0, 2.0]) * 1j, "must hold real numbers"),
        (np.array(["2024-01-01"], "datetime64[D]"), "must hold real numbers"),
        (pd.Series([1.0, 2.0], pd.MultiIndex.from_tuples([(0, 1), (0, 2)])), "is not a time axis"),
        (pd.Series(range(4), pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-06", "2024-01-17"])), "irregular"),
        (pl.DataFrame({"t": pl.Series([3, 1]).cast(pl.Date), "v": [1.0, 2.0]}), "do not increase"),
    ],
)
def test_what_is_no_series_is_refused_in_words(series, message):
    with pytest.raises(ValueError, match=message):
        read_series(series)


def test_masked_values_are_gaps():
    values, _ = read_series(np.ma.array([1, 2, 3], mask=[False, True, False]))
    assert np.isnan(values[1, 0])


def test_scores_of_paths_are_those_of_the_samples():
    """CRPS against the double sum; one path has no density."""
    paths = np.random.default_rng(0).normal(size=(40, 6, 1))
    truth = np.array([0.1, np.nan, 0.3, -1.0, 2.0, 0.0])
    found = Forecast.from_paths(paths, read_series(truth)[1], truth[:, None]).score(truth)
    flat, seen = paths[:, :, 0], ~np.isnan(truth)
    pairs = np.abs(flat[:, None] - flat[None]).mean(axis=(0, 1))
    expected = np.mean((np.abs(flat - truth).mean(axis=0) - 0.5 * pairs)[seen])
    assert found["CRPS"] == pytest.approx(expected, abs=1e-12)
    alone = Forecast.from_paths(paths[:1], read_series(truth)[1], truth[:, None]).score(truth)
    assert alone["NLPD"] == np.inf
    with pytest.raises(ValueError, match="2 columns but the forecast has 1"):
        Forecast.from_paths(paths, read_series(truth)[1], truth[:, None]).score(np.ones((6, 2)))


def test_whole_numbers_go_on_beyond_their_type():
    for kind in ("int8", "Int64"):
        _, timeline = read_series(pd.Series(np.arange(3.0), pd.Index([124, 125, 126], dtype=kind)))
        assert timeline.after(3).tolist() == [127, 128, 129]


def test_columns_may_have_numbers_as_names():
    days = pd.date_range("2024-01-01", periods=4)
    values, timeline = read_series(pd.DataFrame({0: [1.0, 2.0, 3.0, 4.0], 1: 0.0}, index=days))
    assert (values.shape, timeline.names) == ((4, 2), [0, 1])
    values, timeline = read_series(pd.DataFrame({0: days, 1: [1.0, 2.0, 3.0, 4.0]}))
    assert (values.shape, timeline.names, timeline.time_name) == ((4, 1), [1], 0)


def test_numbers_as_text_are_numbers():
    frame = pd.DataFrame(
        {"t": ["Jan-18", "Feb-18", "Apr-18"], "v": ["$3.20", "n/a", "$1,000.00"], "w": [1.0, 2.0, 3.0]}
    )
    values, _ = read_series(frame, time="t")
    np.testing.assert_array_equal(values, [[3.2, 1.0], [np.nan, 2.0], [np.nan, np.nan], [1000.0, 3.0]])
    with pytest.raises(ValueError, match="series holds 'x' at step 1, which is not a number"):
        read_series(pd.Series(["$3", "x"]))
    with pytest.raises(ValueError, match="series holds 'low' at step 1, column 1, which is not a number"):
        read_series(pd.DataFrame({"a": [1.0, 2.0], "b": ["3", "low"]}))
