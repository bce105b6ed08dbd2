"""A Gaussian fitted to rows with holes."""

import numpy as np
import pytest

from semigp.core.inputs.joint_gaussian import fit_joint_gaussian


def test_joint_gaussian(random):
    """Oracle: the sample moments of complete rows, and of a large sample with a third of its entries missing."""
    covariance = np.array([[1.0, 0.8, 0.1], [0.8, 2.0, -0.3], [0.1, -0.3, 0.5]])
    rows = random.multivariate_normal([1.0, -2.0, 0.5], covariance, 4000)
    complete = fit_joint_gaussian(rows, shrinkage=0.0)
    np.testing.assert_allclose(complete.mean, rows.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(complete.covariance, np.cov(rows.T, bias=True), rtol=1e-10)
    rows[random.random(rows.shape) < 1 / 3] = np.nan
    holes = fit_joint_gaussian(rows, shrinkage=0.0, tolerance=1e-8)
    # standard errors with about 1800 complete pairs are below 0.05
    np.testing.assert_allclose(holes.covariance, covariance, atol=0.2)
    np.testing.assert_allclose(holes.mean, [1.0, -2.0, 0.5], atol=0.15)


def test_joint_gaussian_of_difficult_columns(random):
    rows = random.normal(size=(6, 9))  # more columns than rows
    rows[:, 0], rows[:, 1] = np.nan, 3.0  # nothing known, and constant
    prior = fit_joint_gaussian(rows)
    assert prior.covariance[0, 0] == pytest.approx(1.0)
    assert prior.mean[1] == pytest.approx(3.0)
    assert np.linalg.eigvalsh(prior.covariance)[0] > 0
