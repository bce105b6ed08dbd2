"""A regressor with particles, as its user sees it. Oracles: what was hidden, the same model from a file, rows alone."""

import numpy as np
import pandas as pd
import pytest

import semigp
from semigp import SemiDescribedGPRegressor

from ..mixed import mixed_frame

NAN = np.nan


def _problem(n=60):
    """Two inputs that tell nothing about each other; two outputs that tell both; a row of holes; missing outputs."""
    random = np.random.default_rng(0)
    truth = random.normal(size=(n, 2))
    y = np.column_stack([truth.sum(axis=1), np.sin(truth[:, 0]) - truth[:, 1]]) + 0.05 * random.normal(size=(n, 2))
    recorded = np.where(random.random(truth.shape) < 0.2, NAN, truth)
    recorded[3], y[5, 0], y[6] = NAN, NAN, NAN
    test = random.normal(size=(20, 2))
    return truth, recorded, y, test, np.column_stack([test.sum(axis=1), np.sin(test[:, 0]) - test[:, 1]])


@pytest.fixture(scope="module")
def problem():
    return _problem()


@pytest.fixture(scope="module")
def model(problem):
    return SemiDescribedGPRegressor(n_draws=6, random_state=0).fit(problem[1], problem[2])


def test_training_rows(problem, model):
    """Known entries with standard deviation 0; the error of those that outputs tell is below half their spread."""
    truth, recorded, y, _, _ = problem
    assert model.posterior_ == "particles"
    filled, std = model.impute(return_std=True)
    holes = np.isnan(recorded)
    np.testing.assert_array_equal(filled[~holes], recorded[~holes])
    assert not std[~holes].any()
    told = holes & ~np.isnan(y).any(axis=1, keepdims=True) & ~holes.all(axis=1, keepdims=True)
    assert np.sqrt(np.mean((filled - truth)[told] ** 2)) < 0.5 * np.std(truth)


def test_outputs_of_new_rows_help(problem, model):
    """With y the error is less than half, and the standard deviation less."""
    _, _, _, test, y = problem
    holes = test.copy()
    holes[:, 1] = NAN
    without, std_without = model.impute(holes, return_std=True)
    given, std = model.impute(holes, y, return_std=True)
    np.testing.assert_array_equal(given[:, 0], test[:, 0])
    errors = [np.sqrt(np.mean((found - test)[:, 1] ** 2)) for found in (given, without)]
    assert errors[0] < 0.5 * errors[1]
    assert std[:, 1].mean() < std_without[:, 1].mean()
    with pytest.raises(ValueError, match="y was given without X"):
        model.impute(y=y)


def test_predictions(problem, model):
    """Complete rows are predicted to 0.3 of an output of spread 1.3; rows do not depend on their company (1e-9)."""
    _, _, _, test, y = problem
    mean, std = model.predict(test, return_std=True)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.3
    holes = test.copy()
    holes[::2, 0], holes[1] = NAN, NAN
    mean, std = model.predict(holes, return_std=True)
    assert np.all(std > 0)
    for i in range(4):
        alone, alone_std = model.predict(holes[i : i + 1], return_std=True)
        np.testing.assert_allclose(alone[0], mean[i], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(alone_std[0], std[i], rtol=1e-9)
        np.testing.assert_array_equal(model.impute(holes[i : i + 1])[0], model.impute(holes)[i])


def test_far_outside(problem, model):
    """4000 standard deviations out: what is predicted half a standard deviation beyond the known range (1e-9), within
    the range of y. With a linear trend, far beyond it."""
    _, recorded, y, _, _ = problem
    far = np.array([[4000.0, 0.0], [-4000.0, 0.0], [4000.0, NAN]])
    held = model.predict(far)
    assert np.all((held > np.nanmin(y, axis=0)) & (held < np.nanmax(y, axis=0)))
    np.testing.assert_allclose(model.predict(100 * far), held, rtol=1e-9)
    half = np.nanmax(recorded[:, 0]) + 0.5 * np.nanstd(recorded[:, 0])
    np.testing.assert_allclose(model.predict([[half, 0.0]])[0], held[0], rtol=1e-9)
    free = SemiDescribedGPRegressor(n_draws=2, trend="linear", random_state=0).fit(recorded, y).predict(far)
    assert free[0, 0] > 10 * np.nanmax(y)
    assert free[1, 0] < 10 * np.nanmin(y)


def test_files(problem, model, tmp_path):
    """Exactly the same predictions and imputations."""
    _, _, _, test, y = problem
    model.save(tmp_path / "m")
    loaded = semigp.load(tmp_path / "m")
    holes = test.copy()
    holes[::2, 0] = NAN
    for ask in ("predict", "impute"):
        for one, other in zip(*(getattr(m, ask)(holes, return_std=True) for m in (model, loaded)), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.impute(), model.impute())
    np.testing.assert_array_equal(loaded.impute(holes, y), model.impute(holes, y))


@pytest.mark.filterwarnings("ignore:The iteration limit")
def test_error_bars_holes_and_a_latent_column(problem):
    """All finite. A latent column has a posterior in training, and new rows get one from their outputs."""
    _, recorded, y, test, outputs = problem
    X = np.column_stack([recorded, np.full(60, NAN)])
    bars = np.zeros(X.shape)
    bars[:, 0] = 0.1
    model = SemiDescribedGPRegressor(15, n_draws=3, max_iter=30, random_state=0).fit(X, y, X_std=bars)
    assert model.posterior_ == "particles"
    filled, std = model.impute(return_std=True)
    assert np.isfinite(filled).all()
    assert np.all(std[:, 2] > 0)
    assert np.all(std[~np.isnan(recorded[:, 0]), 0] > 0)
    known = ~np.isnan(recorded[:, 1])
    np.testing.assert_array_equal(filled[known, 1], recorded[known, 1])
    new = np.column_stack([test, np.full(20, NAN)])
    new[0, 1] = NAN
    for found in (*model.predict(new, return_std=True, X_std=bars[:20]), *model.impute(new, return_std=True)):
        assert np.isfinite(found).all()
    found, std = model.impute(new, outputs, return_std=True)
    assert np.isfinite(found).all()
    assert np.all(std[:, 2] > 0)
    np.testing.assert_array_equal(found[1:, :2], test[1:])


@pytest.fixture(scope="module")
def mixed():
    truth, holes, y = mixed_frame(80)
    return truth, holes, y, SemiDescribedGPRegressor(n_draws=3, random_state=0).fit(holes, y)


def test_a_frame_of_all_kinds(mixed, tmp_path):
    """The frame comes back with its types and its known entries; a standard deviation for every column that is used;
    predictions explain most of y, are the same from a file, and for rows alone (1e-9)."""
    truth, holes, y, model = mixed
    filled, std = model.impute(return_std=True)
    pd.testing.assert_series_equal(filled.dtypes, holes.dtypes)
    pd.testing.assert_frame_equal(filled.where(holes.notna()), holes.where(holes.notna()), check_dtype=False)
    assert filled.notna().all(axis=None)
    assert list(std.columns) == list(holes.columns)
    assert filled["amount"].min() > 0
    assert np.all(filled["count"] % 1 == 0)
    mean = model.predict(truth)
    assert np.mean((mean - y) ** 2) < 0.3 * np.var(y)
    model.save(tmp_path / "m")
    loaded = semigp.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(holes), model.predict(holes))
    np.testing.assert_allclose(model.predict(holes[:1]), model.predict(holes)[:1], rtol=1e-9)
    assert len(model.relevance_) == 8
    given = model.impute(holes, y)
    pd.testing.assert_series_equal(given.dtypes, holes.dtypes)


@pytest.mark.filterwarnings("ignore:The iteration limit")
def test_a_complete_frame_and_rows_with_holes(mixed):
    """Nothing to draw in training; holes of new rows, in any column, are integrated over, and filled in with levels."""
    truth, holes, y, _ = mixed
    model = SemiDescribedGPRegressor(10, max_iter=50, random_state=0)
    model.fit(truth, y)
    mean, std = model.predict(holes, return_std=True)
    assert np.isfinite(mean).all()
    assert np.all(std > 0)
    filled = model.impute(holes)
    pd.testing.assert_series_equal(filled.dtypes, holes.dtypes)
    assert set(filled["place"]) <= set("vwxyz")
