"""Tables without holes. Oracles: what the regressor imputes, and the inputs that are known."""

import numpy as np
import pytest

from semigp import SemiDescribedGPRegressor
from semigp.estimators.deep.complete_tables import complete_tables, input_moments

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def rows(random):
    X = random.normal(size=(30, 2))
    return X, X[:, 0] + np.sin(X[:, 1])


def test_without_holes_there_is_one_table(rows, random):
    model = SemiDescribedGPRegressor(max_iter=5, random_state=0).fit(*rows)
    (table,) = complete_tables(model._components, model._table.targets, random)
    np.testing.assert_array_equal(table.inputs, model._table.inputs)
    np.testing.assert_array_equal(table.targets, model._table.targets)


def test_particles_are_tables(rows, random):
    X, y = rows
    X[:5, 0], y[7] = np.nan, np.nan
    model = SemiDescribedGPRegressor(n_draws=3, random_state=0).fit(X, y)
    tables = complete_tables(model._components, model._table.targets, random)
    assert [table.inputs.shape for table in tables] == [(29, 2)] * 3
    assert not np.isnan(tables[0].targets).any()


def test_moments_of_error_bars(rows):
    """Mean and variance of q(x) of rows with error bars and of certain rows, as `impute` tells them."""
    X, y = rows
    bars = np.where(np.arange(30)[:, None] < 10, 0.2, 0.0) * np.ones((1, 2))
    model = SemiDescribedGPRegressor(max_iter=10, random_state=0).fit(X, y, X_std=bars)
    mean, variance = input_moments(model._components[0], 30)
    found = model._x_units.natural_moments(mean, variance)
    for mine, theirs in zip(found, model.impute(return_std=True), strict=True):
        np.testing.assert_allclose(model._arrangement.as_given(mine), theirs, atol=1e-9)


def test_draws_from_error_bars(rows, random):
    X, y = rows
    model = SemiDescribedGPRegressor(max_iter=10, random_state=0).fit(X, y, X_std=np.full(X.shape, 0.2))
    tables = complete_tables(model._components, model._table.targets, random)
    mean, variance = input_moments(model._components[0], 30)
    scores = np.stack([(table.inputs - mean) / np.sqrt(variance) for table in tables])
    assert len(tables) == 15
    assert abs(scores.mean()) < 5 / np.sqrt(scores.size)
    assert abs(scores.var() - 1.0) < 5 * np.sqrt(2 / scores.size)
