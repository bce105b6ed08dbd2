"""Spikes and jumps. Oracles: where they were put, and series in which all values belong to the pattern."""

import numpy as np
import pytest

from semigp.datasets import make_mackey_glass
from semigp.estimators.forecasting.exceptions import is_spike, shifts


def _walk(seed=0, count=200):
    return np.cumsum(np.random.default_rng(seed).normal(size=count))[:, None]


def _logistic(count=300):
    values = np.full(count, 0.3)
    for t in range(1, count):
        values[t] = 3.97 * values[t - 1] * (1.0 - values[t - 1])
    return values[:, None]


@pytest.mark.parametrize("at", [0, 1, 100, 198, 199])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_spike_is_found(at, sign):
    """Forty standard deviations of a step, in noise and in a walk; a gap next to it does not hide it."""
    for values in (np.diff(_walk(), axis=0, prepend=0.0), _walk()):
        values[at] += 40.0 * sign * np.std(np.diff(values[:, 0]))
        values[90:95] = np.nan
        assert np.flatnonzero(is_spike(values)[:, 0]).tolist() == [at]
        assert not shifts(np.where(is_spike(values), np.nan, values)).any()


def test_spikes_of_a_spiky_series_belong_to_it():
    """Every tenth value, and one in thirty at random: more than 1 % are no exceptions."""
    regular, at_random = np.diff(_walk(1), axis=0, prepend=0.0), np.diff(_walk(2), axis=0, prepend=0.0)
    regular[::10] += 100.0
    at_random[np.random.default_rng(0).random(200) < 1 / 30] += 100.0
    assert not is_spike(regular).any()
    assert not is_spike(at_random).any()


@pytest.mark.parametrize("size", [-60.0, 60.0])
def test_a_jump_of_the_level_is_found_and_is_no_spike(size):
    """Sixty standard deviations of a step; the level before it is moved by as much, to the noise of medians of five."""
    values = np.random.default_rng(0).normal(size=(200, 1))
    jumped = values + size * (np.arange(200)[:, None] >= 120)
    offsets = shifts(jumped)
    assert not is_spike(jumped).any()
    assert (offsets[120:] == 0.0).all()
    np.testing.assert_allclose(offsets[:120], size, atol=4.0)
    assert np.ptp(offsets[:120]) == 0.0
    assert not shifts(values).any()


def test_two_jumps_add_up():
    values = np.random.default_rng(0).normal(size=(300, 1))
    values[100:] += 60.0
    values[200:] -= 100.0
    offsets = shifts(values)[:, 0]
    np.testing.assert_allclose(offsets[[0, 150, 250]], [-40.0, -100.0, 0.0], atol=6.0)


@pytest.mark.parametrize("name", ["logistic", "mackey glass", "walk", "noise", "sine", "square", "counts", "line"])
def test_nothing_is_changed_in_series_that_follow_a_pattern(name):
    random = np.random.default_rng(0)
    values = {
        "logistic": _logistic(),
        "mackey glass": make_mackey_glass(400)[:, None],
        "walk": _walk(count=1000),
        "noise": random.normal(size=(1000, 1)),
        "sine": np.sin(np.arange(300) / 5)[:, None],
        "square": np.sign(np.sin((np.arange(300) + 0.5) / 5))[:, None],
        "line": np.arange(500.0)[:, None],
        "counts": random.poisson(0.5, size=(300, 1)).astype(float),
    }[name]
    assert not is_spike(values).any()
    assert not shifts(values).any()


def test_short_and_constant_series_are_left_alone():
    for values in (np.r_[np.zeros(10), 100.0, np.zeros(10)], np.ones(100), np.r_[np.full(90, np.nan), np.arange(10.0)]):
        assert not is_spike(values[:, None]).any()
        assert not shifts(values[:, None]).any()


def test_columns_are_looked_at_one_by_one():
    values = np.random.default_rng(0).normal(size=(100, 2))
    values[50, 1] += 100.0
    np.testing.assert_array_equal(np.argwhere(is_spike(values)), [[50, 1]])
