"""Driven systems. Oracles: the systems that made the series, and the noise of their measurements."""

import numpy as np
import pytest

import semigp
from semigp import GPForecaster
from semigp.estimators.forecasting.priors import driven_choice, driven_members
from semigp.estimators.forecasting.priors.driven import Driven, _columns
from semigp.estimators.forecasting.priors.driven_choice import HeldBack, choose
from semigp.estimators.forecasting.priors.driven_members import Kind, kinds
from semigp.estimators.forecasting.searches import Searches

NOISE = 0.1


def held_steps(random, count, length=5):
    """An input that jumps every few steps."""
    return np.repeat(random.normal(size=count // length + 1), length)[:count]


def measured(response, inputs, random):
    """The response to an input, and noise."""
    return np.convolve(inputs, response)[: len(inputs)] + NOISE * random.normal(size=len(inputs))


@pytest.fixture(scope="module")
def few():
    """A grid of few members, so that tests are fast."""
    patch = pytest.MonkeyPatch()
    patch.setattr(driven_members, "_WINDOWS", (3,))
    patch.setattr(driven_members, "_INPUT_WINDOWS", (5, 20))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def linear(few):
    """Half a unit after a step, and .8 of it at each step after that: a forecaster, inputs, and outputs."""
    random = np.random.default_rng(0)
    inputs = held_steps(random, 450)
    outputs = measured(0.5 * 0.8 ** np.arange(60), inputs, random)
    return GPForecaster(covariate_lags=20, random_state=0).fit(outputs[:250], inputs[:250]), inputs, outputs


def test_a_linear_system_is_simulated_to_its_noise(linear):
    """The RMSE of 200 simulated steps is at most 15 % above the noise, where a constant is off by ten times as much."""
    model, inputs, outputs = linear
    forecast = model.forecast(200, covariates=inputs[250:])
    error = forecast.mean - outputs[250:]
    assert model.weights_ == {"driven": 1.0}
    assert np.sqrt(np.mean(error**2)) < 1.15 * NOISE
    assert np.std(outputs[250:]) > 5 * NOISE
    assert forecast.score(outputs[250:])["coverage"] == pytest.approx(0.95, abs=0.06)


def test_the_response_to_a_step_is_that_of_the_system(linear):
    """After 30 steps with an input of 1, the output is Σ .5 · .8^k = 2.5; two scenarios show the difference."""
    model, _, _ = linear
    futures = model.forecast(30, covariates={"off": np.zeros(30), "on": np.ones(30)})
    response = futures["on"].mean - futures["off"].mean
    np.testing.assert_allclose(response, 2.5 * (1 - 0.8 ** np.arange(1, 31)), atol=0.15)


def test_a_saved_model_forecasts_the_same(linear, tmp_path):
    model, inputs, _ = linear
    model.save(tmp_path / "driven.semigp")
    loaded = semigp.load(tmp_path / "driven.semigp")
    expected = model.forecast(20, covariates=inputs[250:270]).paths
    np.testing.assert_array_equal(loaded.forecast(20, covariates=inputs[250:270]).paths, expected)


def test_a_long_simulation_stays_within_limits(linear):
    """Beyond the values of the past by as much as these span, at most; also for an input that was never that large."""
    model, inputs, outputs = linear
    with pytest.warns(UserWarning, match="ran away"):
        paths = model.forecast(2000, n_paths=20, covariates=20.0 * np.tile(inputs, 5)[:2000]).paths
    low, high = outputs[:250].min(), outputs[:250].max()
    assert paths.shape == (20, 2000)
    assert paths.min() >= 2 * low - high - 1e-9
    assert paths.max() <= 2 * high - low + 1e-9


def test_an_update_goes_on_from_new_values(linear):
    """Fifty steps after 150 new values, with an error of at most 1.2 times the noise."""
    _, inputs, outputs = linear
    longer = GPForecaster(covariate_lags=20, random_state=0).fit(outputs[:250], inputs[:250])
    longer.update(outputs[250:400], covariates=inputs[250:400])
    forecast = longer.forecast(50, covariates=inputs[400:450])
    assert np.sqrt(np.mean((forecast.mean - outputs[400:]) ** 2)) < 1.2 * NOISE


def test_a_dead_time_is_found(few):
    """The output follows the input twelve steps later: no lag of the output tells that input."""
    random = np.random.default_rng(1)
    inputs = held_steps(random, 400)
    outputs = measured(np.r_[np.zeros(12), 1.0, 0.5], inputs, random)
    model = GPForecaster(covariate_lags=20, random_state=0).fit(outputs[:250], inputs[:250])
    error = model.forecast(150, covariates=inputs[250:]).mean - outputs[250:]
    assert np.sqrt(np.mean(error**2)) < 1.2 * NOISE


def test_two_inputs_drive_two_outputs(few):
    """Each output follows an input of its own, and the other output: both to the noise, within 30 %."""
    random = np.random.default_rng(2)
    inputs = np.column_stack([held_steps(random, 340), held_steps(random, 340, 7)])
    states = np.zeros((340, 2))
    for t in range(1, 340):
        states[t] = np.array([[0.7, 0.2], [0.0, 0.6]]) @ states[t - 1] + 0.5 * inputs[t]
    outputs = states + NOISE * random.normal(size=states.shape)
    model = GPForecaster(covariate_lags=5, random_state=0).fit(outputs[:240], inputs[:240])
    error = model.forecast(100, covariates=inputs[240:]).mean - outputs[240:]
    np.testing.assert_array_less(np.sqrt(np.mean(error**2, axis=0)), 1.3 * NOISE)


def test_lags_are_cut_at_the_longest_allowed():
    found = kinds(4, 3)
    assert max(max(kind.lags, default=0) for kind in found) == 3  # of 1, 2, 3, 5, …
    assert max(max(kind.input_lags) for kind in found) == 3
    assert len(found) == len(set(found))


def test_columns_of_covariates():
    """Two inputs with two lags, and a wave behind them: lag 2 is in columns 4 and 5, and all see the wave."""
    np.testing.assert_array_equal(_columns(Kind((1,), (0, 2)), 2, 2, 7), [0, 1, 4, 5, 6])


def test_spread_brings_intervals_to_their_level(monkeypatch):
    """Paths N(0, 1) for outputs N(0, .7²): 95 % of the outputs are in the interval if paths shrink by .7."""
    random = np.random.default_rng(0)
    past, kind = 0.7 * random.normal(size=(3000, 1)), Kind((1,), (0,))
    held = HeldBack(past, np.zeros((3000, 1)))
    for block, (start, stop) in enumerate(zip(held.edges, held.edges[1:], strict=False)):
        held.paths[kind, block] = random.normal(size=(2000, stop - start, 1))
    monkeypatch.setattr(driven_choice, "_PATHS", 2000)
    assert held.spread([kind], np.ones(1))[0] == pytest.approx(0.7, abs=0.051)  # the grid has steps of .05


def test_an_interrupt_keeps_the_best_so_far():
    random = np.random.default_rng(0)
    past, inputs = random.normal(size=(80, 1)), random.normal(size=(80, 1))
    columns = {kind: np.zeros(1, int) for kind in [Kind((1,), (0,)), Kind((2, 1), (0,)), Kind((), (0,))]}
    searches = Searches(lambda progress: progress.part == 2)
    chosen = choose(past, inputs, columns, 50, searches)
    assert searches.interrupted is not None
    assert set(chosen.members) == set(list(columns)[:2])
    prior = Driven.fitted(past, inputs, 1, 0, 50, searches)
    paths, _ = prior.paths(past, np.vstack([inputs, inputs[:7]]), 3, 0)
    assert paths.shape == (3, 7, 1)
