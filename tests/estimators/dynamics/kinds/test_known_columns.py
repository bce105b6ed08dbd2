"""Regressions beside the states. Oracles: columns that are functions of other columns, and of which series it is."""

import numpy as np
import pytest

from semigp.estimators.dynamics.kinds import known_columns
from semigp.estimators.dynamics.kinds.known_columns import Steps, with_regressions

T, NOISE, OFFSET = 50, 0.05, 1.0
HIDDEN = np.ix_(np.arange(25, T), [2, 3])


def made(random, offset):
    """Two known columns, a third that depends on them, and a fourth on how fast they change, shifted by an offset."""
    phase = np.arange(T) * random.uniform(0.15, 0.25) + 6 * random.random()
    columns = [np.sin(phase), np.sin(1.7 * phase), np.sin(phase) * np.sin(1.7 * phase) + offset, np.cos(phase) + offset]
    return np.column_stack(columns) + NOISE * random.normal(size=(T, 4)) * [0, 0, 1, 1]


@pytest.fixture
def series(random):
    """Six series with offsets of their own, and what is asked: the offset of the last shows in its first half."""
    training = [made(random, OFFSET * (-1) ** k) for k in range(6)]
    truth = made(random, 2 * OFFSET)
    given = truth.copy()
    given[HIDDEN] = np.nan
    return training, truth, given


def ignorant(given):
    """States that know nothing."""
    return np.zeros(given.shape), np.full(given.shape, 1e4)


def test_missing_columns_follow_from_known_ones_and_from_the_offset_of_the_series(series):
    """Errors are near the noise. That needs changes (for the fourth column) and the series' own offset."""
    training, truth, given = series
    mean, variance = with_regressions(given, ignorant(given), Steps.of(training, training))
    error = (mean - truth)[HIDDEN]
    assert np.sqrt(np.mean(error**2)) < 3 * NOISE < 0.2 * OFFSET
    # 50 values whose errors are correlated: 95 % intervals hold at least 80 %, and are not ten times too wide.
    assert np.mean(np.abs(error) < 1.96 * np.sqrt(variance[HIDDEN])) >= 0.8
    assert np.sqrt(np.mean(variance[HIDDEN])) < 10 * NOISE


def test_sure_states_are_believed(series):
    training, truth, given = series
    mean, variance = with_regressions(given, (truth, np.full(truth.shape, 1e-8)), Steps.of(training, training))
    # The weight of the GPs is their precision over that of the states, at most 1e-8 / variance with variance > 1e-4.
    np.testing.assert_allclose(mean[HIDDEN], truth[HIDDEN], atol=1e-3)
    assert np.all(variance[HIDDEN] < 1e-4)


def test_what_regressions_cannot_know_is_left_to_the_states(series):
    """Steps at which nothing is known, and columns that are hardly ever known in training."""
    training, _, given = series
    given[40:] = np.nan
    states = np.full(given.shape, 0.5), np.full(given.shape, 2.0)
    for each in training:
        each[1:, 3] = np.nan  # six values are left
    filled = [np.where(np.isnan(each), 0.0, each) for each in training]
    for found, said in zip(with_regressions(given, states, Steps.of(training, filled)), states, strict=True):
        np.testing.assert_array_equal(found[40:], said[40:])
        np.testing.assert_array_equal(found[:, 3], said[:, 3])
        assert np.all(found[25:40, 2] != said[25:40, 2])


def test_gaps_of_training_series_do_not_make_it_sure(series, random):
    """Values that the states have filled in are no evidence of small errors, even if they are all 0."""
    training, truth, given = series
    for each in training:
        each[random.random(T) < 0.5, 2] = np.nan
    filled = [np.where(np.isnan(each), 0.0, each) for each in training]
    mean, variance = with_regressions(given, ignorant(given), Steps.of(training, filled))
    error = (mean - truth)[25:, 2]
    assert np.sqrt(np.mean(error**2 / variance[25:, 2])) < 2.0


def test_changes_are_slopes():
    """Of a straight line, at its ends too; a single step does not change."""
    line = np.arange(9.0)[:, None] * [1.0, -2.0]
    np.testing.assert_allclose(known_columns._changes(line), np.tile([1.0, -2.0], (9, 1)), rtol=1e-12)
    np.testing.assert_array_equal(known_columns._changes(line[:1]), 0.0)


def test_patterns_that_last_come_first(monkeypatch):
    given = np.zeros((9, 3))
    given[0] = given[1, 0] = given[2:5, 1] = given[5:7, ::2] = np.nan
    found = [(missing.tolist(), steps.tolist()) for missing, steps in known_columns._patterns(given)]
    expected = [([False, True, False], [2, 3, 4]), ([True, False, True], [5, 6]), ([True, False, False], [1])]
    assert found == expected
    monkeypatch.setattr(known_columns, "_MOST_PATTERNS", 1)
    assert len(list(known_columns._patterns(given))) == 1
