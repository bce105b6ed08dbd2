"""Tables with holes. The oracle is what was hidden, and scikit-learn's IterativeImputer as the thing to beat."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import semigp
from semigp import GPImputer


@parametrize_with_checks([GPImputer(n_draws=2)])
def test_check(estimator, check):
    check(estimator)


def test_all_checks_are_there():
    assert len(list(estimator_checks_generator(GPImputer()))) >= 40


@pytest.fixture(scope="module")
def tables():
    """Two columns and three curved functions of them: as they were, and with a fifth of the entries hidden."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 150))
    truth = np.column_stack([a, b, np.sin(2 * a), a * b, np.cos(a + b)]) + 0.05 * random.normal(size=(150, 5))
    return truth, np.where(random.random(truth.shape) < 0.2, np.nan, truth)


@pytest.fixture(scope="module")
def fitted(tables):
    return GPImputer(random_state=0).fit(tables[1])


def test_hidden_entries_are_found(tables, fitted):
    """Better by a fifth than linear chained equations, and 95 % intervals hold 90 to 99 % of 150 entries (± 3.6)."""
    truth, table = tables
    holes = np.isnan(table)
    mean, std = fitted.impute(return_std=True)
    error = mean[holes] - truth[holes]
    linear = IterativeImputer(max_iter=30, random_state=0).fit_transform(table)[holes] - truth[holes]
    assert np.sqrt(np.mean(error**2)) < 0.8 * np.sqrt(np.mean(linear**2))
    assert 0.9 < np.mean(np.abs(error) < 1.96 * std[holes]) <= 0.99
    np.testing.assert_array_equal(mean[~holes], table[~holes])
    assert not std[~holes].any()
    draws = fitted.sample()
    assert draws.shape == (10, *table.shape)
    # Ten draws: the error of their mean is std/√10, at most five of those in 150 entries.
    assert np.all(np.abs(draws.mean(axis=0) - mean) <= 5 * std / np.sqrt(10) + 1e-12)


def test_new_rows_do_not_depend_on_their_company(tables, fitted):
    rows = tables[1][:6].copy()
    rows[0] = np.nan  # nothing known at all
    together = fitted.transform(rows)
    alone = np.concatenate([fitted.transform(row[None]) for row in rows])
    np.testing.assert_allclose(together, alone, rtol=1e-8)
    assert np.isfinite(together).all()


def test_frames_pipelines_and_files(tables, fitted, tmp_path):
    frame = pd.DataFrame(tables[1], columns=list("abcde"), index=np.arange(150) + 7)
    model = GPImputer(n_draws=2, random_state=0).fit(frame)
    filled, std = model.impute(return_std=True)
    assert list(filled.columns) == list("abcde")
    assert filled.index.equals(frame.index)
    assert model.set_output(transform="pandas").transform(frame).shape == frame.shape
    np.testing.assert_array_equal(model.get_feature_names_out(), list("abcde"))
    keyed = frame.assign(key=[f"K{i:03d}" for i in range(len(frame))])
    with pytest.warns(UserWarning, match="Columns are left out"):
        names = type(model)(random_state=0).set_output(transform="pandas").fit_transform(keyed).columns
    assert names.tolist() == list("abcde")
    assert isinstance(GPImputer(n_draws=1, random_state=0).fit(pl.from_pandas(frame)).impute(), pl.DataFrame)
    model.save(tmp_path / "m")
    pd.testing.assert_frame_equal(semigp.load(tmp_path / "m").impute(return_std=True)[1], std)
    pipeline = make_pipeline(GPImputer(n_draws=2, random_state=0), LinearRegression())
    assert pipeline.fit(frame, tables[0][:, 2]).score(frame, tables[0][:, 2]) > 0.9


def test_awkward_tables():
    """Constant columns, one column, hardly a value: finite, and a constant stays what it is."""
    random = np.random.default_rng(0)
    table = np.column_stack([random.normal(size=20), np.full(20, 3.0), random.normal(size=20)])
    table[::4] = np.nan
    filled, std = GPImputer(n_draws=2, random_state=0).fit(table).impute(return_std=True)
    np.testing.assert_allclose(filled[:, 1], 3.0)
    assert np.isfinite(filled).all()
    assert np.isfinite(std).all()
    single = GPImputer(n_draws=2, random_state=0).fit(table[:, :1]).impute()
    np.testing.assert_allclose(single[0, 0], np.nanmean(table[:, 0]), atol=0.5)
    with pytest.raises(ValueError, match="Column 'b' has no value"):
        GPImputer().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, np.nan]}))
