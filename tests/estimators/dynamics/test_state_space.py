"""StateSpaceGP from the user's point of view, on a noisy oscillation that is driven or not.

Oracles: the system with which the series was made, interpolation for gaps, and the model itself in other units.
"""

import numpy as np
import pandas as pd
import pytest

import semigp
from semigp import StateSpaceGP

SMALL = {"n_states": 2, "n_inducing": 10, "max_iter": 60, "random_state": 0}
T, AHEAD, NOISE = 70, 15, 0.15


def _series(seed, steps=T + AHEAD):
    """A damped oscillation that is pushed: noisy outputs, inputs and clean outputs."""
    random = np.random.default_rng(seed)
    inputs = np.repeat(random.normal(size=steps), 5)[:steps, None]
    state, clean = np.array([1.0, 0.0]), np.empty(steps)
    for t in range(steps):
        state = np.array([[0.9, 0.35], [-0.35, 0.9]]) @ state + np.array([0.0, 0.4]) * inputs[t]
        clean[t] = np.tanh(state[0])
    return clean + NOISE * random.normal(size=steps), inputs, clean


@pytest.fixture(scope="module")
def driven():
    values, inputs, clean = _series(0)
    values[30:36] = np.nan
    return StateSpaceGP(**SMALL).fit(values[:T], inputs[:T]), values, inputs, clean


def test_forecast_follows_the_clean_future(driven):
    """The error is below half of a constant's, and the intervals hold what they should."""
    model, values, inputs, clean = driven
    forecast = model.forecast(AHEAD, inputs=inputs[T:])
    assert forecast.paths.shape == (500, AHEAD)
    assert np.mean((forecast.mean - clean[T:]) ** 2) < 0.25 * np.mean((clean[:T].mean() - clean[T:]) ** 2)
    assert (np.abs(forecast.mean - values[T:]) < 3 * forecast.std).all()
    assert NOISE < forecast.std.mean() < 3 * NOISE
    again = model.forecast(AHEAD, inputs=inputs[T:])
    np.testing.assert_array_equal(again.paths, forecast.paths)


def test_gap_is_filled_better_than_by_a_line(driven):
    model, values, _, clean = driven
    mean, std = model.impute(return_std=True)
    gap = np.isnan(values[:T])
    np.testing.assert_array_equal(mean[~gap], values[:T][~gap])
    assert (std[~gap] == 0).all()
    line = np.interp(np.arange(T), np.flatnonzero(~gap), values[:T][~gap])
    assert np.mean((mean - clean[:T])[gap] ** 2) < 0.5 * np.mean((line - clean[:T])[gap] ** 2)
    assert (np.abs(mean - clean[:T])[gap] < 3 * std[gap]).all()


def test_gaps_of_a_new_series(driven):
    """A series that the model was not fitted to, of another length and with its own gap."""
    model = driven[0]
    values, inputs, clean = _series(1, 50)
    values[20:26] = np.nan
    mean, std = model.impute(values, inputs, return_std=True)
    gap = np.isnan(values)
    np.testing.assert_array_equal(mean[~gap], values[~gap])
    line = np.interp(np.arange(50), np.flatnonzero(~gap), values[~gap])
    assert np.mean((mean - clean)[gap] ** 2) < 0.5 * np.mean((line - clean)[gap] ** 2)
    assert (std[gap] > 0.5 * NOISE).all()


def test_states_and_report(driven):
    model = driven[0]
    assert model.states_.shape == model.states_std_.shape == (T, 2)
    assert (model.states_std_ > 0).all()
    assert model.states_std_[33].mean() > model.states_std_[15].mean()  # in the gap
    assert model.bound_ == model.fit_report_.bound
    assert model.n_iter_ == len(model.fit_report_.trace)
    assert model.series_names_ == ["value"]


@pytest.mark.parametrize(("steps", "count"), [(90, 15), (201, 20), (211, 25), (250, 25), (1000, 40)])
def test_default_number_of_inducing_points_is_round(steps, count):
    model = StateSpaceGP()
    model._series, model._seed = [np.zeros((steps, 1))], 0
    assert model._settings(None).n_inducing == count


def test_saved_model_is_the_same(driven, tmp_path):
    model, _, inputs, _ = driven
    model.save(tmp_path / "model.semigp")
    loaded = semigp.load(tmp_path / "model.semigp")
    ahead = [each.forecast(AHEAD, inputs=inputs[T:]).paths for each in (model, loaded)]
    np.testing.assert_array_equal(*ahead)
    np.testing.assert_array_equal(loaded.impute(), model.impute())


def test_units_do_not_matter(driven):
    """Powers of two change no digit of a standard unit but the exponent; the search is the same up to rounding."""
    model, values, inputs, _ = driven
    other = StateSpaceGP(**SMALL).fit(1024.0 * values[:T], 0.125 * inputs[:T])
    np.testing.assert_allclose(other.bound_, model.bound_, rtol=1e-6)
    ahead = other.forecast(AHEAD, inputs=0.125 * inputs[T:]).mean
    np.testing.assert_allclose(ahead / 1024.0, model.forecast(AHEAD, inputs=inputs[T:]).mean, rtol=1e-3, atol=1e-3)


def test_several_series_in_frames():
    """Two series of different lengths, with days, one day of which is missing. Columns have names."""
    frames, known = [], []
    for seed, steps in ((2, 45), (3, 36)):
        values, inputs, _ = _series(seed, steps)
        days = pd.date_range("2026-01-01", periods=steps)
        frames.append(pd.DataFrame({"level": values, "double": 2 * values}, index=days).drop(days[20]))
        known.append(pd.DataFrame({"push": inputs[:, 0]}, index=days))
    model = StateSpaceGP(**SMALL | {"max_iter": 9}).fit(frames, inputs=known)
    assert [states.shape for states in model.states_] == [(45, 2), (36, 2)]
    filled = model.impute()
    assert [len(frame) for frame in filled] == [45, 36]
    assert not filled[0].isna().any().any()
    ahead = model.forecast(3, inputs=[np.ones((3, 1)), np.zeros((3, 1))])
    assert [len(each) for each in ahead] == [3, 3]
    assert ahead[0].paths.shape == (500, 3, 2)
    assert ahead[1].to_frame().index[0] == pd.Timestamp("2026-02-06")
    with pytest.raises(ValueError, match="inputs is a list of 1; give one array for each of 2 series"):
        model.forecast(3, inputs=[np.ones((3, 1))])


def test_errors(driven):
    model, values, inputs, _ = driven
    with pytest.raises(ValueError, match="The model was fitted with 1 inputs; give them for the 3 steps"):
        model.forecast(3)
    with pytest.raises(ValueError, match="inputs has 2 rows; 3 are needed"):
        model.forecast(3, inputs=inputs[:2])
    with pytest.raises(ValueError, match="the given series has 2 columns but the series has 1"):
        model.impute(np.ones((5, 2)), inputs[:5])
    with pytest.raises(ValueError, match="inputs has 10 rows; 85 are needed"):
        StateSpaceGP().fit(values, inputs[:10])
    with pytest.raises(ValueError, match="series is constant in column 0"):
        StateSpaceGP().fit(np.ones(30))
    with pytest.raises(ValueError, match="series 1 is constant in column 0"):
        StateSpaceGP().fit([values, np.ones(30)])
    with pytest.raises(ValueError, match="'n_states' parameter"):
        StateSpaceGP(n_states=0).fit(values)
