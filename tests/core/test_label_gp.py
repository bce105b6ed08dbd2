"""The GP on labels against refits without each row."""

import numpy as np
import scipy.optimize
from sklearn.metrics.pairwise import euclidean_distances

from semigp.core import label_gp
from semigp.core.label_gp import CovariancePart, LabelGP

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(14, 3))
LABELS = np.eye(2)[(ROWS[:, 0] > 0).astype(int)] - 0.5
WEIGHTS = RANDOM.uniform(0.5, 2.0, 14)


def parts(rows, others):
    square = euclidean_distances(rows, others, squared=True)
    return [CovariancePart(np.exp(-np.sqrt(square)), False), CovariancePart(square / 3.0, True)]


def test_labels_left_out_are_those_of_a_gp_without_them():
    """The same hyperparameters on the other thirteen rows; 1e-8."""
    gp = LabelGP(parts(ROWS, ROWS), LABELS, WEIGHTS)
    for left in range(14):
        kept = np.arange(14) != left
        covariance = sum(label_gp.covariances(parts(ROWS[kept], ROWS[kept]), gp._parameters))
        covariance += np.diag(np.exp(gp._parameters[-1]) / WEIGHTS[kept] + label_gp._jitter(gp._parameters, 2))
        cross = sum(label_gp.covariances(parts(ROWS[[left]], ROWS[kept]), gp._parameters))
        np.testing.assert_allclose(gp.left_out[[left]], cross @ np.linalg.solve(covariance, LABELS[kept]), atol=1e-8)


def test_the_hyperparameters_are_at_a_mode(monkeypatch):
    """The loss that L-BFGS was given has the gradient it was given: finite differences, 1e-5."""
    seen = {}
    minimize = scipy.optimize.minimize

    def spy(loss, start, **options):
        seen["loss"], seen["start"] = loss, start
        return minimize(loss, start, **options)

    monkeypatch.setattr(label_gp.scipy.optimize, "minimize", spy)
    LabelGP(parts(ROWS, ROWS), LABELS, WEIGHTS)
    point = seen["start"] + 0.1
    numeric = scipy.optimize.approx_fprime(point, lambda p: seen["loss"](p)[0], 1e-6)
    np.testing.assert_allclose(seen["loss"](point)[1], numeric, atol=1e-4, rtol=1e-5)


def test_sharpness_is_at_the_mode_of_likelihood_and_prior():
    """A grid of a thousand factors; one row, which likelihood alone would make as sharp as can be."""
    means, classes, weights = np.array([[0.3, -0.3]]), np.array([0]), np.array([2.0])
    factor, value = label_gp.sharpen(means, classes, weights)
    grid = np.linspace(-3.0, 5.0, 1001)
    likelihood = -weights[0] * np.log1p(np.exp(-0.6 * np.exp(grid)))
    prior = -0.5 * ((grid - label_gp._SHARPNESS) / label_gp._SHARPNESS_SPREAD) ** 2
    np.testing.assert_allclose(value, (likelihood + prior).max(), atol=1e-4)
    np.testing.assert_allclose(np.log(factor), grid[np.argmax(likelihood + prior)], atol=0.02)
