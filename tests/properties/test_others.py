"""What holds of the other estimators, whatever the data. `make nightly` takes 500 tables each."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from semigp import BayesianGPLVM, GPForecaster, GPImputer, SemiSupervisedGPClassifier, StreamingGPRegressor

from .tables import rows, some

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.* of the paths ran away"),
]


@st.composite
def series(draw):
    """20 to 60 steps of one or two columns: waves, walks, whole numbers or a single change, with gaps, in any unit."""
    n, d = draw(st.integers(20, 60)), draw(st.integers(1, 2))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["waves", "walk", "whole numbers", "one change"]))
    values = np.sin(np.arange(n)[:, None] * random.uniform(0.2, 1.0, d)) + 0.1 * random.normal(size=(n, d))
    if kind == "walk":
        values = np.cumsum(random.normal(size=(n, d)), axis=0)
    elif kind == "whole numbers":
        values = np.round(3.0 * values)
    elif kind == "one change":
        values[:, 0] = np.arange(n) >= n // 2
    values = 10.0 ** draw(st.integers(-8, 8)) * (values + draw(st.sampled_from([0.0, 1.0, -1e3])))
    gaps = random.random(values.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))
    gaps[[0, -1]] = False
    return np.where(gaps, np.nan, values)


@some
@given(rows())
def test_imputation(table):
    """Finite; what is known stays and is certain, what is not is not; a row as if it were alone."""
    model = GPImputer(2, random_state=0).fit(table.X)
    mean, std = model.impute(return_std=True)
    holes = np.isnan(table.X)
    assert np.isfinite(mean).all()
    np.testing.assert_array_equal(mean[~holes], table.X[~holes])
    assert np.all(std[~holes] == 0)
    varies = np.nanmax(table.X, axis=0) > np.nanmin(table.X, axis=0)
    assert np.all(std[holes & varies] > 0)
    assert np.all(std[:, ~varies] == 0)  # there is no scale
    np.testing.assert_array_equal(mean[:, ~varies], np.tile(np.nanmax(table.X, axis=0), (len(mean), 1))[:, ~varies])
    assert np.isfinite(std).all()
    filled = model.transform(table.X)
    np.testing.assert_allclose(model.transform(table.X[-1:])[0], filled[-1], rtol=1e-9, atol=1e-9 * np.abs(mean).max())
    again = GPImputer(2, random_state=0).fit(table.X).impute()
    np.testing.assert_array_equal(again, mean)


@some
@given(rows(), st.integers(0, 2**32 - 1))
def test_classification(table, seed):
    """Probabilities, of every row and of one that nothing is known of; labels are kept, but for rows of holes only."""
    labels = np.random.default_rng(seed).integers(-1, 3, size=len(table.X))
    labels[np.isnan(table.X).all(axis=1)] = -1
    assume(len(set(labels) - {-1}) > 1)
    assume(len(table.X) > 2)
    model = SemiSupervisedGPClassifier(2, n_inducing=8, max_iter=15, random_state=0)
    model.fit(table.X, labels)
    found = model.predict_proba(np.concatenate([table.X, np.full((1, table.X.shape[1]), np.nan)]))
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    known = labels >= 0
    np.testing.assert_array_equal(model.transduction_[known], labels[known])


@some
@given(rows())
def test_embedding(table):
    """Finite, and no row surer than a point nor less sure than the prior by much; the way back is finite too."""
    assume(len(table.X) > 2)
    model = BayesianGPLVM(2, n_inducing=8, max_iter=15, random_state=0).fit(table.X)
    mean, std = model.transform(table.X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.all((std > 0) & (std < 2))
    assert np.isfinite(model.impute()).all()
    again = BayesianGPLVM(2, n_inducing=8, max_iter=15, random_state=0).fit(table.X)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


@some
@given(series())
def test_forecasts(values):
    """Finite, intervals in order, wider than nothing unless nothing ever changed; the same digits for a seed."""
    model = GPForecaster(window=3, max_iter=15, random_state=0).fit(values)
    forecast = model.forecast(5)
    low, high = forecast.quantile([0.025, 0.975])
    for part in (forecast.mean, forecast.std, low, high):
        assert np.isfinite(np.asarray(part)).all()
    assert np.all(np.asarray(low) <= np.asarray(high))
    again = GPForecaster(window=3, max_iter=15, random_state=0).fit(values).forecast(5)
    np.testing.assert_array_equal(np.asarray(again.mean), np.asarray(forecast.mean))


@some
@given(rows())
def test_streams(table):
    """Finite, no surer than the noise."""
    model = StreamingGPRegressor(8, batch_size=16, n_passes=1, random_state=0).fit(table.X, table.y)
    mean, std = model.predict(np.concatenate([table.X, table.complete]), return_std=True)
    assert np.isfinite(mean).all()
    assert np.all(std >= np.sqrt(model.noise_variance_) * (1 - 1e-9))
