"""SemiDescribedGPRegressor against oracles it must equal, and against the ways of filling holes that it must beat."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semigp import SemiDescribedGPRegressor
from semigp.core import InputBelief, fit_posterior
from semigp.estimators.common.component import Component


def make_problem(random, n=60, missing=0.2, noise=0.05):
    """Inputs that tell nothing about each other; outputs that tell a lot about the inputs."""
    truth = random.normal(size=(n, 2))
    outputs = evaluate(truth) + noise * random.normal(size=(n, 3))
    return truth, np.where(random.random(truth.shape) < missing, np.nan, truth), outputs


def evaluate(x):
    return np.column_stack([np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1], np.cos(1.5 * x[:, 0]) - x[:, 1], x.sum(axis=1)])


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    truth, recorded, outputs = make_problem(random)
    test = random.normal(size=(40, 2))
    return truth, recorded, outputs, test


@pytest.fixture(scope="module")
def gaussian(problem):
    _, recorded, outputs, _ = problem
    return SemiDescribedGPRegressor(30, posterior="gaussian", random_state=0).fit(recorded, outputs)


@pytest.fixture(scope="module")
def mixture(problem):
    _, recorded, outputs, _ = problem
    return SemiDescribedGPRegressor(30, posterior="mixture", n_draws=3, random_state=0).fit(recorded, outputs)


def test_noise_variance_is_in_the_units_of_the_outputs(problem, mixture):
    """Oracle: the noise that was added, std 0.05. Its variance is known to √(2/60) = 18 %; three times that."""
    truth, _, outputs, _ = problem
    units = np.array([1.0, 10.0, 100.0])
    model = SemiDescribedGPRegressor(random_state=0).fit(truth, outputs * units)
    np.testing.assert_allclose(model.noise_variance_, (0.05 * units) ** 2, rtol=0.54)
    each = [component.noise_variance for component in mixture._components]
    np.testing.assert_allclose(mixture.noise_variance_, np.mean(each, axis=0) * outputs.var(axis=0))


def test_without_holes_it_is_gp_regression(problem):
    """Oracle: scikit-learn's exact GP with the same kernel and noise held. Tolerance 1e-4 (our jitter is 1e-6)."""
    truth, _, outputs, test = problem
    model = SemiDescribedGPRegressor(random_state=0).fit(truth, outputs[:, 0])
    fitted = model._components[0].model
    rbf, linear = fitted.kernel.kernels
    # Inputs may be warped, and are held near their range.
    x, x_test = (model._input_units.standard(rows[:, model._arrangement.columns]) for rows in (truth, test))
    y_scaler = StandardScaler().fit(outputs[:, :1])
    scale = float(fitted.output_scale[0]) ** 2

    class Both(kernels.RBF):  # the linear part has scales of its own
        def __call__(self, X, Y=None, eval_gradient=False):
            other = X if Y is None else Y
            return scale * (super().__call__(X, Y) + (X * np.asarray(linear.variances)) @ other.T)

        def diag(self, X):
            return scale * (1.0 + (X**2) @ np.asarray(linear.variances))

    oracle = GaussianProcessRegressor(
        Both(np.asarray(rbf.lengthscale)), alpha=float(fitted.noise_variance[0]), optimizer=None
    ).fit(x, y_scaler.transform(outputs[:, :1])[:, 0])
    mean, std = oracle.predict(x_test, return_std=True)
    ours, our_std = model.predict(test, return_std=True)
    np.testing.assert_allclose(ours, mean * y_scaler.scale_ + y_scaler.mean_, rtol=1e-4, atol=1e-4)
    noisy = np.sqrt(std**2 + fitted.noise_variance[0]) * y_scaler.scale_
    np.testing.assert_allclose(our_std, noisy, rtol=1e-3)


def test_without_holes_the_sparse_model_is_sparse_gp_regression(problem):
    """Oracle: the engine's own posterior for the fitted parameters and complete inputs. Tolerance 1e-8."""
    truth, _, outputs, test = problem
    model = SemiDescribedGPRegressor(15, random_state=0).fit(truth, outputs)
    fitted = model._components[0].model
    x, x_test = (model._input_units.standard(rows[:, model._arrangement.columns]) for rows in (truth, test))
    y_scaler = StandardScaler().fit(outputs)
    posterior = fit_posterior(
        fitted.kernel, InputBelief.observed(x), fitted.inducing_inputs,
        y_scaler.transform(outputs), fitted.noise_variance, output_scale=fitted.output_scale,
    )  # fmt: skip
    mean, _ = posterior.predict(InputBelief.observed(x_test))
    np.testing.assert_allclose(model.predict(test), y_scaler.inverse_transform(mean), rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("ignore:The iteration limit")
def test_all_missing_is_a_bayesian_gplvm(problem):
    """Nothing is known of X: q(x) is free, one dimension explains a curve, and outputs are reconstructed from it."""
    random = np.random.default_rng(1)
    t = random.uniform(-2, 2, size=60)
    outputs = np.column_stack([np.sin(t), np.cos(t), t, t**2]) + 0.01 * random.normal(size=(60, 4))
    model = SemiDescribedGPRegressor(20, random_state=0).fit(np.full((60, 2), np.nan), outputs)
    latent, std = model.impute(return_std=True)
    assert np.all(std > 0)
    assert np.abs(np.corrcoef(latent[:, np.argmax(model.relevance_)], t)[0, 1]) > 0.95
    mean = model.predict(latent)
    assert np.mean((mean - outputs) ** 2) < 0.05 * np.mean(outputs.var(axis=0))
    again = model.impute(np.full((60, 2), np.nan), outputs)
    assert np.mean((model.predict(again) - outputs) ** 2) < 0.1 * np.mean(outputs.var(axis=0))


def test_gaussian_recovers_inputs_from_outputs(gaussian, problem):
    truth, recorded, outputs, test = problem
    holes = np.isnan(recorded)
    found, std = gaussian.impute(return_std=True)
    np.testing.assert_array_equal(found[~holes], recorded[~holes])
    assert np.all(std[~holes] == 0)
    assert np.sqrt(np.mean((found - truth)[holes] ** 2)) < 0.4
    # Beyond the training rows predictions are held, however good the model is.
    test = test[np.all((test > np.nanmin(recorded, axis=0)) & (test < np.nanmax(recorded, axis=0)), axis=1)]
    assert len(test) > 30
    error = np.sqrt(np.mean((gaussian.predict(test) - evaluate(test)) ** 2))
    filled = np.where(holes, np.nanmean(recorded, axis=0), recorded)
    worse = SemiDescribedGPRegressor(30, random_state=0).fit(filled, outputs)
    assert error < 0.5 * np.sqrt(np.mean((worse.predict(test) - evaluate(test)) ** 2))


def test_draws_of_inputs_that_tell_about_each_other():
    """A curve in eight dimensions: neighbours know what is missing, and how well."""
    random = np.random.default_rng(2)
    t = random.uniform(0, 6, size=90)
    inputs = np.column_stack([np.sin(t + shift) for shift in np.linspace(0, 3, 8)])
    outputs = np.column_stack([np.sin(2 * t), np.cos(t)]) + 0.1 * random.normal(size=(90, 2))
    recorded = inputs.copy()
    recorded[30:][random.random((60, 8)) < 0.5] = np.nan
    model = SemiDescribedGPRegressor(posterior="mixture", random_state=0, n_draws=3).fit(recorded, outputs)
    found, std = model.impute(return_std=True)
    holes = np.isnan(recorded)
    assert np.sqrt(np.mean((found - inputs)[holes] ** 2)) < 0.1
    assert np.mean(np.abs(found - inputs)[holes] < 2 * std[holes]) > 0.85


@pytest.mark.parametrize("name", ["gaussian", "mixture"])
def test_missing_at_prediction(name, request, problem):
    """NaN costs certainty; rows are predicted alike alone or in company; a row of nothing gives the outputs' spread."""
    model = request.getfixturevalue(name)
    _, _, outputs, test = problem
    holes = test.copy()
    holes[::2, 1] = np.nan
    mean, std = model.predict(holes, return_std=True)
    complete_std = model.predict(test, return_std=True)[1]
    assert np.isfinite(mean).all()
    assert np.all(std[::2, 1] > complete_std[::2, 1])
    np.testing.assert_allclose(std[1::2], complete_std[1::2], rtol=1e-6)
    np.testing.assert_allclose(model.predict(holes[:3]), mean[:3], rtol=1e-6, atol=1e-8)
    nothing_mean, nothing_std = model.predict(np.full((1, 2), np.nan), return_std=True)
    assert np.all(np.abs(nothing_mean - outputs.mean(axis=0)) < outputs.std(axis=0))
    assert np.all(nothing_std > 0.4 * outputs.std(axis=0))


@pytest.mark.parametrize("name", ["gaussian", "mixture"])
def test_imputing_new_rows(name, request, problem):
    """Outputs help: with them the error is below, and the standard deviation too."""
    model = request.getfixturevalue(name)
    _, _, _, test = problem
    holes = test.copy()
    holes[:, 1] = np.nan
    without, std_without = model.impute(holes, return_std=True)
    found, std = model.impute(holes, evaluate(test), return_std=True)
    np.testing.assert_array_equal(found[:, 0], test[:, 0])
    assert np.mean((found - test) ** 2) < 0.5 * np.mean((without - test) ** 2)
    assert std[:, 1].mean() < std_without[:, 1].mean()


@pytest.mark.parametrize("name", ["gaussian", "mixture"])
def test_samples_have_the_predicted_moments(name, request, problem):
    """Monte Carlo against predict: mean and std over 400 draws, 5 standard errors."""
    model = request.getfixturevalue(name)
    test = problem[3][:6].copy()
    test[0, 0] = np.nan
    mean, std = model.predict(test, return_std=True)
    samples = model.sample_y(test, 400, random_state=0)
    assert samples.shape == (6, 3, 400)
    assert np.all(np.abs(samples.mean(axis=2) - mean) < 5 * std / np.sqrt(400) + 0.02)
    np.testing.assert_allclose(samples.std(axis=2), std, rtol=0.25)


def test_error_bars_beat_ignoring_them():
    """One input with known error bars: the function is found again. Oracle: the function itself."""
    random = np.random.default_rng(3)
    x = random.uniform(-3, 3, size=(80, 1))
    std = np.sqrt(random.uniform(0, 0.4, size=x.shape))
    noisy, y = x + std * random.normal(size=x.shape), np.sin(2 * x[:, 0]) + 0.05 * random.normal(size=80)
    test = np.linspace(-2.8, 2.8, 100)[:, None]
    errors = {}
    for name, bars in {"known": std, "ignored": None}.items():
        model = SemiDescribedGPRegressor(30, random_state=0).fit(noisy, y, X_std=bars)
        errors[name] = np.sqrt(np.mean((model.predict(test) - np.sin(2 * test[:, 0])) ** 2))
    assert errors["known"] < 0.6 * errors["ignored"]
    believed, _ = SemiDescribedGPRegressor(30, random_state=0).fit(noisy, y, X_std=std).impute(return_std=True)
    assert np.median(np.abs(believed - x)) < 0.7 * np.median(np.abs(noisy - x))  # a wave has places that look alike


def test_error_bars_at_prediction(problem):
    """Monte Carlo over 200 draws of the inputs, from rows whose draws all lie inside the range of the training rows."""
    truth, _, outputs, test = problem
    test = test[np.abs(test).max(axis=1) < 0.8]
    assert len(test) > 5
    model = SemiDescribedGPRegressor(random_state=0).fit(truth, outputs)
    bars = np.full(test.shape, 0.3)
    mean, std = model.predict(test, return_std=True, X_std=bars)
    draws = test + 0.3 * np.random.default_rng(0).normal(size=(500, *test.shape))
    parts = [model.predict(draw, return_std=True) for draw in draws[:200]]
    means, stds = (np.array(part) for part in zip(*parts, strict=True))
    spread = np.sqrt(np.mean(stds**2, axis=0) + means.var(axis=0))
    np.testing.assert_allclose(mean, means.mean(axis=0), atol=0.1)  # Monte Carlo over 200 draws
    np.testing.assert_allclose(std, spread, rtol=0.2)


def test_published_method_shows_the_stages_of_algorithm_1(problem):
    _, recorded, outputs, _ = problem
    model = SemiDescribedGPRegressor(20, input_prior="standard", max_iter=40, random_state=0)
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        model.fit(recorded, outputs)
    assert [name for name, _, _ in model.fit_report_.stages] == ["complete rows", "missing inputs", "all rows"]
    assert model.bound_ == model.fit_report_.bound


def test_stages_and_bound_of_the_mixture(mixture):
    names = [name for name, _, _ in mixture.fit_report_.stages]
    assert names == ["all rows, draw 1", "all rows, draw 2", "all rows, draw 3"]
    assert np.isfinite(mixture.bound_)


def test_relevance_finds_the_inputs_that_matter():
    random = np.random.default_rng(4)
    X = random.normal(size=(80, 4))
    model = SemiDescribedGPRegressor(random_state=0).fit(X, np.sin(2 * X[:, 2]) + 0.3 * X[:, 0])
    assert np.argmax(model.relevance_) == 2
    assert model.relevance_[1] < 0.3
    assert model.relevance_[3] < 0.3


def test_missing_outputs(problem):
    """NaN in y: a column is predicted from the rows where it is known, and as well as from those alone."""
    truth, _, outputs, test = problem
    holes = outputs.copy()
    holes[::3, 1] = np.nan
    model = SemiDescribedGPRegressor(random_state=0).fit(truth, holes)
    assert np.sqrt(np.mean((model.predict(test) - evaluate(test)) ** 2)) < 0.2


def test_units_do_not_matter(mixture, problem):
    """Affine changes of X and y change predictions accordingly: to 1e-5 of the outputs' spread."""
    _, recorded, outputs, test = problem
    scale, shift = np.array([1e4, 1e-3]), np.array([-5.0, 70.0])
    other = clone(mixture).fit(recorded * scale + shift, 100 * outputs - 7)
    np.testing.assert_allclose(other.predict(test * scale + shift), 100 * mixture.predict(test) - 7, atol=0.02)


def test_same_seed_same_answer(problem):
    _, recorded, outputs, test = problem
    fits = [SemiDescribedGPRegressor(20, n_draws=2, random_state=7).fit(recorded, outputs) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].predict(test), fits[1].predict(test))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame, problem):
    _, recorded, outputs, _ = problem
    names = ["left", "right"]
    table = frame(dict(zip(names, recorded.T, strict=True)))
    model = SemiDescribedGPRegressor(20, posterior="mixture", n_draws=2, random_state=0).fit(table, outputs)
    assert list(model.feature_names_in_) == names
    for found in (model.impute(), model.impute(table), *model.impute(table, outputs, return_std=True)):
        assert isinstance(found, frame)
        assert list(found.columns) == names
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"left": "up"}) if frame is pd.DataFrame else table.rename({"left": "up"}))


def test_pandas_index_and_missing_values():
    table = pd.DataFrame(
        {"a": pd.array([1, None, 3, 4, 5], "Int64"), "b": [0.1, 0.4, None, 0.2, 0.9]}, index=list("vwxyz")
    )
    model = SemiDescribedGPRegressor(n_draws=2, random_state=0).fit(table, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert list(model.impute(table).index) == list("vwxyz")


def test_pipeline_and_grid_search(problem):
    _, recorded, outputs, _ = problem
    model = SemiDescribedGPRegressor(10, posterior="mixture", n_draws=2, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model)
    grid = {"semidescribedgpregressor__output_noise": ["per-output", "shared"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(recorded, outputs)
    assert search.best_score_ > 0.5


def test_nothing_but_noise_is_said(random):
    X, y = random.normal(size=(80, 1)), random.normal(size=80)
    with pytest.warns(ConvergenceWarning, match="explained as noise"):
        SemiDescribedGPRegressor(20, random_state=0).fit(X, y)


def test_two_rows():
    model = SemiDescribedGPRegressor(random_state=0).fit([[0.0, np.nan], [1.0, 2.0]], [0.0, 1.0])
    mean, std = model.predict([[0.0, 2.0], [1.0, np.nan], [50.0, 2.0]], return_std=True)
    assert np.isfinite(mean).all()
    assert np.all(std > 0)
    assert -1 < mean[0] < mean[1] < 2


def test_callback_can_stop(problem):
    truth, _, outputs, _ = problem
    model = SemiDescribedGPRegressor(10, callback=lambda progress: progress.iteration >= 3, random_state=0)
    model.fit(truth, outputs)
    assert model.fit_report_.status == "interrupted"
    assert np.isfinite(model.predict(truth)).all()


def test_values_are_copied():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0)
    model = SemiDescribedGPRegressor(5, random_state=0).fit(X, y)
    expected = X.copy()
    X[0, 0] = 100.0
    np.testing.assert_array_equal(model.impute(), expected)


def test_rows_without_holes_are_predicted_once_for_each_component(mixture, problem, monkeypatch):
    """One row with a hole among 40: 39 rows at 3 components, and the one at 51 draws; all as if they were alone."""
    test = problem[3].copy()
    alone, alone_std = mixture.predict(test[1:], return_std=True)
    test[0, 0] = np.nan
    counts = []

    predict = Component.predict

    def counting(component, belief):
        counts.append(belief.n_rows)
        return predict(component, belief)

    monkeypatch.setattr(Component, "predict", counting)
    mean, std = mixture.predict(test, return_std=True)
    assert sum(counts) == 39 * 3 + 51
    np.testing.assert_allclose(mean[1:], alone, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(std[1:], alone_std, rtol=1e-12)


@pytest.mark.parametrize("name", ["gaussian", "mixture"])
def test_imputed_rows_do_not_depend_on_their_company(name, request, problem):
    """To the last digit, with outputs and without."""
    model = request.getfixturevalue(name)
    _, recorded, outputs, _ = problem
    rows = recorded[np.isnan(recorded).any(axis=1)][:5]
    for y in (outputs[:5], None):
        together, together_std = model.impute(rows, y, return_std=True)
        alone, alone_std = model.impute(rows[:1], y if y is None else y[:1], return_std=True)
        np.testing.assert_array_equal(alone[0], together[0])
        np.testing.assert_array_equal(alone_std[0], together_std[0])


def test_error_bars_in_another_order(problem):
    """A frame of error bars goes by its names, in training and in prediction."""
    truth, _, outputs, test = problem
    bars = pd.DataFrame({"a": np.full(60, 0.3), "b": np.zeros(60)})
    X, new = (pd.DataFrame(values, columns=["a", "b"]) for values in (truth, test))
    model = SemiDescribedGPRegressor(10, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        model.fit(X, outputs[:, 0], X_std=bars[["b", "a"]])
    np.testing.assert_array_equal(model.has_error_bars_, [True, False])
    expected = model.predict(new, X_std=bars[:40])
    np.testing.assert_array_equal(model.predict(new, X_std=bars[:40][["b", "a"]]), expected)


def test_a_plain_fit_meets_no_mesh(problem, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a fit in one process asked for processes, a mesh or a spread search")

    monkeypatch.setattr("semigp.core.devices.processes.Processes.__init__", refuse)
    monkeypatch.setattr("semigp.estimators.regression.across_processes.row_mesh", refuse)
    monkeypatch.setattr("semigp.estimators.regression.across_processes.fit_spread", refuse)
    truth, _, outputs, test = problem
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        model = SemiDescribedGPRegressor(max_iter=1, random_state=0).fit(truth, outputs[:, 0])
    assert np.isfinite(model.predict(test)).all()
    assert "L-BFGS-B" in model.fit_report_.method
