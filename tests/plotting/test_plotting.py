"""Figures: what they return is what they draw, checked against direct counts and the objects they were drawn from."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from semigp import SemiDescribedGPRegressor, SemiSupervisedGPClassifier, plotting, scores
from semigp.series.forecast import Forecast
from semigp.series.reading import read_series

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

X = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan], [4.0, 8.0]])


@pytest.fixture(autouse=True)
def _close_figures():
    """Every figure is laid out in full, with warnings as errors, before it goes."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


class Line:
    """A regression y_k = k + x_0 that is certain of nothing but what it was given; NaN counts as 0."""

    relevance_ = np.array([1.0, 0.5])
    noise_variance_ = np.array([0.04, 0.09])

    def __init__(self, inputs, library=None):
        self.inputs, self.library = inputs, library
        if library is not None:
            self.feature_names_in_ = np.array(["a", "b"], dtype=object)

    def impute(self, return_std):
        mean, std = np.nan_to_num(self.inputs), np.where(np.isnan(self.inputs), 0.5, 0.0)
        if self.library is None:
            return mean, std
        return tuple(self.library.DataFrame({"a": part[:, 0], "b": part[:, 1]}) for part in (mean, std))

    def predict(self, asked, return_std):
        if self.library is not None:
            assert isinstance(asked, self.library.DataFrame)
            assert list(asked.columns) == ["a", "b"]
        self.asked = np.asarray(asked)
        mean = np.nan_to_num(self.asked[:, :1]) + np.arange(2.0)
        return mean, np.full(mean.shape, 0.3)


def data_of(function, *args, **options):
    """The numbers that a function draws."""
    return function(*args, return_data=True, **options)[1]


def frame_of(function, *args, **options):
    """The same as a frame: columns of equal length, as pandas wants them."""
    return pd.DataFrame(data_of(function, *args, **options))


def test_matplotlib_comes_with_the_first_figure_only():
    code = "import sys, semigp.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_figures_leave_the_settings_alone_and_draw_into_given_axes():
    before = dict(matplotlib.rcParams)
    _, axes = plt.subplots()
    assert plotting.draw_relevance(SimpleNamespace(relevance_=np.ones(2)), ax=axes) is axes
    assert len(axes.patches) == 2
    assert len(plt.get_fignums()) == 1
    assert dict(matplotlib.rcParams) == before


# ---- inputs


def test_states_of_missingness():
    table = frame_of(plotting.draw_missingness, X, X_std=[[0.1, 0.1], [0, 0], [0.1, 0], [0, 1]])
    states = table.pivot(index="row", columns="column", values="state").to_numpy()
    expected = [["uncertain", "missing"], ["observed"] * 2, ["missing"] * 2, ["observed", "uncertain"]]
    np.testing.assert_array_equal(states, expected)
    written = [text.get_text() for text in plt.gca().texts]
    assert written == ["25", "50", "% missing"]


@pytest.mark.parametrize("library", [pd, pl])
def test_missingness_of_frames_has_their_names(library):
    frame = library.DataFrame({"a": [1.0, np.nan, 3.0], "word": ["x", None, "y"], "count": [1, 2, 3]})
    table = frame_of(plotting.draw_missingness, frame)
    missing = table[table.state == "missing"]
    assert list(zip(missing.row, missing.column, strict=True)) == [(1, "a"), (1, "word")]
    assert [tick.get_text() for tick in plt.gca().get_xticklabels()] == ["a", "word", "count"]


def test_many_rows_and_columns_fit():
    """900 rows in 300 lines: the image's mean colour is that of the table."""
    holes = np.where(np.random.default_rng(0).random((900, 60)) < 0.3, np.nan, 0.0)
    table = data_of(plotting.draw_missingness, holes)
    assert np.sum(table["state"] == "missing") == np.isnan(holes).sum()
    light, dark = (np.array(matplotlib.colors.to_rgb(colour)) for colour in ("#DCE6EE", "#23395B"))
    share = np.isnan(holes).mean()
    image = plt.gca().images[0].get_array()
    np.testing.assert_allclose(np.mean(image, axis=(0, 1)), share * dark + (1 - share) * light, atol=1e-12)
    assert len(plt.gca().get_xticks()) <= 25


def test_missingness_wants_error_bars_of_the_same_shape():
    with pytest.raises(ValueError, match=r"X_std has shape \(2, 2\) but X has shape \(4, 2\); use 0"):
        plotting.draw_missingness(X, X_std=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"X has shape \(3,\); give rows and columns"):
        plotting.draw_missingness(np.ones(3))


@pytest.mark.parametrize("library", [None, pd, pl])
def test_imputed_entries_beside_known_ones_and_against_the_truth(library):
    names = [1, 0, 1] if library is None else ["b", "a", "b"]
    table = frame_of(plotting.draw_imputed, Line(X, library))
    assert table.row.tolist() == [0, 2, 2]
    assert table.column.tolist() == names[:1] + names[1:]
    np.testing.assert_array_equal(table["std"], 0.5)
    truth = np.nan_to_num(X, nan=0.9)  # 0.9 is inside 0 ± 1.96 · 0.5
    truth[2, 0] = 1.0  # and 1 is not
    table = frame_of(plotting.draw_imputed, Line(X, library), truth=truth)
    assert table.truth.tolist() == [0.9, 1.0, 0.9]
    assert plt.gca().get_title() == "67 % of 3 within 95 % intervals"


def test_imputed_columns_are_drawn_in_their_own_units():
    """A column a thousand times as wide is drawn at the same heights."""
    plotting.draw_imputed(Line(X[:, [1, 1]] * [1.0, 1000.0]))
    first, second = (line.get_ydata() for line in plt.gca().lines if line.get_color() == "0.7")
    np.testing.assert_allclose(first, [-1, 1])  # 5 and 8
    np.testing.assert_allclose(second, first)


def test_nothing_imputed_and_truths_of_another_shape_are_errors():
    with pytest.raises(ValueError, match="fitted to rows without missing or uncertain entries"):
        plotting.draw_imputed(Line(np.ones((3, 2))))
    with pytest.raises(ValueError, match=r"truth has shape \(3, 2\) but the training rows have \(4, 2\)"):
        plotting.draw_imputed(Line(X), truth=np.ones((3, 2)))


def test_relevance_is_sorted_and_named():
    model = SimpleNamespace(relevance_=np.array([0.1, 1.0, 0.5]), feature_names_in_=np.array(["a", "b", "c"], object))
    table = data_of(plotting.draw_relevance, model)
    assert table["input"].tolist() == ["b", "c", "a"]
    assert table["relevance"].tolist() == [1.0, 0.5, 0.1]
    low, high = plt.gca().get_ylim()
    assert low > high  # the first is on top
    model.embedding_ = None  # a latent space: the names are those of the outputs
    assert data_of(plotting.draw_relevance, model)["input"].tolist() == [f"latent input {i}" for i in (2, 3, 1)]
    del model.embedding_, model.feature_names_in_
    assert data_of(plotting.draw_relevance, model)["input"][0] == "input 1"


def test_lags_stay_in_order_and_thirty_bars_are_enough():
    slopes = np.random.default_rng(0).random((36, 2))
    table = data_of(plotting.draw_relevance, SimpleNamespace(lag_relevance_=slopes))
    assert table["input"].tolist() == [f"lag {i}" for i in range(1, 31)]
    np.testing.assert_allclose(table["relevance"], slopes.mean(axis=1)[:30])
    assert plt.gca().get_title() == "the first 30 of 36"


# ---- regression


@pytest.mark.parametrize("library", [None, pd, pl])
def test_a_prediction_along_one_input(library):
    model, y = Line(X, library), np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 4.0], [5.0, 6.0]])
    table = frame_of(plotting.draw_prediction, model, y=y, output=1)
    curve, rows = table[table.part == "curve"], table[table.part == "row"]
    assert np.isnan(model.asked[:, 1]).all()  # integrated out
    np.testing.assert_allclose(curve.y, curve.x + 1)
    np.testing.assert_allclose(curve.x.iloc[[0, -1]], [-0.2, 4.2])  # 5 % beyond 0 … 4
    assert rows[["x", "x_std", "y"]].to_numpy().tolist() == [[1, 0, 2], [0, 0.5, 4], [4, 0, 6]]
    np.testing.assert_allclose(rows.y_std, 0.3)  # √0.09
    assert plt.gca().get_xlabel() == ("input 0" if library is None else "a")


@pytest.mark.parametrize("library", [pd, pl])
def test_inputs_go_by_name_or_number(library):
    by_name, by_number = Line(X, library), Line(X, library)
    for model, which in ((by_name, "b"), (by_number, 1)):
        plotting.draw_prediction(model, input=which)
        assert np.isnan(model.asked[:, 0]).all()
    np.testing.assert_array_equal(by_name.asked, by_number.asked)
    with pytest.raises(ValueError, match="there is no input 'z'; there are a, b"):
        plotting.draw_prediction(by_name, input="z")


def test_inputs_outputs_and_rows_that_are_not_there():
    with pytest.raises(ValueError, match="there is no input 2; there are 0, 1"):
        plotting.draw_prediction(Line(X), input=2)
    with pytest.raises(ValueError, match="there is no input 'a'; there are 0, 1"):
        plotting.draw_prediction(Line(X), input="a")
    with pytest.raises(ValueError, match="there is no output 2; there are 0, 1"):
        plotting.draw_prediction(Line(X), output=2)
    with pytest.raises(ValueError, match=r"y has shape \(3, 1\); give the outputs .* fitted to, \(4, 2\)"):
        plotting.draw_prediction(Line(X), y=np.ones(3))


def test_figures_of_a_real_regression():
    """Names, frames and attributes as they are in the estimator; the curve is its own prediction."""
    random = np.random.default_rng(0)
    truth = random.normal(size=(30, 2))
    recorded = pd.DataFrame(np.where(random.random(truth.shape) < 0.15, np.nan, truth), columns=["a", "b"])
    y = np.sin(truth[:, 0]) + 0.2 * truth[:, 1]
    model = SemiDescribedGPRegressor(15, posterior="mixture", n_draws=2, random_state=0).fit(recorded, y)
    curve = frame_of(plotting.draw_prediction, model, y=y, input="b").query("part == 'curve'")
    asked = pd.DataFrame({"a": np.nan, "b": curve.x.to_numpy()})
    np.testing.assert_allclose(curve.y, model.predict(asked), rtol=1e-6)
    imputed = frame_of(plotting.draw_imputed, model, truth=truth)
    assert len(imputed) == recorded.isna().to_numpy().sum()
    bound = frame_of(plotting.draw_bound, model)
    np.testing.assert_array_equal(bound.bound, model.fit_report_.trace)
    assert set(bound.stage) == {"all rows, draw 1"}


# ---- forecasts


def make_forecast(series, steps=5):
    values, timeline = read_series(series)
    paths = np.random.default_rng(0).normal(size=(50, steps, values.shape[1]))
    return Forecast.from_paths(paths, timeline, values)


def test_a_fan_has_the_quantiles_of_the_forecast():
    past = pd.DataFrame({"a": np.arange(20.0), "b": 1.0}, index=pd.date_range("2020", periods=20, freq="D"))
    forecast, truth = make_forecast(past), np.ones((3, 2))
    table = frame_of(plotting.draw_fan, forecast, truth=truth, history=4)
    assert table.series.tolist() == ["a"] * 9 + ["b"] * 9
    one = table[table.series == "b"]
    assert one.time.tolist() == list(pd.date_range("2020-01-17", periods=9))
    assert one.past.notna().tolist() == [True] * 4 + [False] * 5
    for name, level in (("median", 0.5), ("q0.025", 0.025), ("q0.9", 0.9)):
        np.testing.assert_array_equal(one[name].iloc[4:], forecast.quantile(level)[:, 1])
        assert one[name].iloc[:4].isna().all()
    assert one.truth.notna().sum() == 3
    assert len(plt.gcf().axes) == 2


@pytest.mark.parametrize(
    ("index", "first"),
    [
        (None, -10),
        (pd.Index(list("abcdefghijkl")), -10),  # names are no times
        (pd.period_range("2020-01", periods=12, freq="M"), np.datetime64("2020-03-01")),
        (pd.date_range("2020", periods=12, freq="h", tz="UTC"), pd.Timestamp("2020-01-01 02:00", tz="UTC")),
        (pd.RangeIndex(100, 112), 102),
    ],
)
def test_a_fan_knows_its_times(index, first):
    series = np.arange(12.0) if index is None else pd.Series(np.arange(12.0), index)
    table = data_of(plotting.draw_fan, make_forecast(series))
    assert len(table["time"]) == 15  # twice as many steps of the past as of the future
    assert table["time"][0] == first
    assert np.all(table["time"][1:] > table["time"][:-1])


def test_the_plot_of_a_forecast_returns_its_axes():
    forecast = make_forecast(np.zeros((12, 2)))
    _, panels = plt.subplots(2)
    assert list(forecast.plot(ax=panels)) == list(panels)
    assert make_forecast(np.zeros(12)).plot().get_ylabel() == "value"
    with pytest.raises(ValueError, match="levels are the probabilities of bands in percent"):
        plotting.draw_fan(forecast, levels=(0.5, 0.9))
    with pytest.raises(ValueError, match="ax has 1 panels; the series has 2 columns"):
        forecast.plot(ax=panels[0])
    with pytest.raises(ValueError, match="truth has 1 columns but the forecast has 2"):
        plotting.draw_fan(forecast, truth=np.zeros(5))


# ---- latent spaces


def make_latent(n_inputs, **attributes):
    mean, std = np.random.default_rng(0).normal(size=(2, 30, n_inputs))
    relevance = np.array([0.1, 1.0, 0.5])[:n_inputs]
    return SimpleNamespace(embedding_=mean, embedding_std_=np.abs(std), relevance_=relevance, **attributes)


def test_the_latent_figure_has_the_two_inputs_that_matter_most():
    model = make_latent(3)
    table = frame_of(plotting.draw_latent, model, classes=np.repeat(["a", "b"], 15), labelled=[0, 20])
    np.testing.assert_array_equal(table.x, model.embedding_[:, 1])
    np.testing.assert_array_equal(table.y_std, model.embedding_std_[:, 2])
    assert plt.gca().get_xlabel() == "latent input 2"
    assert [text.get_text() for text in plt.gca().get_legend().get_texts()] == ["a", "b"]


def test_classes_are_those_of_the_classifier_or_one():
    assert set(data_of(plotting.draw_latent, make_latent(3))["class"]) == {0}
    found = np.repeat(["x", "y", "z"], 10)
    np.testing.assert_array_equal(data_of(plotting.draw_latent, make_latent(3, transduction_=found))["class"], found)
    with pytest.raises(ValueError, match=r"classes has shape \(30, 2\); give one class for each of the 30 rows"):
        plotting.draw_latent(make_latent(3, transduction_=np.zeros((30, 2))))


def test_one_latent_input_is_drawn_against_the_row():
    np.testing.assert_array_equal(data_of(plotting.draw_latent, make_latent(1))["y"], np.arange(30))


def test_the_relevances_of_views_have_shared_inputs_first():
    relevance = np.array([[0.2, 0.0, 1.0, 0.0], [0.4, 1.0, 0.0, 0.0]])
    private = {"a": np.array([2]), "b": np.array([1])}
    model = SimpleNamespace(relevance_=relevance, view_names_=["a", "b"], shared_=np.array([0]), private_=private)
    table = frame_of(plotting.draw_views, model)
    np.testing.assert_array_equal(table.relevance, relevance.ravel())
    assert table.view.tolist() == ["a"] * 4 + ["b"] * 4
    axes = plt.gca()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "3", "2", "4"]
    assert [text.get_text() for text in axes.texts] == ["shared", "private to a", "private to b", "unused"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    model.embedding_, model.embedding_std_ = np.eye(4), np.eye(4)
    assert data_of(plotting.draw_latent, model)["x"].tolist() == [
        0.0,
        0.0,
        1.0,
        0.0,
    ]  # of the inputs that matter most anywhere


# ---- calibration


def test_calibration_counts():
    """Against a count by hand; at 95 % against `scores.coverage`."""
    random = np.random.default_rng(0)
    truth, mean, std = random.normal(size=(40, 2)), 0.3 * random.normal(size=(40, 2)), np.full((40, 2), 0.8)
    truth[:7, 0] = np.nan
    table = frame_of(plotting.draw_calibration, truth, mean, std)
    assert table.level.tolist() == pytest.approx([*np.arange(0.05, 0.96, 0.05), 0.99])
    share = table.share.to_numpy()
    assert share[18] == scores.coverage(truth, mean, std)
    inside = [abs(t - m) <= 0.6744897501960817 * 0.8 for t, m in zip(truth.flat, mean.flat, strict=True) if t == t]
    assert share[9] == np.mean(inside)  # the half of a Gaussian within 0.674
    assert len(inside) == 73
    with pytest.raises(ValueError, match="truth has no value"):
        plotting.draw_calibration([np.nan], [0.0], [1.0])


def test_reliability_counts():
    probabilities = np.array([[0.92, 0.08], [0.98, 0.02], [0.45, 0.55], [0.0, 1.0]])
    table = data_of(plotting.draw_reliability, ["a", "b", "b", "b"], probabilities, classes=["a", "b"])
    np.testing.assert_allclose(table["confidence"], [0.55, 2.9 / 3])
    np.testing.assert_allclose(table["share"], [1.0, 2 / 3])
    assert table["count"].tolist() == [1, 3]
    gaps = table["count"] @ np.abs(table["share"] - table["confidence"]) / 4
    assert scores.calibration_error(np.array([0, 1, 1, 1]), probabilities) == pytest.approx(gaps)


def test_reliability_knows_only_its_classes():
    probabilities = np.full((3, 2), 0.5)
    with pytest.raises(ValueError, match=r"truth is c at row 1, which is none of the classes 0, 1. Give classes=model"):
        plotting.draw_reliability(np.array([0, "c", 1], object), probabilities)
    with pytest.raises(ValueError, match="3 classes for 2 columns"):
        plotting.draw_reliability(np.array([0, 1, 1]), probabilities, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"truth has shape \(2,\) and probabilities \(3, 2\)"):
        plotting.draw_reliability(np.array([0, 1]), probabilities)


# ---- fits


def test_the_bound_by_stages():
    trace = np.concatenate([[-1e6], np.linspace(-50, -10, 30), np.linspace(-9, 5, 69)])
    report = SimpleNamespace(trace=trace, stages=(("held", "iteration limit", 31), ("all rows", "converged", 69)))
    table = frame_of(plotting.draw_bound, SimpleNamespace(fit_report_=report))
    assert table.iteration.tolist() == list(range(1, 101))
    assert table.stage.value_counts().to_dict() == {"all rows": 69, "held": 31}
    assert plt.gca().get_ylim()[0] > -60  # the first step is out of the picture
    report.trace = np.array([np.nan])
    with pytest.raises(ValueError, match="no finite bound to draw; see model"):
        plotting.draw_bound(SimpleNamespace(fit_report_=report))


def test_names_are_no_formulas_and_stand_in_the_legend():
    """Dollars and underscores mean something to matplotlib, and nothing to who names a column."""
    frame = pd.DataFrame({r"$\frac$": [1.0, np.nan], "_x": [1.0, 2.0]})
    figure, axes = plt.subplots()
    table = data_of(plotting.draw_missingness, frame, axes)
    figure.canvas.draw()
    assert set(table["column"]) == set(frame.columns)
    model = SimpleNamespace(embedding_=np.eye(2), embedding_std_=np.eye(2), relevance_=np.ones(2))
    plotting.draw_latent(model, axes, classes=["_a", r"$\x$"])
    figure.canvas.draw()
    assert [text.get_text().lstrip("\u200b") for text in axes.get_legend().get_texts()] == [r"\$\x\$", "_a"]


def test_columns_of_every_kind():
    """Numbers and times are drawn, with the values that the model has filled in; categories are not."""
    random = np.random.default_rng(0)
    kind, x = random.integers(2, size=40), random.normal(size=40)
    frame = pd.DataFrame({"kind": np.array(["a", "b"])[kind], "x": x + kind, "z": x - kind})
    frame.loc[::5, "kind"], frame.loc[::7, "x"] = None, np.nan
    label = np.where(np.arange(40) < 10, kind, -1)
    model = SemiSupervisedGPClassifier(1, n_samples=1, max_iter=10, random_state=0).fit(frame, label)
    drawn = data_of(plotting.draw_imputed, model)
    assert set(drawn["column"]) == {"x"}
    np.testing.assert_array_equal(drawn["row"], np.arange(0, 40, 7))
    np.testing.assert_array_equal(drawn["mean"], model.impute()["x"].iloc[::7])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_prediction_along_a_number_beside_other_columns():
    """The oracle is the prediction of rows in which only this number is known."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": np.array(["a", "b"])[random.integers(2, size=40)], "x": random.normal(size=40)})
    y = frame["x"].to_numpy() + 5 * (frame["kind"] == "a")
    model = SemiDescribedGPRegressor(10, max_iter=10, random_state=0).fit(frame, y)
    curve = data_of(plotting.draw_prediction, model)
    rows = pd.DataFrame({"kind": None, "x": curve["x"]})
    np.testing.assert_allclose(curve["y"], model.predict(rows))
    with pytest.raises(ValueError, match="The input kind does not hold numbers"):
        plotting.draw_prediction(model, input="kind")


def test_residuals_are_in_units_of_the_promise():
    table = data_of(plotting.draw_residuals, [1.0, np.nan, 3.0], [0.0, 0.0, 2.0], [2.0, 1.0, 0.5])
    assert table["row"].tolist() == [0, 2]
    assert table["residual"].tolist() == [0.5, 2.0]
    with pytest.raises(ValueError, match="truth has no value"):
        plotting.draw_residuals([np.nan], [0.0], [1.0])


def test_associations_list_every_pair_once():
    strength = np.array([[np.nan, 0.3, 0.5], [0.3, np.nan, np.nan], [0.5, np.nan, np.nan]])
    table = data_of(plotting.draw_associations, strength, ["a", "$b$", "c"])
    assert list(zip(table["column"], table["other"], strict=True)) == [("a", "$b$"), ("a", "c"), ("$b$", "c")]
    np.testing.assert_array_equal(table["strength"], [0.3, 0.5, np.nan])
    with pytest.raises(ValueError, match="one row and column for each of 2 names"):
        plotting.draw_associations(strength, ["a", "b"])
