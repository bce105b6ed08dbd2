"""The GP on classes: its hyperparameters, and what it predicts."""

import numpy as np
import pytest
import scipy.optimize
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances

from semigp.core import class_gp
from semigp.core.class_gp import ClassGP
from semigp.core.label_gp import CovariancePart

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(14, 3))
LABELS = np.eye(2)[(ROWS[:, 0] > 0).astype(int)]
SIGNALS = (100.0, 10.0)
WEIGHTS = RANDOM.uniform(0.5, 2.0, 14)


def parts(rows, others):
    square = euclidean_distances(rows, others, squared=True)
    return [CovariancePart(np.exp(-np.sqrt(square)), False), CovariancePart(square / 3.0, True)]


def test_the_mode_is_reproduced_at_the_labelled_rows():
    """At a mode, coefficients are weights times (label - probability): 1e-4, where Newton's steps end."""
    gp = ClassGP(parts(ROWS, ROWS), SIGNALS, LABELS, WEIGHTS)
    probabilities = softmax(gp.predict(parts(ROWS, ROWS)), axis=1)
    np.testing.assert_allclose(gp._coefficients, WEIGHTS[:, None] * (LABELS - probabilities), atol=1e-4)


def test_the_hyperparameters_are_at_a_mode(monkeypatch):
    """The loss that L-BFGS was given has the gradient it was given: central differences, 1e-4."""
    seen = {}
    minimize = scipy.optimize.minimize

    def spy(loss, start, **options):
        seen["loss"], seen["start"] = loss, start
        return minimize(loss, start, **options)

    monkeypatch.setattr(class_gp.scipy.optimize, "minimize", spy)
    gp = ClassGP(parts(ROWS, ROWS), SIGNALS, LABELS, WEIGHTS)
    point = seen["start"] + 0.1
    numeric = [
        (seen["loss"](point + step)[0] - seen["loss"](point - step)[0]) / 2e-3 for step in 1e-3 * np.eye(len(point))
    ]
    np.testing.assert_allclose(seen["loss"](point)[1], numeric, atol=1e-4, rtol=1e-4)
    assert gp.evidence == pytest.approx(-seen["loss"](gp._parameters)[0], abs=1e-5)
    assert gp.evidence >= -seen["loss"](seen["start"])[0]


def test_many_labels_are_learned_from_some_of_them(monkeypatch):
    """The hyperparameters come from four rows, the predictions from all fourteen."""
    monkeypatch.setattr(class_gp, "_MOST_ROWS", 4)
    gp = ClassGP(parts(ROWS, ROWS), SIGNALS, LABELS, WEIGHTS)
    assert gp.n_used == 4
    assert gp._coefficients.shape == (14, 2)
    np.testing.assert_array_equal(np.argmax(gp.predict(parts(ROWS, ROWS)), axis=1), np.argmax(LABELS, axis=1))


def test_equal_rows_with_different_labels():
    """A singular covariance and a contradiction: finite, and half the probability for either."""
    rows = np.repeat(ROWS[:1], 6, axis=0)
    gp = ClassGP(parts(rows, rows), SIGNALS, np.eye(2)[[0, 1, 0, 1, 0, 1]], np.ones(6))
    np.testing.assert_allclose(softmax(gp.predict(parts(rows, rows)), axis=1), 0.5, atol=1e-3)
