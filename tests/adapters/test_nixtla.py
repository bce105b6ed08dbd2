"""The adapter for Nixtla's libraries: their columns, and the numbers of the forecaster itself."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from semigp import GPForecaster
from semigp.adapters.nixtla import NixtlaGPForecaster

N_PATHS, STEPS = 40, 4
MONTHS = pd.date_range("2020-01-01", periods=44, freq="MS")


def direct() -> GPForecaster:
    return GPForecaster(2, season=None, trend=None, random_state=0)


def adapter(**others) -> NixtlaGPForecaster:
    return NixtlaGPForecaster(direct(), n_paths=N_PATHS, **others)


@pytest.fixture(scope="module")
def df() -> pd.DataFrame:
    """Two series with different ends, which follow a covariate; one has a month that is missing."""
    random, parts = np.random.default_rng(0), []
    for name, count in (("b", 44), ("a", 40)):
        push = random.normal(size=count)
        y = np.sin(np.arange(count) / 3) + push + 0.1 * random.normal(size=count)
        parts.append(pd.DataFrame({"unique_id": name, "ds": MONTHS[:count], "y": y, "push": push}))
    return pd.concat(parts, ignore_index=True).drop(index=20).reset_index(drop=True)


def as_polars(frame):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


@pytest.mark.parametrize("convert", [lambda frame: frame, as_polars], ids=["pandas", "polars"])
def test_columns_and_numbers(df, convert):
    plain = df.drop(columns="push")
    found = adapter().fit(convert(plain)).predict(STEPS, level=[95, 80])
    bands = ["GPForecaster-lo-95", "GPForecaster-lo-80", "GPForecaster-hi-80", "GPForecaster-hi-95"]
    assert list(found.columns) == ["unique_id", "ds", "GPForecaster", *bands]
    assert type(found) is type(convert(plain))
    expected = direct().fit(plain, None, "ds", id="unique_id", value="y").forecast(STEPS, n_paths=N_PATHS)
    quantiles = [0.5, 0.025, 0.1, 0.9, 0.975]
    values = np.concatenate([each.quantile(quantiles).T for each in expected.forecasts])
    np.testing.assert_allclose(found[["GPForecaster", *bands]].to_numpy(), values, rtol=1e-12)
    assert list(found["unique_id"]) == ["b"] * STEPS + ["a"] * STEPS
    assert [str(found["ds"][row])[:10] for row in (0, STEPS)] == ["2023-09-01", "2023-05-01"]
    again = adapter().forecast(df=convert(plain), h=STEPS, level=[80, 95])
    np.testing.assert_array_equal(again["GPForecaster"], found["GPForecaster"])


def test_other_columns_are_covariates(df):
    future = pd.concat(
        [
            pd.DataFrame({"unique_id": name, "ds": pd.date_range(start, periods=STEPS, freq="MS"), "push": 1.0})
            for name, start in (("a", "2023-05-01"), ("b", "2023-09-01"))
        ]
    )
    model = adapter(alias="gp").fit(df)
    low, high = (model.predict(STEPS, X_df=future.assign(push=push)) for push in (0.0, 1.0))
    np.testing.assert_allclose(high["gp"] - low["gp"], 1.0, atol=0.4)  # as it was made; few paths, short series
    with pytest.raises(ValueError, match="fitted with 1 covariates"):
        model.predict(STEPS)
    with pytest.raises(ValueError, match=r"for series 'b'; step 1, 2023-09-01 is missing"):
        model.predict(STEPS, X_df=future[future["unique_id"] == "a"])


@pytest.mark.parametrize("convert", [lambda frame: frame, as_polars], ids=["pandas", "polars"])
def test_cross_validation(df, convert):
    """Windows end where they should; the last is the forecast of the series without its last values."""
    found = adapter().cross_validation(convert(df), h=3, n_windows=3, step_size=2, level=[90])
    bands = ["GPForecaster-lo-90", "GPForecaster-hi-90"]
    assert list(found.columns) == ["unique_id", "ds", "cutoff", "y", "GPForecaster", *bands]
    assert len(found) == 18
    found = pd.DataFrame({name: found[name].to_numpy() for name in found.columns})
    steps = (found["ds"].dt.to_period("M").astype("int64") - found["cutoff"].dt.to_period("M").astype("int64")).tolist()
    assert steps == [1, 2, 3] * 6
    ends = found.groupby(["unique_id", "cutoff"], sort=False)["ds"].max().groupby("unique_id").agg(list)
    assert [str(end)[:7] for end in ends["a"]] == ["2022-12", "2023-02", "2023-04"]
    assert [str(end)[:7] for end in ends["b"]] == ["2023-04", "2023-06", "2023-08"]
    whole = found.merge(df, on=["unique_id", "ds"], suffixes=("", "_given"))
    np.testing.assert_array_equal(whole["y"], whole["y_given"])

    early = pd.concat([df[df["unique_id"] == "b"].iloc[:-3], df[df["unique_id"] == "a"].iloc[:-3]])
    late = df.drop(early.index)
    expected = adapter().forecast(early, 3, level=[90], X_df=late)
    last = found[found["cutoff"] == found.groupby("unique_id")["cutoff"].transform("max")]
    np.testing.assert_allclose(last[["GPForecaster", *bands]], expected[["GPForecaster", *bands]], rtol=1e-9)


def test_cross_validation_without_another_fit(df):
    """The first window is the same; others are those of `update`. A month without a value is not scored."""
    found = adapter().cross_validation(df, h=2, n_windows=2, step_size=2, refit=False)
    fitted = adapter().cross_validation(df, h=2, n_windows=2, step_size=2)
    pd.testing.assert_frame_equal(found[["unique_id", "ds", "cutoff", "y"]], fitted[["unique_id", "ds", "cutoff", "y"]])
    first = found["cutoff"] == found.groupby("unique_id")["cutoff"].transform("min")
    np.testing.assert_array_equal(found["GPForecaster"][first], fitted["GPForecaster"][first])
    np.testing.assert_allclose(found["GPForecaster"], found["y"], atol=1.0)
    holed = df.drop(index=df.index[-2])
    assert len(adapter().cross_validation(holed, h=2, n_windows=1)) == 3


def test_what_is_wrong_is_said(df):
    with pytest.raises(ValueError, match=r"df has no column 'ds'; there are unique_id, day, y, push. It needs"):
        adapter().fit(df.rename(columns={"ds": "day"}))
    with pytest.raises(ValueError, match="not fitted yet"):
        adapter().predict(3)
    with pytest.raises(ValueError, match=r"percentages between 0 and 100, such as \[80, 95\]; got \[0.9, 100\]"):
        adapter().forecast(df, 3, level=[0.9, 100])
    with pytest.raises(ValueError, match="Series 'a' has 40 steps; windows over the last 39 need 42 or more"):
        adapter().cross_validation(df, h=30, n_windows=10)


def test_utilsforecast_scores_and_plots(df):
    pytest.importorskip("utilsforecast")
    from utilsforecast.evaluation import evaluate
    from utilsforecast.losses import coverage, mae, mase, scaled_crps

    found = adapter().cross_validation(df, h=3, n_windows=2, step_size=3, level=[80, 95])
    scores = evaluate(found, [mae, coverage, scaled_crps], level=[80, 95]).set_index(["unique_id", "cutoff", "metric"])
    errors = (found["y"] - found["GPForecaster"]).abs().groupby([found["unique_id"], found["cutoff"]]).mean()
    np.testing.assert_allclose(scores["GPForecaster"].xs("mae", level="metric").sort_index(), errors.sort_index())
    assert set(scores.index.get_level_values("metric")) == {
        "mae",
        "coverage_level80",
        "coverage_level95",
        "scaled_crps",
    }
    last = found[found["cutoff"] == found.groupby("unique_id")["cutoff"].transform("max")].drop(columns="cutoff")
    train = df.merge(last[["unique_id", "ds"]], how="left", indicator=True).query("_merge == 'left_only'")
    assert len(evaluate(last, [partial(mase, seasonality=1)], train_df=train.drop(columns="_merge"))) > 0

    pytest.importorskip("matplotlib")
    from utilsforecast.plotting import plot_series

    figure = plot_series(df, last.drop(columns="y"), level=[80, 95], engine="matplotlib", ids=["a", "b"])
    labels = figure.legends[0].get_texts()
    assert "GPForecaster" in {label.get_text() for label in labels}
