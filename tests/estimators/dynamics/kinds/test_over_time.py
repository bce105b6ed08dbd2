"""States over time. Oracles: the paths and functions that made the data, and the contract of every kind of dynamics."""

import numpy as np
import pytest

import semigp
from semigp import StateSpaceGP
from semigp.estimators.dynamics.kinds import over_time
from semigp.estimators.dynamics.kinds.base import Settings

T, P, NOISE = 48, 9, 0.05


def made(random, n_series):
    """Nine nonlinear outputs of two paths, which run at a different pace in every series."""
    slopes, found = random.normal(size=(2, P)), []
    for _ in range(n_series):
        time = np.arange(T) * random.uniform(0.8, 1.2) + 20 * random.random()
        paths = np.column_stack([np.sin(time / 5.0), np.cos(time / 8.0)])
        found.append(np.tanh(paths @ slopes) + NOISE * random.normal(size=(T, P)))
    return found


@pytest.fixture(scope="module")
def fitted():
    series = made(np.random.default_rng(0), 5)
    new = series.pop()
    return StateSpaceGP(3, dynamics="time", n_inducing=20, max_iter=60, random_state=0).fit(series), series, new


def test_a_missing_part_of_a_new_series_is_reconstructed(fitted):
    """The error is near the noise, where a straight line over the gap is off by ten times as much."""
    model, _, new = fitted
    given = new.copy()
    given[16:36, :5] = np.nan
    holes = np.isnan(given)
    mean, std = model.impute(given, return_std=True)
    error = np.sqrt(np.mean((mean - new)[holes] ** 2))
    line = given.copy()
    for column in line.T:
        gap = np.isnan(column)
        column[gap] = np.interp(np.flatnonzero(gap), np.flatnonzero(~gap), column[~gap])
    assert error < 3 * NOISE < 0.5 * np.sqrt(np.mean((line - new)[holes] ** 2))
    # 100 values that are missing together: their errors have a common part, so that the share varies.
    assert np.mean(np.abs(mean - new)[holes] < 1.96 * std[holes]) > 0.7
    np.testing.assert_array_equal(mean[~holes], new[~holes])
    np.testing.assert_array_equal(std[~holes], 0.0)


def test_a_missing_part_of_a_training_series_is_reconstructed(fitted):
    _, series, new = fitted
    given = new.copy()
    given[16:36, :5] = np.nan
    model = StateSpaceGP(3, dynamics="time", n_inducing=20, max_iter=60, random_state=0).fit([*series, given])
    holes = np.isnan(given)
    assert np.sqrt(np.mean((model.impute()[-1] - new)[holes] ** 2)) < 3 * NOISE


def test_where_nothing_is_known_of_a_training_series_it_is_not_sure(fitted):
    """Twenty steps without a value. With q(x) as narrow there as elsewhere, errors were 2.5 standard deviations."""
    _, series, new = fitted
    given = new.copy()
    given[20:40] = np.nan
    model = StateSpaceGP(3, dynamics="time", n_inducing=20, max_iter=60, random_state=0).fit([*series, given])
    mean, std = (each[-1][20:40] for each in model.impute(return_std=True))
    assert np.sqrt(np.mean(((mean - new[20:40]) / std) ** 2)) < 2.0
    assert np.mean(std) < np.std(new)  # nor does it know nothing


def test_a_series_may_lack_a_column_or_hold_it_constant(fitted):
    """What the others show of the column serves: errors near the noise."""
    _, series, new = fitted
    given, still = new.copy(), series[0].copy()
    given[:, 2], still[:, 4] = np.nan, 0.3
    model = StateSpaceGP(3, dynamics="time", n_inducing=20, max_iter=60, random_state=0).fit([*series, given, still])
    mean, std = (each[-2] for each in model.impute(return_std=True))
    assert np.sqrt(np.mean((mean - new)[:, 2] ** 2)) < 3 * NOISE
    assert np.mean(np.abs(mean - new)[:, 2] < 1.96 * std[:, 2]) > 0.7
    with pytest.raises(ValueError, match="series is constant in column 4"):
        StateSpaceGP(3, dynamics="time").fit([still, still])


def test_states_are_smooth_and_belong_to_the_series(fitted):
    model, series, _ = fitted
    assert [states.shape for states in model.states_] == [(T, 3)] * len(series)
    assert all(np.all(std > 0) for std in model.states_std_)
    outputs = [np.concatenate([np.ones((T, 1)), states, states**2, states**3], axis=1) for states in model.states_]
    rest = np.linalg.lstsq(np.concatenate(outputs), np.concatenate(series), rcond=None)[1]
    assert np.sqrt(np.sum(rest) / np.concatenate(series).size) < 3 * NOISE  # the outputs are functions of the states


def test_forecasts_go_on_from_the_end(fitted):
    """One step ahead the paths are where the series goes on; far ahead they are as wide as the series itself."""
    model, series, _ = fitted
    forecast = model.forecast(60, n_paths=100)[0]
    last = series[0][-1]
    assert np.sqrt(np.mean((forecast.mean[0] - last) ** 2)) < 0.25
    assert np.all(forecast.std[0] < 0.5 * forecast.std[-1])
    assert 0.5 < np.median(forecast.std[-1] / np.concatenate(series).std(axis=0)) < 1.5


def test_saved_and_loaded(fitted, tmp_path):
    model, _, new = fitted
    model.save(tmp_path / "model")
    given = new.copy()
    given[30:, 2] = np.nan
    np.testing.assert_array_equal(semigp.load(tmp_path / "model").impute(given), model.impute(given))


def test_one_series_with_an_empty_step():
    series = made(np.random.default_rng(1), 1)[0]
    series[10:12] = np.nan
    dynamics = over_time.fit([(series - np.nanmean(series, axis=0))], None, Settings(2, 10, 5, 0))
    ((mean, variance),) = dynamics.complete(None, None)
    assert np.all(np.isfinite(mean))
    assert np.all(variance > 0)


def test_members_differ_in_how_many_states_are_slow():
    assert over_time.slow_states(12, 31) == [9, 4, 2]  # so that members have 12, 7 and 5 states
    assert over_time.slow_states(12, 4) == [3, 1, 0]  # four series differ in three ways
    assert over_time.slow_states(3, 10) == [0]
    assert over_time.slow_states(5, 1) == [0]


def test_members_are_pooled(fitted):
    """Mean and variance of the mixture, and paths of every member."""
    model, _, new = fitted
    (member,) = model._dynamics.members
    twice = over_time.TimeDriven((member, member), model.fit_report_)
    given = [model._units.standard(new)]
    for one, other in zip(member.complete(given)[0], twice._by_states(given)[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert twice.simulate(4, None, 5, np.random.default_rng(0), 0).shape == (5, 4, P)


def test_inputs_are_refused(fitted):
    with pytest.raises(ValueError, match="states are functions of time alone"):
        over_time.fit([np.zeros((5, 2))], [np.zeros((5, 1))], Settings(1, 2, 1, 0))
