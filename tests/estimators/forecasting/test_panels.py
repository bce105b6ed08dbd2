"""Panels. Oracles: each series by itself, files, other numbers of processes, and sentences about what does not fit."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import semigp
from semigp import GPForecaster
from semigp.estimators.forecasting import panels

COLUMNS = {"id": "name", "time": "day", "value": "y"}


def _panel(count=6, steps=40, start="2024-01-01", seed=0, with_covariate=False):
    """Walks with a week. All series have their own names and levels."""
    random, parts = np.random.default_rng(seed), []
    for i in range(count):
        week = np.sin(2 * np.pi * np.arange(steps) / 7)
        values = 10.0 * i + 0.3 * np.cumsum(random.normal(size=steps)) + week
        columns = {"name": f"s{i}", "day": pd.date_range(start, periods=steps), "y": values}
        if with_covariate:
            columns["x"] = random.normal(size=steps)
            columns["y"] = values + 3.0 * columns["x"]
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _forecaster(**options):
    return GPForecaster(2, random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    frame = _panel()
    frame.loc[[5, 50], "y"] = np.nan
    return frame, _forecaster().fit(frame, **COLUMNS)


def test_few_series_are_learned_each_by_itself():
    """Fewer than five share nothing: the forecast of each is that of a forecaster of its own."""
    frame = _panel(3)
    found = _forecaster().fit(frame, **COLUMNS).forecast(4, n_paths=20)
    for name, part in frame.groupby("name"):
        alone = _forecaster().fit(part.set_index("day")["y"]).forecast(4, n_paths=20)
        np.testing.assert_array_equal(found[name].paths, alone.paths)


def test_what_is_common_is_the_majority_and_the_median(fitted):
    _, model = fitted
    shared = panels._shared(model._models)
    assert shared.seasons == model.seasons_
    assert shared.window == 2
    assert shared.over_time[0].shape == shared.over_time[1].shape == (7 + 3 * len(shared.seasons),)
    assert (shared.over_time[1] >= panels._LEAST_SPREAD).all()


def test_series_too_short_for_the_season_that_was_asked_for():
    """Nothing of the time model can be shared, and nothing fails."""
    model = _forecaster(season=30).fit(_panel(), **COLUMNS)
    assert panels._shared(model._models).over_time is None
    assert np.isfinite(model.forecast(3, n_paths=10)["s0"].paths).all()


def test_a_frame_of_all_forecasts(fitted):
    _, model = fitted
    forecast = model.forecast(3, n_paths=50)
    table = forecast.to_frame()
    assert list(forecast) == [f"s{i}" for i in range(6)]
    assert len(table) == 18
    assert table["day"].tolist() == list(pd.date_range("2024-02-10", periods=3)) * 6
    np.testing.assert_array_equal(table.loc[table["name"] == "s4", "mean"], forecast["s4"].mean)
    with pytest.raises(KeyError, match=r"There is no series 's9'; there are 6, the first is 's0'\."):
        forecast["s9"]


def test_processes_do_not_matter(fitted):
    frame, model = fitted
    other = _forecaster(n_jobs=2).fit(frame, **COLUMNS)
    assert other.weights_ == model.weights_
    np.testing.assert_array_equal(other.forecast(3)["s3"].paths, model.forecast(3)["s3"].paths)


def test_rows_in_any_order_and_polars_give_the_same(fitted):
    frame, model = fitted
    shuffled = frame.sample(frac=1.0, random_state=1)
    order = shuffled["name"].unique().tolist()
    columns = {name: frame[name].tolist() for name in frame}
    found = _forecaster().fit(pl.DataFrame(columns), **COLUMNS).forecast(3)
    np.testing.assert_array_equal(found["s2"].paths, model.forecast(3)["s2"].paths)
    assert isinstance(found.to_frame(), pl.DataFrame)
    assert list(_forecaster().fit(shuffled, **COLUMNS).forecast(3)) == order


def test_saved_and_loaded_it_forecasts_the_same(fitted, tmp_path):
    frame, model = fitted
    model.save(tmp_path / "panel.semigp")
    again = semigp.load(tmp_path / "panel.semigp")
    for name in ("s0", "s1", "s5"):
        np.testing.assert_array_equal(again.forecast(3)[name].paths, model.forecast(3)[name].paths)
    pd.testing.assert_frame_equal(again.forecast(3).to_frame(), model.forecast(3).to_frame())
    pd.testing.assert_frame_equal(again.impute(True), model.impute(True))
    more = _panel(2, 3, "2024-02-10")
    new = again.update(more).forecast(2).to_frame()
    pd.testing.assert_frame_equal(new, _forecaster().fit(frame, **COLUMNS).update(more).forecast(2).to_frame())


def test_an_update_moves_the_series_that_it_holds(fitted):
    frame, _ = fitted
    model = _forecaster().fit(frame, **COLUMNS)
    before = model.forecast(1)
    model.update(_panel(2, 3, "2024-02-10"))
    table = model.forecast(1).to_frame()
    assert table["day"].dt.day.tolist() == [13, 13, 10, 10, 10, 10]
    np.testing.assert_array_equal(model.forecast(1)["s3"].paths, before["s3"].paths)
    assert len(model._panel.covariates[0]) == len(model._panel.series[0]) == 43


@pytest.mark.parametrize("start", ["2024-01-01", "2024-02-11"])
def test_an_update_must_follow(fitted, start):
    """Times that the series has already, and times that leave a step out."""
    _, model = fitted
    with pytest.raises(ValueError, match=f"values of series 's0' begin at {start}.*continues at 2024-02-10"):
        model.update(_panel(2, 3, start))
    with pytest.raises(ValueError, match="series that the panel does not have: 's6', 's7'"):
        model.update(_panel(8, 3, "2024-02-10"))


def test_scores_go_by_times_not_by_rows(fitted):
    _, model = fitted
    truth, forecast = _panel(6, 3, "2024-02-10", seed=5), model.forecast(3)
    scores = forecast.score(truth).set_index("name")
    shuffled = forecast.score(truth.sample(frac=1.0, random_state=0)).set_index("name")
    pd.testing.assert_frame_equal(shuffled.loc[scores.index], scores)
    expected = forecast["s2"].score(truth.loc[truth["name"] == "s2", "y"].to_numpy())
    assert scores.loc["s2"].to_dict() == pytest.approx(expected, nan_ok=True)
    with pytest.raises(ValueError, match="truth has no value of the 3 steps that were forecast"):
        forecast.score(_panel(6, 3, "2024-03-01"))


def test_covariates_of_steps_to_come():
    """y has 3 x in it: where x is 1 higher, the forecast is about 3 higher; and what is missing is said."""
    model = _forecaster().fit(_panel(5, 60, with_covariate=True), "x", **COLUMNS)
    ahead = _panel(5, 2, "2024-03-01", with_covariate=True)
    futures = {"low": ahead.assign(x=0.0), "high": ahead.assign(x=1.0)}
    found = model.forecast(2, covariates=futures)
    for name in ("s0", "s4"):
        assert found["high"][name].mean[0] - found["low"][name].mean[0] == pytest.approx(3.0, abs=1.5)
    with pytest.raises(ValueError, match="fitted with 1 covariates; give them for the next 2 steps"):
        model.forecast(2)
    with pytest.raises(ValueError, match="covariates must hold x of 5 steps for series 's0'"):
        model.forecast(5, covariates=ahead)
    with pytest.raises(ValueError, match="for series 's0'; step 1, 2024-03-01 is missing"):
        model.forecast(2, covariates=_panel(5, 2, "2024-03-02", with_covariate=True))


def test_a_panel_needs_its_columns():
    frame = _panel(2)
    for ask in (_forecaster().fit, lambda frame, **names: _forecaster().backtest(frame, 3, 2, **names)):
        with pytest.raises(ValueError, match="A panel needs value="):
            ask(frame, id="name", time="day")
        with pytest.raises(ValueError, match="frame has no column 'z'"):
            ask(frame, id="name", time="day", value="z")
    frame.loc[frame["name"] == "s1", "y"] = 1.0
    with pytest.raises(ValueError, match="series 's1' is constant"):
        _forecaster().fit(frame, **COLUMNS)
