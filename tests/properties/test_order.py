"""The order of rows and columns does not matter: fits happen in an order of their own, so the digits are the same.

Columns that hold the same values, in standard units, are left out of random tables: some of these cannot be told apart.
So are rows that are equal and have holes, which get different draws, but not each its own.
"""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from semigp import BayesianGPLVM, GPImputer, SemiDescribedGPRegressor, SemiSupervisedGPClassifier

from .tables import rows, some

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
forms = st.sampled_from(["gaussian", "mixture", "particles"])
seeds = st.integers(0, 2**32 - 1)


def _shuffled(table, seed, *others):
    """Locations of rows and columns."""
    lacking = np.isnan(table.X).any(axis=1)
    assume(len({row.tobytes() for row in np.column_stack([table.X, *others])[lacking]}) == lacking.sum())
    assume(all(np.nanmax(column) > np.nanmin(column) for column in table.X.T))
    standard = (table.X - np.nanmean(table.X, axis=0)) / np.nanstd(table.X, axis=0)
    ordered = np.sort(np.round(standard, 8), axis=0) + 0.0  # two known values are -1 and 1 in any column
    assume(len({column.tobytes() for column in ordered.T}) == table.X.shape[1])
    random = np.random.default_rng(seed)
    return random.permutation(len(table.X)), random.permutation(table.X.shape[1])


@some
@given(rows(scales=False), forms, seeds)
def test_regression(table, form, seed):
    order, columns = _shuffled(table, seed, table.y)

    def fit(X, y):
        options = {"n_inducing": 8, "n_draws": 2, "max_iter": 20, "random_state": 0, "posterior": form}
        return SemiDescribedGPRegressor(**options).fit(X, y)

    model, other = fit(table.X, table.y), fit(table.X[np.ix_(order, columns)], table.y[order])
    asked = np.concatenate([table.X, table.complete])
    for one, two in zip(model.predict(asked, True), other.predict(asked[:, columns], True), strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-10, atol=1e-10 * np.abs(table.y).max())
    np.testing.assert_allclose(other.relevance_, model.relevance_[columns], rtol=1e-10)
    for one, two in zip(model.impute(return_std=True), other.impute(return_std=True), strict=True):
        np.testing.assert_allclose(two, one[np.ix_(order, columns)], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("form", ["gaussian", "mixture"])
def test_a_latin_hypercube(form):
    """All columns hold the same values, up to units: neither order nor units decide."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.permutation(30) for _ in range(3)]) / 4.0
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] - 0.1 * X[:, 2] + 0.1 * random.normal(size=30)
    X[::4, 2] = np.nan
    X[1::4, 1] = np.nan

    def predicted(columns, factors):
        options = {"n_inducing": 8, "n_draws": 2, "max_iter": 20, "random_state": 0, "posterior": form}
        table = (X * factors)[:, columns]
        return SemiDescribedGPRegressor(**options).fit(table, y).predict(table)

    expected = predicted([0, 1, 2], [1.0, 1.0, 1.0])
    np.testing.assert_allclose(predicted([2, 0, 1], [1.0, 1.0, 1.0]), expected, rtol=1e-10)
    np.testing.assert_allclose(predicted([0, 1, 2], [1.0, 4.0, 0.25]), expected, rtol=1e-10)
    np.testing.assert_allclose(predicted([1, 2, 0], [3.28084, 1.0, 2.54]), expected, rtol=1e-7)


def test_a_factorial_design():
    """Columns and rows hold the same values throughout: outputs tell them apart, then error bars."""
    random = np.random.default_rng(0)
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=3)) * 3)
    y = X @ [1.0, 0.5, -0.3] + 0.1 * random.normal(size=24)
    y[8:16], error = y[:8], 0.1 + random.random(X.shape)

    def fit(order, columns):
        model = SemiDescribedGPRegressor(8, max_iter=20, random_state=0)
        return model.fit(X[np.ix_(order, columns)], y[order], X_std=error[np.ix_(order, columns)])

    columns = np.array([2, 0, 1])
    expected = fit(np.arange(24), np.arange(3)).predict(X)
    found = fit(random.permutation(24), columns).predict(X[:, columns])
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@some
@given(rows(scales=False), seeds)
def test_imputation(table, seed):
    order, columns = _shuffled(table, seed)
    model = GPImputer(2, random_state=0).fit(table.X)
    other = GPImputer(2, random_state=0).fit(table.X[np.ix_(order, columns)])
    for one, two in zip(model.impute(return_std=True), other.impute(return_std=True), strict=True):
        np.testing.assert_allclose(two, one[np.ix_(order, columns)], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(other.transform(table.X[:, columns]), model.transform(table.X)[:, columns], atol=1e-10)


def _clusters():
    random = np.random.default_rng(0)
    labels = np.arange(40) % 2
    X = 3.0 * labels[:, None] + random.normal(size=(40, 4))
    X[::7, 1] = np.nan
    return X, np.where(np.arange(40) < 16, labels, -1), random.permutation(40), np.array([2, 0, 3, 1])


@pytest.mark.parametrize("back_constrained", [False, True])
def test_embedding(back_constrained):
    """Whole numbers, so that many rows are as near as others. 1e-5 promised."""
    X, _, order, columns = _clusters()
    options = {"max_iter": 30, "random_state": 0, "back_constrained": back_constrained}
    X = np.round(X)
    model = BayesianGPLVM(2, **options).fit(X)
    other = BayesianGPLVM(2, **options).fit(X[np.ix_(order, columns)])
    np.testing.assert_allclose(other.embedding_, model.embedding_[order], atol=1e-6)
    np.testing.assert_allclose(other.impute(), model.impute()[np.ix_(order, columns)], atol=1e-6)
    np.testing.assert_allclose(other.transform(X[:, columns]), model.transform(X), atol=1e-5)


def test_classes():
    X, labels, order, columns = _clusters()
    options = {"max_iter": 30, "random_state": 0}
    model = SemiSupervisedGPClassifier(2, **options).fit(X, labels)
    other = SemiSupervisedGPClassifier(2, **options).fit(X[np.ix_(order, columns)], labels[order])
    np.testing.assert_allclose(other.predict_proba(X[:, columns]), model.predict_proba(X), atol=1e-6)
