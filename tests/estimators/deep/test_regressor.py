"""Stacked GPs as a regressor. Oracles: the regressor with one layer, draws of its own, and steps."""

import numpy as np
import pytest
from scipy.stats import norm

import semigp
from semigp import DeepGPRegressor, SemiDescribedGPRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SMALL = {"n_chains": 1, "max_iter": 20, "n_draws": 3, "random_state": 0}


@pytest.fixture
def table(random):
    X = random.normal(size=(40, 2))
    return X, np.sign(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * random.normal(size=40)


@pytest.fixture(scope="module")
def steps():
    """Two steps in one input, and a model with two layers."""
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (360, 1))
    y = np.where(x[:, 0] < -0.3, -1.0, np.where(x[:, 0] < 0.4, 1.0, 0.0)) + 0.05 * random.normal(size=360)
    model = DeepGPRegressor(n_chains=3, random_state=0).fit(x[:60], y[:60])
    return model, x, y


# ---- one layer


@pytest.mark.parametrize("case", ["certain", "holes", "error bars"])
def test_one_layer_is_the_regressor(table, case):
    """Exactly: mean, standard deviation, draws, bound, score and imputed inputs."""
    X, y = table
    if case == "holes":
        X[:9, 1] = np.nan
    bars = {"X_std": np.full(X.shape, 0.1)} if case == "error bars" else {}
    options = {"n_draws": 3, "max_iter": 20, "random_state": 0}
    deep, one = DeepGPRegressor(1, **options).fit(X, y, **bars), SemiDescribedGPRegressor(**options).fit(X, y, **bars)
    for mine, theirs in zip(deep.predict(X, True), one.predict(X, True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(deep.sample_y(X[:4], 3, 1), one.sample_y(X[:4], 3, 1))
    np.testing.assert_array_equal(deep.impute(), one.impute())
    assert (deep.bound_, deep.n_iter_, deep.score(X, y)) == (one.bound_, one.n_iter_, one.score(X, y))
    assert deep.weights_ == {1: 1.0}


def test_of_few_rows_there_is_one_layer(table):
    X, y = table
    assert DeepGPRegressor(**SMALL).fit(X[:15], y[:15]).weights_ == {1: 1.0}


def test_log_density_of_one_layer(table):
    """One component: SciPy's normal density of mean and standard deviation."""
    X, y = table
    model = DeepGPRegressor(1, max_iter=20, random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(model.log_density(X, y), norm(mean, std).logpdf(y), rtol=1e-9)
    np.testing.assert_allclose(model.quantile(X, [0.1, 0.9]), norm(mean, std).ppf([[0.1], [0.9]]), rtol=1e-7, atol=1e-9)


# ---- steps


def test_two_layers_find_steps(steps):
    """Held-out rows, 300: more than .2 nats a row better than one layer, and .92 to .98 of them in 95 % intervals."""
    model, x, y = steps
    one = DeepGPRegressor(1, random_state=0).fit(x[:60], y[:60])
    gain = model.log_density(x[60:], y[60:]) - one.log_density(x[60:], y[60:])
    assert gain.mean() > 0.2
    low, high = model.quantile(x[60:], [0.025, 0.975])
    assert 0.88 < np.mean((y[60:] > low) & (y[60:] < high)) < 0.99
    assert model.weights_[2] > 0.5
    assert model.n_iter_ == 345
    assert model.fit_report_.stages[-1] == ("hidden layers", "converged", 345)


def test_draws_have_the_moments_of_predictions(steps):
    """1000 draws at five inputs: five standard errors. A mixture's fourth moment is taken from the draws."""
    model, x, _ = steps
    mean, std = model.predict(x[:5], return_std=True)
    draws = model.sample_y(x[:5], 1000, random_state=0)
    assert np.all(np.abs(draws.mean(axis=1) - mean) < 5 * std / np.sqrt(1000))
    squares = (draws - mean[:, None]) ** 2
    assert np.all(np.abs(squares.mean(axis=1) - std**2) < 5 * squares.std(axis=1) / np.sqrt(1000))


def test_quantiles_and_density_agree_with_moments(steps):
    """The mean is the integral of the quantiles over levels, and the density integrates to 1: midpoints, .5 %."""
    model, x, _ = steps
    mean, std = model.predict(x[:5], return_std=True)
    levels = (np.arange(1000) + 0.5) / 1000
    np.testing.assert_allclose(model.quantile(x[:5], levels).mean(axis=0), mean, atol=5e-3 * std.max())
    grid = np.linspace(-4, 4, 2001)
    density = np.exp(model.log_density(np.full((2001, 1), x[0, 0]), grid))
    assert density.sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=5e-3)


def test_levels_are_checked(steps):
    with pytest.raises(ValueError, match="levels are between 0 and 1"):
        steps[0].quantile([[0.0]], [0.5, 1.0])


def test_three_layers(table):
    model = DeepGPRegressor(3, **SMALL).fit(*table)
    assert list(model.weights_) == [1, 2, 3]
    assert sum(model.weights_.values()) == pytest.approx(1.0)
    assert [stack.n_layers for stack in model._stacks[3]] == [3] * 6
    assert model.predict(table[0]).shape == (40,)


# ---- what is not certain


def test_holes(table):
    X, y = table
    X[::4, 0] = np.nan
    model = DeepGPRegressor(**SMALL).fit(X, y)
    assert model.posterior_ == "particles"
    mean, std = model.predict(X, return_std=True)
    assert np.all(np.isfinite(mean))
    assert np.all(std > 0)
    assert std[::4].mean() > std[1::4].mean()  # what is missing is uncertain
    tables, given = np.stack([stack.inputs for stack in model._stacks[2]]), model._table.inputs
    known = ~np.isnan(given)
    np.testing.assert_array_equal(tables[:, known], np.broadcast_to(given[known], (6, known.sum())))
    assert np.ptp(tables[:, ~known], axis=0).mean() > 0.1  # holes are drawn anew
    alone = model.predict(X[:1], return_std=True)
    np.testing.assert_allclose(alone, [mean[:1], std[:1]], rtol=1e-6)


def test_error_bars_of_new_rows(table):
    """The mean over an input with an error bar is that over draws of it: .1 of the standard deviation."""
    X, y = table
    model = DeepGPRegressor(**SMALL).fit(X, y)
    row = np.array([[0.1, 0.3]])
    mean, std = model.predict(row, return_std=True, X_std=[[0.5, 0.0]])
    draws = np.column_stack([0.1 + 0.5 * norm.ppf((np.arange(400) + 0.5) / 400), np.full(400, 0.3)])
    means, stds = model.predict(draws, return_std=True)
    total = np.sqrt(np.mean(stds**2) + np.var(means))
    assert abs(mean[0] - means.mean()) < 0.1 * total
    assert std[0] == pytest.approx(total, rel=0.1)


def test_error_bars_of_training_rows(table):
    X, y = table
    model = DeepGPRegressor(**SMALL).fit(X, y, X_std=np.full(X.shape, 0.1))
    assert model.has_error_bars_.all()
    assert 2 in model.weights_
    assert model.score(X, y) > 0.7


def test_outputs_with_holes(table):
    X, y = table
    Y = np.column_stack([y, X[:, 0] ** 2])
    Y[:5, 0] = np.nan
    model = DeepGPRegressor(**SMALL).fit(X, Y)
    assert model.predict(X).shape == (40, 2)
    assert model.sample_y(X[:3], 2, 0).shape == (3, 2, 2)
    assert model.quantile(X[:3], [0.1, 0.5, 0.9]).shape == (3, 3, 2)
    known = model.log_density(X, np.where([True, False], Y, np.nan))
    assert np.all(np.isfinite(known))
    assert known.shape == (40,)


def test_columns_of_every_kind(table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = pandas.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0.5, "u", np.where(X[:, 1] > -0.5, "v", "w"))})
    frame.loc[3, "kind"] = None
    model = DeepGPRegressor(**SMALL).fit(frame, y)
    assert model._stacks[2][0].layers[0].weights.shape[1] == 4  # a number, and three levels
    assert model.score(frame, y) > 0.7


# ---- the estimator


def test_save_and_load(tmp_path, table):
    X, y = table
    X[::5, 1] = np.nan
    model = DeepGPRegressor(**SMALL).fit(X, y)
    model.save(tmp_path / "deep.semigp")
    again = semigp.load(tmp_path / "deep.semigp")
    for mine, theirs in zip(again.predict(X, True), model.predict(X, True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(again.quantile(X, [0.3]), model.quantile(X, [0.3]))
    assert (again.weights_, again.bound_) == (model.weights_, model.bound_)


@pytest.mark.parametrize(("after", "depths"), [(30, {1}), (110, {1, 2})])
def test_an_interrupt_keeps_what_there_is(table, after, depths):
    """Before a chain has a draw of all rows, one layer is left."""
    heard = []

    def callback(progress):
        heard.append(progress.stage)
        return heard.count("hidden layers") == after

    model = DeepGPRegressor(**SMALL | {"callback": callback}).fit(*table)
    assert set(model.weights_) == depths
    assert model.fit_report_.status == "interrupted"
    assert model.predict(table[0]).shape == (40,)


def test_layers_are_checked(table):
    with pytest.raises(ValueError, match="n_layers"):
        DeepGPRegressor(4).fit(*table)
