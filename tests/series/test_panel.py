"""Panels, against the series of which they were made."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp.series import Forecast, PanelForecast
from semigp.series.panel import read_panel, read_wide

BERLIN = "Europe/Berlin"
DAYS = pd.DatetimeIndex(pd.date_range("2024-03-25", periods=12).to_numpy(), name="day")


def long_frame(parts, **columns):
    """A long frame of series {name: index}; values count from 0 in each."""
    pieces = [
        pd.DataFrame({"shop": name, "day": index, "sales": np.arange(float(len(index)))})
        for name, index in parts.items()
    ]
    return pd.concat(pieces, ignore_index=True).assign(**columns)


def as_polars(frame):
    return pl.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


@pytest.mark.parametrize("convert", [lambda frame: frame, as_polars], ids=["pandas", "polars"])
def test_rows_in_any_order_are_sorted_and_gaps_filled(convert):
    frame = long_frame({7: DAYS[2:], 3: DAYS[:8]})
    frame["price"] = 10 * frame["sales"]
    kept = frame.drop([4, 13])  # one row of each
    shuffled = pd.concat([kept[:1], kept[1:].sample(frac=1, random_state=0)])
    panel = read_panel(convert(shuffled), "shop", "day", "sales", ["price"])
    assert panel.names == [7, 3]
    np.testing.assert_array_equal(panel.series[0][:, 0], [0, 1, 2, 3, np.nan, 5, 6, 7, 8, 9])
    np.testing.assert_array_equal(panel.series[1][:, 0], [0, 1, 2, np.nan, 4, 5, 6, 7])
    np.testing.assert_array_equal(panel.covariates[1], 10 * panel.series[1])
    assert panel.timelines[0].index.astype("M8[D]").tolist() == DAYS[2:].to_numpy().astype("M8[D]").tolist()
    assert len(panel) == 2


@pytest.mark.parametrize("convert", [lambda frame: frame, as_polars], ids=["pandas", "polars"])
def test_results_come_back_as_one_long_frame(convert):
    given = convert(long_frame({"north": DAYS, "south": DAYS[:5]}))
    panel = read_panel(given, "shop", "day", "sales")
    own = panel.frame([{"sales": values[:, 0]} for values in panel.series], is_future=False)
    if isinstance(given, pd.DataFrame):
        pd.testing.assert_frame_equal(own, given)
    else:
        assert own.equals(given)
        assert own.schema == given.schema
    future = panel.frame([{"mean": np.ones(2), "q0.025": np.zeros(2)}, {"mean": np.ones(1), "q0.025": np.zeros(1)}])
    assert list(future.columns) == ["shop", "day", "mean", "q0.025"]
    assert list(future["shop"]) == ["north", "north", "south"]
    assert [str(day)[:10] for day in future["day"]] == ["2024-04-06", "2024-04-07", "2024-03-30"]


def test_types_of_names_and_times_are_kept():
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 4), eager=True)
    for kind, names in ((pl.Categorical, ["a", "b"]), (pl.Int16, [5, 2]), (pl.String, ["a", "b"])):
        column = pl.Series("id", np.repeat(names, 4)).cast(kind)
        frame = pl.DataFrame([column, pl.concat([days, days]).alias("t"), pl.Series("v", np.arange(8.0))])
        found = read_panel(frame, "id", "t", "v").frame([{"v": np.zeros(3)}] * 2)
        assert found.schema == frame.schema
    zoned = pd.date_range("2024-03-29", periods=4, tz=BERLIN)
    for kind in ("category", "str", "int8"):
        column = pd.Series(np.repeat([2, 1], 4)).astype(kind)
        frame = pd.DataFrame({"id": column, "t": np.r_[zoned, zoned], "v": np.arange(8.0)})
        frame["t"] = pd.DatetimeIndex(zoned.append(zoned))
        found = read_panel(frame, "id", "t", "v").frame([{"v": np.zeros(3)}] * 2)
        assert found.dtypes.to_dict() == frame.dtypes.to_dict()
        assert [str(each) for each in found["t"][:1]] == ["2024-04-02 00:00:00+02:00"]


def test_a_short_series_has_the_step_of_the_others():
    """Weekdays: neither one day nor Thursday and Friday could tell; nor could two days with a gap."""
    weekdays = pd.bdate_range("2024-01-01", periods=30)
    panel = read_panel(
        long_frame({"long": weekdays, "one": weekdays[4:5], "two": weekdays[3:5], "gap": weekdays[[3, 5]]}),
        "shop",
        "day",
        "sales",
    )
    assert [len(values) for values in panel.series] == [30, 1, 2, 3]
    for timeline in panel.timelines[1:3]:
        assert str(timeline.after(1)[0])[:10] == "2024-01-08"


def test_short_series_tell_their_step_together():
    """Three days of four: one day tells nothing, and two with a day between them tell a wrong step."""
    parts = {"a": DAYS[:1], "b": DAYS[[0, 2]], "c": DAYS[[3]]}
    panel = read_panel(long_frame(parts), "shop", "day", "sales")
    assert [len(values) for values in panel.series] == [1, 3, 1]
    assert [str(line.after(1)[0])[:10] for line in panel.timelines] == ["2024-03-26", "2024-03-28", "2024-03-29"]


def test_series_with_other_steps_keep_their_own():
    months, quarters = pd.date_range("2020-01-01", periods=40, freq="MS"), pd.date_range("2020", periods=9, freq="QS")
    weeks = pd.date_range("2024-01-01", periods=9, freq="W-WED")
    panel = read_panel(long_frame({"m": months, "q": quarters, "w": weeks}), "shop", "day", "sales")
    assert [len(values) for values in panel.series] == [40, 9, 9]
    assert [str(line.after(1)[0])[:10] for line in panel.timelines] == ["2023-05-01", "2022-04-01", "2024-03-06"]


def test_text_is_read_as_dates_and_masked_values_as_gaps():
    frame = pd.DataFrame({"id": ["a"] * 3, "t": ["03.01.2024", "01.01.2024", "02.01.2024"], "v": [3, None, 2]})
    frame["v"] = frame["v"].astype("Int64")
    panel = read_panel(frame, "id", "t", "v")
    np.testing.assert_array_equal(panel.series[0][:, 0], [np.nan, 2, 3])
    assert [str(day)[:10] for day in panel.frame([{"mean": np.zeros(1)}])["t"]] == ["2024-01-04"]


def test_without_times_rows_are_in_order():
    frame = pd.DataFrame({"id": ["b", "a", "b", "a", "b"], "v": [1.0, 2.0, 3.0, np.nan, 5.0]})
    for given in (frame, as_polars(frame)):
        panel = read_panel(given, "id", None, "v")
        assert panel.names == ["b", "a"]
        np.testing.assert_array_equal(panel.series[0][:, 0], [1, 3, 5])
        found = panel.frame([{"mean": np.zeros(2)}, {"mean": np.zeros(1)}])
        assert list(found["step"]) == [3, 4, 2]
        assert list(found["id"]) == ["b", "b", "a"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            long_frame({"a": DAYS[[0, 1, 1, 2, 2]]}),
            "2 rows repeat a series and a time, first 'a' at 2024-03-26",
        ),
        (long_frame({"a": DAYS}).assign(shop=[None, *"aaaaaaaaaaa"]), "no name of a series in 1 rows, first in row 0"),
        (long_frame({"a": DAYS}).assign(day=[*DAYS[:11], None]), "missing in 1 rows, first in row 11"),
        (
            long_frame({"a": DAYS, "b": DAYS[[0, 2, 5, 11]] + pd.to_timedelta([0, 1, 3, 8], "h")}),
            "series 'b' are irreg",
        ),
        (long_frame({"a": DAYS}).drop(columns="sales"), "frame has no column 'sales'; its columns are shop, day"),
        (long_frame({"a": DAYS})[:0], "frame has no rows"),
    ],
)
def test_other_frames_are_refused_with_the_cure(frame, message):
    with pytest.raises(ValueError, match=message):
        read_panel(frame, "shop", "day", "sales")


def test_every_column_of_a_wide_frame_is_a_series():
    wide = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0) ** 2}, DAYS).drop(DAYS[3])
    column = as_polars(wide.reset_index())
    for panel in (read_wide(wide), read_wide(column), read_wide(wide.reset_index(), "day")):
        assert panel.names == ["a", "b"]
        np.testing.assert_array_equal(panel.series[1][:, 0], np.r_[0, 1, 4, np.nan, np.arange(4, 12) ** 2])
        found = panel.frame([{"mean": np.zeros(1)}] * 2)
        assert list(found.columns) == ["series", "day", "mean"]
        assert [str(day)[:10] for day in found["day"]] == ["2024-04-06"] * 2
    untimed = read_wide(pl.DataFrame({"a": [1.0, 2.0]})).frame([{"mean": np.zeros(1)}])
    assert untimed["step"].to_list() == [2]
    quarters = pd.DataFrame({"a": np.arange(5.0)}, pd.period_range("2020Q1", periods=5, freq="Q"))
    assert [str(time) for time in read_wide(quarters).frame([{"mean": np.zeros(1)}])["time"]] == ["2021Q2"]
    with pytest.raises(ValueError, match="A wide frame of pandas or polars is needed"):
        read_wide(np.ones((3, 2)))


@pytest.mark.parametrize("zone", [None, BERLIN])
def test_a_thousand_series_are_read_in_two_seconds(zone):
    """All begin at different times, so that nothing can be shared."""
    whole = pd.date_range("2015-01-01", periods=1300, tz=zone)
    rows = np.concatenate([np.arange(first, first + 200) for first in range(1000)])
    frame = pd.DataFrame({"id": np.repeat([f"s{i}" for i in range(1000)], 200), "t": whole[rows], "v": rows * 1.0})
    frame = frame.drop(index=range(50, 200_000, 200)).sample(frac=1, random_state=0)
    begun = time.process_time()
    panel = read_panel(frame, "id", "t", "v")
    assert time.process_time() - begun < 2.0
    assert {len(values) for values in panel.series} == {200}
    assert np.isnan(np.concatenate(panel.series)).sum() == 1000


@pytest.mark.parametrize("convert", [lambda frame: frame, as_polars], ids=["pandas", "polars"])
def test_rows_after_the_end_are_found_by_their_times(convert):
    """Rows of the past, of other series and beyond the last step are left out; the order of rows does not matter."""
    panel = read_panel(convert(long_frame({"a": DAYS[:6], "b": DAYS[:4]})), "shop", "day", "sales")
    frame = long_frame({"c": DAYS, "b": DAYS, "a": DAYS}).sample(frac=1, random_state=0)
    frame["price"] = 10 * frame["sales"]
    ahead = panel.ahead(convert(frame), ["sales", "price"], 2)
    np.testing.assert_array_equal(ahead, [[[6, 60], [7, 70]], [[4, 40], [5, 50]]])
    found = panel.following(convert(frame[frame["day"] != DAYS[7]]), ["sales"], 2, "truth")
    np.testing.assert_array_equal(found["a"], [[6], [np.nan]])
    late = frame[(frame["shop"] != "b") | (frame["day"] > DAYS[4])]
    with pytest.raises(ValueError, match=r"sales of 2 steps for series 'b'; step 1, 2024-03-29 is missing"):
        panel.ahead(convert(late), ["sales"], 2)


@pytest.mark.parametrize("step", [1, 0.1])
def test_rows_after_the_end_by_numbers_and_in_order(step):
    times = step * np.arange(12)
    frame = pl.DataFrame({"id": ["a"] * 12, "t": times, "v": np.arange(12.0)})
    panel = read_panel(frame[:5], "id", "t", "v")
    np.testing.assert_array_equal(panel.ahead(frame, ["v"], 7)[0][:, 0], np.arange(5.0, 12.0))
    untimed = read_panel(frame[:5], "id", None, "v")
    np.testing.assert_array_equal(untimed.ahead(frame[5:], ["v"], 2)[0][:, 0], [5.0, 6.0])


def test_a_forecast_is_scored_at_its_times():
    panel = read_panel(long_frame({"a": DAYS[:6], "b": DAYS[:4]}), "shop", "day", "sales")
    means = {"a": [6.0, 7.0], "b": [5.0, 6.0]}
    parts = zip(panel.names, panel.timelines, panel.series, strict=True)
    forecasts = [Forecast.from_moments(np.array([means[n]]).T, np.ones((2, 1)), time, past) for n, time, past in parts]
    forecast = PanelForecast(panel, forecasts)
    scores = forecast.score(long_frame({"b": DAYS, "c": DAYS, "a": DAYS})).set_index("shop")["MAE"]
    assert scores.to_dict() == {"a": 0.0, "b": 1.0}
    assert list(forecast.score(long_frame({"b": DAYS}))["shop"]) == ["b"]
    with pytest.raises(ValueError, match="truth has no value of the 2 steps that were forecast"):
        forecast.score(long_frame({"a": DAYS[:6]}))
    with pytest.raises(KeyError, match="no series 'z'"):
        forecast["z"]
