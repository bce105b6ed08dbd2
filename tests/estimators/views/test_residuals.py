"""A joint Gaussian of residuals with holes: data made with a known covariance."""

import numpy as np
import pytest

from semigp.estimators.views.residuals import Residuals


@pytest.fixture(scope="module")
def made():
    """300 residuals of 8 columns with two factors, the noise of each column .3; a quarter of the entries missing."""
    random = np.random.default_rng(0)
    loadings = random.normal(size=(8, 2))
    rows = random.normal(size=(300, 2)) @ loadings.T + 0.3 * random.normal(size=(300, 8))
    return loadings, rows, np.where(random.random(rows.shape) < 0.25, np.nan, rows)


def test_missing_residuals_are_expected_as_under_the_true_covariance(made):
    """The oracle is the Gaussian from which the rows were drawn: the error is at most a quarter above its own."""
    loadings, rows, holes = made
    found = Residuals.of(holes).expected(holes)
    covariance = loadings @ loadings.T + 0.09 * np.eye(8)
    best = holes.copy()
    for row in best:
        known = ~np.isnan(row)
        pull = np.linalg.solve(covariance[np.ix_(known, known)], row[known])
        row[~known] = covariance[np.ix_(~known, known)] @ pull
    missing = np.isnan(holes)
    assert np.mean((found - rows)[missing] ** 2) < 1.25 * np.mean((best - rows)[missing] ** 2)
    np.testing.assert_array_equal(found[~missing], rows[~missing])


def test_rows_without_any_value_are_expected_at_zero(made):
    _, _, holes = made
    np.testing.assert_allclose(Residuals.of(holes).expected(np.full((2, 8), np.nan)), 0.0, atol=1e-12)
