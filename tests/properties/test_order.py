"""The order of rows and columns does not matter: fits happen in an order of their own, so the digits are the same.

Columns that hold the same values, each in other rows, cannot be told apart, and are left out here; so are rows that are
equal and have holes, which get different draws, but not each its own.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from semigp import BayesianGPLVM, GPImputer, SemiDescribedGPRegressor, SemiSupervisedGPClassifier

from .tables import rows, some

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
forms = st.sampled_from(["gaussian", "mixture"])
seeds = st.integers(0, 2**32 - 1)


def _shuffled(table, seed, *others):
    """Places of rows and columns."""
    lacking = np.isnan(table.X).any(axis=1)
    assume(len({row.tobytes() for row in np.column_stack([table.X, *others])[lacking]}) == lacking.sum())
    ordered = np.sort(table.X, axis=0)
    assume(len({column.tobytes() for column in ordered.T}) == table.X.shape[1])
    assume(all(np.nanmax(column) > np.nanmin(column) for column in ordered.T))
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
    """New rows start at the nearest training row, by distances that are rounded in another order: 1e-5."""
    X, _, order, columns = _clusters()
    options = {"max_iter": 30, "random_state": 0, "back_constrained": back_constrained}
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
