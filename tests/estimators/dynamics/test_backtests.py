"""Scores from several origins. The oracle is a forecast from there, by a model that repeats the last value."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from semigp.estimators.dynamics.backtests import backtest
from semigp.series import Forecast, read_series


class Repeated(BaseEstimator):
    """The last value plus the input, with noise."""

    def fit(self, series, inputs=None):
        self.values_, self.timeline_ = read_series(series)
        self.is_driven_ = inputs is not None
        assert inputs is None or len(inputs) == len(series)
        return self

    def forecast(self, steps, inputs=None):
        assert (inputs is not None) == self.is_driven_
        mean = self.values_[-1, 0] + (np.zeros(steps) if inputs is None else inputs[:, 0])
        paths = mean[None, :, None] + np.linspace(-1, 1, 20)[:, None, None]
        return Forecast.from_paths(paths, self.timeline_, self.values_)


@pytest.mark.parametrize("is_driven", [True, False])
def test_scores_are_those_of_separate_fits(random, is_driven):
    inputs = random.normal(size=(30, 1 if is_driven else 0))
    values, timeline = read_series(random.normal(size=30))
    found = backtest(Repeated(), values, inputs, timeline, 6, 3, 2)
    assert [row["origin"] for row in found] == [15, 19, 24]
    for row, origin in zip(found, (15, 19, 24), strict=True):
        before, ahead = (inputs[:origin], inputs[origin : origin + 6]) if is_driven else (None, None)
        forecast = Repeated().fit(values[:origin, 0], before).forecast(6, ahead)
        assert row == {"origin": origin, **forecast.score(values[origin : origin + 6, 0], season=2)}


def test_horizon_that_is_too_long():
    values, timeline = read_series(np.arange(10.0))
    with pytest.raises(ValueError, match="A horizon of 6 leaves no room in the second half of 10 steps"):
        backtest(Repeated(), values, np.zeros((10, 0)), timeline, 6, 2, 1)
