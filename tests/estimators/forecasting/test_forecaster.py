"""GPForecaster: what it learns, what it believes, what it says about bad input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from semigp import GPForecaster
from semigp.datasets import make_mackey_glass

PROPAGATIONS = ["sample", "full", "diagonal", "none"]


@pytest.fixture(scope="module")
def mackey_glass():
    series = make_mackey_glass(400)
    return series, GPForecaster(18, random_state=0).fit(series[:90])


def test_relevance_reads_the_delay_off_a_delay_equation(mackey_glass):
    """ζ' depends on ζ(t) and ζ(t - 17): the next value on lag 1 and on lags 17 and 18."""
    _, model = mackey_glass
    assert set(np.argsort(model.lag_relevance_)[-3:] + 1) == {1, 17, 18}


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_a_chaotic_system_is_simulated_for_100_steps(mackey_glass, propagation):
    """From 72 noise-free pairs: within .05 of a standard deviation, where climatology is off by about 1."""
    series, model = mackey_glass
    forecast = model.forecast(100, propagation)
    assert forecast.score(series[90:])["MAE"] < 0.05 * series.std()
    assert np.isfinite(forecast.mean).all()
    assert (forecast.std > 0).all()


def test_sampled_intervals_hold_the_truth(mackey_glass):
    series, model = mackey_glass
    assert model.forecast(300).score(series[90:])["coverage"] > 0.9


def test_the_same_seed_gives_the_same_forecast(mackey_glass):
    _, model = mackey_glass
    first, second = (model.forecast(5, random_state=3).paths for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, model.forecast(5, random_state=4).paths)


def test_noise_of_an_autoregression_is_found_and_its_intervals_cover(random):
    """x' = .8 x + ε: noise variance within 30 %, stationary spread within 25 %."""
    noise = random.normal(size=400)
    series = np.zeros(400)
    for i in range(1, 400):
        series[i] = 0.8 * series[i - 1] + noise[i]
    model = GPForecaster(2, random_state=0).fit(series)
    assert model.noise_variance_[0] == pytest.approx(1.0, rel=0.3)
    assert model.forecast(60).std[-1] == pytest.approx(1.0 / 0.6, rel=0.25)


@pytest.fixture(scope="module")
def gappy():
    """Two sines with a hole of ten steps and single ones, and no value at the end."""
    time, random = np.arange(160), np.random.default_rng(0)
    truth = np.sin(time / 4) + 0.5 * np.sin(time / 7.3)
    series = truth + 0.02 * random.normal(size=160)
    series[60:70] = series[-2:] = np.nan
    series[random.random(160) < 0.04] = np.nan
    return truth, series, GPForecaster(8, random_state=0).fit(series)


def test_gaps_are_filled_with_intervals_that_hold(gappy):
    """RMSE below .1, where a straight line is off by .58; at least nine tenths inside 95 % intervals."""
    truth, series, model = gappy
    mean, std = model.impute(return_std=True)
    gaps = np.isnan(series)
    np.testing.assert_array_equal(mean[~gaps], series[~gaps])
    assert (std[~gaps] == 0).all()
    error = (mean - truth)[gaps]
    assert np.sqrt(np.mean(error**2)) < 0.1
    assert np.mean(np.abs(error) < 1.96 * std[gaps]) >= 0.9


def test_scattered_gaps_leave_the_noise_where_it_is():
    """A quarter missing at random, noise variance .01: found to a factor of two; intervals hold four fifths of them."""
    random, time = np.random.default_rng(2), np.arange(80)
    series = np.sin(time / 2) + 0.1 * random.normal(size=80)
    gaps = random.random(80) < 0.25
    model = GPForecaster(4, random_state=0).fit(np.where(gaps, np.nan, series))
    assert 0.005 < model.noise_variance_[0] < 0.02
    mean, std = model.impute(return_std=True)
    assert np.mean(np.abs(mean - series)[gaps] < 1.96 * std[gaps]) > 0.8


@pytest.mark.filterwarnings("ignore:.*ran away")  # both columns together are hardly known: this is about the spread
def test_two_equal_columns_spread_as_one_does():
    """Moment matching with covariances between columns: at most half as much again as sampled paths, 10 steps ahead.

    Both of the function of the past alone, because only its moments are matched. Later, paths stay
    where the series has been, and moments do not.
    """
    one = np.sin(np.arange(40) / 3) + 0.05 * np.random.default_rng(0).normal(size=40)
    model = GPForecaster(2, trend=None, season=None, random_state=0).fit(np.column_stack([one, one]))
    assert model.forecast(10, "full").std.max() < 1.5 * model.forecast(10).std.max()


def test_a_gap_at_the_end_widens_the_forecast(gappy):
    _, _, model = gappy
    closed = clone(model).fit(model.impute())
    assert model.forecast(1).std[0] > closed.forecast(1).std[0]


def test_windows_without_a_single_complete_one_are_fine():
    series = np.sin(np.arange(120) / 5)
    series[::6] = np.nan
    forecast = GPForecaster(8, random_state=0).fit(series).forecast(10)
    np.testing.assert_allclose(forecast.mean, np.sin(np.arange(120, 130) / 5), atol=0.1)


def test_update_goes_on_from_new_values_without_a_new_fit(mackey_glass):
    series, model = mackey_glass
    model = clone(model).fit(series[:90])
    priors = model._models[0].priors
    model.update(series[90:200])
    assert model._models[0].priors is priors
    assert model.forecast(50).score(series[200:])["MAE"] < 0.02


def test_the_window_is_found():
    """x' needs two lags: x(t+1) = 2 cos(ω) x(t) - x(t-1)."""
    series = np.sin(np.arange(100) / 3) + 0.001 * np.random.default_rng(0).normal(size=100)
    assert GPForecaster("auto", random_state=0).fit(series).window_ >= 2


def test_covariates_are_used():
    random = np.random.default_rng(1)
    known = random.normal(size=(130, 1))
    series = 2.0 * known[:, 0] + 0.01 * random.normal(size=130)
    model = GPForecaster(2, random_state=0).fit(series[:120], covariates=known[:120])
    np.testing.assert_allclose(model.forecast(10, covariates=known[120:]).mean, 2.0 * known[120:, 0], atol=0.1)
    with pytest.raises(ValueError, match="fitted with 1 covariates"):
        model.forecast(10)


def test_several_series_at_once():
    time = np.arange(140)
    both = np.column_stack([np.sin(time / 5), np.cos(time / 5)])
    forecast = GPForecaster(3, random_state=0).fit(both[:120]).forecast(20)
    assert forecast.paths.shape == (500, 20, 2)
    np.testing.assert_allclose(forecast.mean, both[120:], atol=0.1)


def test_pandas_months_go_on():
    index = pd.date_range("2020-01-31", periods=60, freq="ME")
    series = pd.Series(np.sin(np.arange(60) / 3), index, name="tide")
    frame = GPForecaster(4, random_state=0).fit(series).forecast(3).to_frame()
    assert list(frame.index) == list(pd.date_range("2025-01-31", periods=3, freq="ME"))
    assert {"mean", "std", "q0.025", "q0.975"} <= set(frame.columns)


def test_polars_months_go_on():
    time = pl.date_range(pl.date(2020, 1, 1), pl.date(2024, 12, 1), "1mo", eager=True)
    series = pl.DataFrame({"month": time, "tide": np.sin(np.arange(60) / 3)})
    frame = GPForecaster(4, random_state=0).fit(series).forecast(2).to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert [str(day) for day in frame["month"]] == ["2025-01-01", "2025-02-01"]


def test_backtest_scores_every_origin():
    series = np.sin(np.arange(120) / 4)
    found = GPForecaster(4, random_state=0).backtest(series, horizon=10, n_origins=3)
    assert [row["origin"] for row in found] == [60, 85, 110]
    assert all(row["MAE"] < 0.1 for row in found)


def test_the_fan_chart_has_a_line_for_what_came(mackey_glass):
    import matplotlib

    matplotlib.use("Agg")
    series, model = mackey_glass
    axes = model.forecast(30).plot(truth=series[90:])
    assert "truth" in [line.get_label() for line in axes.lines]


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (np.arange(10.0), "a window of 18 needs 20"),
        (np.full(50, np.nan), "nothing to learn from"),
        (np.ones(50), "constant in column 0"),
        (np.r_[np.arange(30.0), np.inf], "infinite at step 30"),
        (["a"] * 30, "not a number"),
        (np.zeros((0, 1)), "shape"),
        (pd.Series(range(30), pd.date_range("2020", periods=30)[::-1]), "do not increase"),
        (pd.Series(range(30), np.r_[0:29, 400]), "irregular"),
    ],
)
def test_bad_series_are_refused_in_words(series, message):
    with pytest.raises(ValueError, match=message):
        GPForecaster(18).fit(series)


def test_bad_questions_are_refused_in_words(mackey_glass):
    _, model = mackey_glass
    for steps in (0, -3, 1.5):
        with pytest.raises((ValueError, TypeError), match="steps"):
            model.forecast(steps)
    with pytest.raises(ValueError, match="propagation is"):
        model.forecast(3, "linear")
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.forecast(3).quantile(1.5)
    with pytest.raises(ValueError, match="2 columns"):
        model.update(np.zeros((3, 2)))


def test_a_simulation_that_diverges_is_bounded_and_reported():
    """An unstable system: x' = 1.2 x. Every path leaves; none becomes infinite."""
    series = 0.01 * 1.2 ** np.arange(30)
    model = GPForecaster(1, random_state=0).fit(series)
    with pytest.warns(UserWarning, match="ran away"):
        forecast = model.forecast(500)
    assert np.isfinite(forecast.paths).all()
    assert forecast.n_diverged == 500
    for propagation in PROPAGATIONS[1:]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.isfinite(model.forecast(500, propagation).std).all()


def test_columns_go_by_their_names_and_times_follow():
    steps = np.arange(40)
    frame = pd.DataFrame({"a": np.sin(steps / 3), "b": 10 + np.cos(steps / 5)}, pd.date_range("2024", periods=40))
    season = pd.DataFrame({"u": np.cos(steps / 3), "v": 5.0 + steps % 7}, frame.index)
    early, late = frame[:35], frame[35:]

    def forecast(values, covariates, ahead):
        model = GPForecaster(2, random_state=0).fit(early, season[:35])
        return model.update(values, covariates).forecast(2, n_paths=5, covariates=ahead)

    expected = forecast(late, season[35:], season[:2])
    swapped = forecast(late[["b", "a"]], season[["v", "u"]][35:], season[["v", "u"]][:2])
    np.testing.assert_array_equal(swapped.paths, expected.paths)
    truth = pd.DataFrame({"a": [0.0, 1.0], "b": [9.0, 8.0]})
    assert expected.score(truth[["b", "a"]]) == expected.score(truth)
    with pytest.raises(ValueError, match="values has the columns a, c, but the series has a, b"):
        forecast(late.rename(columns={"b": "c"}), season[35:], season[:2])
    for wrong in (frame[34:39], late.shift(1, freq="D")):
        with pytest.raises(ValueError, match="but the series continues at 2024-02-05"):
            forecast(wrong, season[35:], season[:2])


def test_a_column_of_times_is_known_by_its_name_in_an_update():
    frame = pl.DataFrame({"t": np.arange(40), "y": np.sin(np.arange(40) / 3)})
    model = GPForecaster(2, random_state=0).fit(frame[:35], time="t")
    assert model.update(frame[35:]).forecast(2, n_paths=5).index.tolist() == [40, 41]
    with pytest.raises(ValueError, match="do not increase"):
        model.fit(frame.with_columns(pl.col("t").reverse().cast(pl.UInt64)), time="t")
    with pytest.raises(ValueError, match="neither dates nor numbers in 40 rows; the first is"):
        model.fit(frame.with_columns(pl.col("t").cast(pl.String)), time="t")


def test_values_are_copied():
    series = np.sin(np.arange(30) / 3)
    model = GPForecaster(2, random_state=0).fit(series)
    expected = model.forecast(2, "full").mean
    series[-1] = 100.0
    np.testing.assert_array_equal(model.forecast(2, "full").mean, expected)


# ---- series that nobody expects: they are forecast, or refused in words


def _hostile():
    random = np.random.default_rng(0)
    noise = random.normal(size=80)
    few, ends, stretch, late = np.full(50, np.nan), np.sin(np.arange(80) / 3), noise.copy(), 3.0 + noise / 9
    few[[3, 20, 40]] = 1.0, 2.0, 4.0
    ends[:15], ends[65:], stretch[20:60], late[45:] = np.nan, np.nan, 0.0, np.nan
    return {
        **{f"{count} values": noise[:count] for count in (3, 4, 5, 7, 11, 19, 20, 21, 30)},
        "a line": np.arange(60.0), "a long line": np.arange(450.0), "a square": np.arange(60.0) ** 2,
        "growth": np.exp(np.arange(60) / 5.0), "steep growth": np.exp(np.arange(300.0)),
        "integers": np.arange(40) % 7, "two values": np.arange(40) % 2, "truths": np.arange(40) % 3 == 0,
        "a step": np.r_[np.zeros(40), np.ones(40)], "one value of many": (np.arange(100) == 50) * 5.0,
        "rare": (np.arange(100) % 10 == 0) * 1.0, "a constant stretch": stretch,
        "constant at last": np.r_[noise, np.ones(60)], "constant at first": np.r_[np.ones(200), noise[:10]],
        "huge": 1e140 * noise, "tiny": 1e-140 * noise, "far away": 1e9 + noise, "hardly different": 1 + 1e-10 * noise,
        "three values in 50": few, "gaps at both ends": ends, "no value in the last third": late,
        "three columns": np.cumsum(random.normal(size=(60, 3)), axis=0),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*ran away")
@pytest.mark.parametrize("name", _hostile())
def test_hostile_series_are_forecast(name):
    """Finite everywhere, within limits, without a warning of NumPy's; gaps are filled."""
    series = _hostile()[name]
    model = GPForecaster(random_state=0).fit(series)
    forecast = model.forecast(5, n_paths=50)
    assert np.isfinite(forecast.paths).all()
    span = np.nanmax(series, axis=0) * 1.0 - np.nanmin(series, axis=0)
    assert (forecast.paths <= np.nanmax(series, axis=0) + 1.001 * span).all() or model._models[0].scale.is_log.any()
    assert sum(model.weights_.values()) == pytest.approx(1.0, abs=1e-5)
    mean, std = model.impute(return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


@pytest.mark.filterwarnings("ignore:.*ran away")
@pytest.mark.parametrize("name", ["3 values", "21 values", "three values in 50", "gaps at both ends", "three columns"])
def test_two_fits_with_the_same_seed_give_the_same_paths(name):
    one, other = (GPForecaster(random_state=0).fit(_hostile()[name]).forecast(5, n_paths=50) for _ in range(2))
    np.testing.assert_array_equal(one.paths, other.paths)


def test_a_long_gap_at_the_end_of_a_positive_series():
    """300 steps without a value, after 100 with some: the latest known values decide on the scale."""
    series = np.r_[3.0 + np.sin(np.arange(100) / 3), np.full(300, np.nan)]
    model = GPForecaster(2, trend="time", season=None, n_draws=2, random_state=0).fit(series)
    assert (model.forecast(5, n_paths=20).paths >= 0.0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"season": [0]}, "season must be one length in steps, 2 or more"),
        ({"season": [7, -3]}, "season must be one length in steps, 2 or more"),
        ({"season": ["week"]}, "season must be one length in steps, 2 or more"),
        ({"season": 1}, "The 'season' parameter"),
        ({"trend": "linear"}, "The 'trend' parameter"),
        ({"positive": "yes"}, "The 'positive' parameter"),
        ({"covariate_lags": -1}, "The 'covariate_lags' parameter"),
        ({"window": 0}, "The 'window' parameter"),
        ({"window": 59}, "a window of 59 needs 61"),
    ],
)
def test_bad_settings_are_refused_in_words(options, message, random):
    with pytest.raises(ValueError, match=message):
        GPForecaster(**options).fit(random.normal(size=60))


@pytest.mark.parametrize(
    "options", [{"season": 100}, {"season": [7, 60]}, {"window": 58}, {"window": 40, "season": 12}]
)
def test_seasons_and_windows_longer_than_what_there_is(options, random):
    """A season that is not seen twice is not used; a window may be as long as the series, less two."""
    forecast = GPForecaster(random_state=0, **options).fit(random.normal(size=60)).forecast(4, n_paths=20)
    assert np.isfinite(forecast.paths).all()


def test_zeros_after_a_fit_to_logarithms():
    """They have no logarithm, and count as the smallest value of the fit: the forecast is finite and positive."""
    series = np.exp(np.cumsum(0.1 * np.random.default_rng(0).normal(size=150)) + np.arange(150) / 40)
    model = GPForecaster(2, random_state=0).fit(series)
    assert model._models[0].scale.is_log.all()
    forecast = model.update([0.0, 0.0]).forecast(3, n_paths=30)
    assert np.isfinite(forecast.paths).all()
    assert (forecast.paths > 0.0).all()


@pytest.mark.slow
def test_five_thousand_values_are_learned_in_a_minute():
    """A walk with a tenth of its values missing, and an hourly series. The paths start near the last value."""
    random, time = np.random.default_rng(0), np.arange(5000)
    walk = np.cumsum(random.normal(size=5000))
    gappy = np.where(random.random(5000) < 0.1, np.nan, walk)
    hourly = 10 + np.sin(time * 2 * np.pi / 24) + 0.1 * random.normal(size=5000)
    for series, scale in ((gappy, 1.0), (hourly, 0.2)):
        forecast = GPForecaster(random_state=0).fit(series).forecast(24)
        last = series[~np.isnan(series)][-1]
        assert abs(forecast.mean[0] - last) < 5.0 * scale
    assert forecast.std.max() < 0.3
