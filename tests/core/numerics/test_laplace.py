"""Laplace's approximation against scikit-learn's binary one, its definition, and finite differences."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from semigp.core.numerics import laplace

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(20, 3))
COVARIANCE = 30.0 * RBF(1.5)(ROWS) + 1e-6 * np.eye(20)
CLASSES = np.digitize(ROWS[:, 0] + 0.5 * RANDOM.normal(size=20), [-0.5, 0.5])
LABELS = np.eye(3)[CLASSES]
WEIGHTS = RANDOM.uniform(0.5, 2.0, 20)


def test_two_classes_are_scikit_learns_classifier():
    """The difference of two functions with covariance K has covariance 2 K; evidence and mode to 1e-5."""
    classes = (CLASSES > 0).astype(int)
    kernel = ConstantKernel(60.0) * RBF(1.5)
    theirs = GaussianProcessClassifier(kernel, optimizer=None, max_iter_predict=1000).fit(ROWS, classes)
    ours = laplace.evidence(30.0 * RBF(1.5)(ROWS), np.eye(2)[classes], np.ones(20))
    np.testing.assert_allclose(ours.value, theirs.log_marginal_likelihood_value_, atol=1e-5)
    probabilities = softmax(30.0 * RBF(1.5)(ROWS) @ ours.coefficients, axis=1)[:, 1]
    np.testing.assert_allclose(classes - probabilities, ours.coefficients[:, 1], atol=1e-4)


def test_the_mode_and_the_evidence_are_as_defined():
    """A = w (Y - P) at the mode, to 1e-4 (where steps end); the determinant of all classes at once, 1e-6."""
    found = laplace.evidence(COVARIANCE, LABELS, WEIGHTS)
    values = COVARIANCE @ found.coefficients
    P = softmax(values, axis=1)
    np.testing.assert_allclose(found.coefficients, WEIGHTS[:, None] * (LABELS - P), atol=1e-4)
    D = np.diag((WEIGHTS[:, None] * P).T.ravel())
    outer = np.block([[np.diag(WEIGHTS * P[:, c] * P[:, d]) for d in range(3)] for c in range(3)])
    determinant = np.linalg.slogdet(np.eye(60) + np.kron(np.eye(3), COVARIANCE) @ (D - outer))[1]
    likelihood = WEIGHTS @ np.log(P[np.arange(20), CLASSES])
    expected = likelihood - 0.5 * np.sum(found.coefficients * values) - 0.5 * determinant
    np.testing.assert_allclose(found.value, expected, atol=1e-6)


def test_the_slope_in_the_covariance():
    """Central differences along a covariance, the mode found anew; 1e-4 of the slope."""
    direction = RBF(0.7)(ROWS)
    slope = np.sum(laplace.evidence(COVARIANCE, LABELS, WEIGHTS).slope * direction)
    up, down = (laplace.evidence(COVARIANCE + step * direction, LABELS, WEIGHTS).value for step in (1e-2, -1e-2))
    np.testing.assert_allclose(slope, (up - down) / 2e-2, rtol=1e-4)


@pytest.mark.parametrize("start", [None, 100.0 * (LABELS - 1 / 3)])
def test_the_start_does_not_matter(start):
    """The objective is concave; a start that is worse than none is not used. 1e-4."""
    expected = laplace.mode(COVARIANCE, LABELS, WEIGHTS)
    np.testing.assert_allclose(laplace.mode(COVARIANCE, LABELS, WEIGHTS, start), expected, atol=1e-4)


def test_many_rows_have_the_same_mode(monkeypatch):
    """The other way to the mode, for more than 500 rows; 1e-3, where L-BFGS ends."""
    expected = laplace.mode(COVARIANCE, LABELS, WEIGHTS)
    monkeypatch.setattr(laplace, "_MOST_ROWS", 10)
    np.testing.assert_allclose(laplace.mode(COVARIANCE, LABELS, WEIGHTS), expected, atol=1e-3)
