"""What notebooks show of fitted estimators, forecasts and reports of fits."""

import numpy as np
import pandas
import pytest

from semigp import GPForecaster, SemiDescribedGPRegressor
from semigp.estimators.common.notebook import summary_html


@pytest.fixture(scope="module")
def regressor():
    random = np.random.default_rng(0)
    frame = pandas.DataFrame({"<b>": random.normal(size=30), "c": random.normal(size=30)})
    frame.loc[3, "c"] = np.nan
    frame["key"] = [f"k{i}" for i in range(30)]
    with pytest.warns(UserWarning, match="left out"):
        return SemiDescribedGPRegressor(n_draws=2, random_state=0).fit(frame, frame["<b>"] * 2.0)


def test_a_fitted_estimator_tells_how_it_was_fitted(regressor):
    shown = regressor._repr_mimebundle_()["text/html"]
    assert "converged. All draws were made." in shown
    assert "&lt;b&gt; 1.00" in shown
    assert "key: nearly every value is different" in shown
    assert "sk-" in shown  # scikit-learn's diagram is still there


def test_an_estimator_that_is_not_fitted_has_nothing_to_tell():
    assert summary_html(SemiDescribedGPRegressor()) == ""


def test_a_forecast_is_a_table_of_its_first_steps():
    series = pandas.Series(np.sin(np.arange(40.0)), pandas.date_range("2024-01-01", periods=40), name="<sold>")
    forecast = GPForecaster(window=3, season=None, trend=None, random_state=0).fit(series).forecast(12, n_paths=20)
    shown = forecast._repr_html_()
    assert "Forecast of 12 steps, 20 paths; the first 10" in shown
    assert shown.count("<tr>") == 11
    assert "2024-02-10" in shown
    assert "&lt;sold&gt;" in shown
    assert f"<td>{forecast.mean[0]:.4g}</td>" in shown


def test_the_report_of_a_fit_is_a_table(regressor):
    assert "<tr><th>status</th><td>converged</td></tr>" in regressor.fit_report_._repr_html_()
