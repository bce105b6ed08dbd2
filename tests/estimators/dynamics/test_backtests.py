"""Scores from several origins. The oracle is a model that was fitted up to the same origin."""

import numpy as np
import pytest

from semigp import StateSpaceGP

SMALL = {"n_states": 2, "n_inducing": 8, "max_iter": 6, "random_state": 0}


def test_scores_are_those_of_separate_fits(random):
    inputs = random.normal(size=(30, 1))
    series = np.sin(np.arange(30) / 3) + 0.1 * random.normal(size=30) + 0.2 * inputs[:, 0]
    found = StateSpaceGP(**SMALL).backtest(series, 6, 1, inputs=inputs)
    assert [row["origin"] for row in found] == [15]
    forecast = StateSpaceGP(**SMALL).fit(series[:15], inputs[:15]).forecast(6, inputs=inputs[15:21])
    assert found[0] == {"origin": 15, **forecast.score(series[15:21])}


def test_horizon_that_is_too_long():
    with pytest.raises(ValueError, match="A horizon of 6 leaves no room in the second half of 10 steps"):
        StateSpaceGP(**SMALL).backtest(np.arange(10.0), 6)
