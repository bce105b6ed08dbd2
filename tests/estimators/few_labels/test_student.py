"""The linear classifier that is taught: scikit-learn's, of all rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from semigp.estimators.few_labels.labels import LabelColumn
from semigp.estimators.few_labels.student import Student

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(60, 3))
LABELLED = np.array([3, 20, 41])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_a_weighted_logistic_regression_that_is_as_sure_as_squared_probabilities(n_classes):
    """scikit-learn's with these weights, of rows in units of their mean length, and the best of 2001 factors; 1e-3."""
    probabilities = RANDOM.dirichlet(np.ones(n_classes), 60)
    column = LabelColumn(LABELLED, np.array([0, 1, n_classes - 1]), n_classes, np.array([0.5, 1.5, 1.0]))
    taught = probabilities.copy()
    taught[LABELLED] = np.eye(n_classes)[column.classes]
    classes, weights = taught.argmax(axis=1), taught.max(axis=1)
    weights[LABELLED] = column.weights
    rows = ROWS / np.sqrt(np.mean(np.sum(ROWS**2, axis=1)))
    regression = LogisticRegression(C=20.0, max_iter=200).fit(rows, classes, sample_weight=weights)
    squares = taught**2 / np.sum(taught**2, axis=1, keepdims=True)

    def scaled(factor):
        powers = regression.predict_proba(rows) ** factor  # the softmax of logits times this factor
        return powers / powers.sum(axis=1, keepdims=True)

    best = min(np.linspace(0.0, 1.0, 2001), key=lambda factor: -np.sum(squares * np.log(scaled(factor))))
    np.testing.assert_allclose(Student(ROWS, probabilities, column).predict(ROWS), scaled(best), atol=1e-3)
    assert 0.0 < best < 1.0


def test_clear_decisions_stay_as_they_are():
    """Teachers who are certain leave the regression alone (a factor of 1), as far as the search is exact: 1e-4."""
    classes = (ROWS[:, 0] + RANDOM.normal(size=60) > 0.0).astype(int)
    column = LabelColumn(LABELLED, classes[LABELLED], 2, np.ones(3))
    unit = np.sqrt(np.mean(np.sum(ROWS**2, axis=1)))
    expected = LogisticRegression(C=20.0, max_iter=200).fit(ROWS / unit, classes).predict_proba(ROWS / unit)
    np.testing.assert_allclose(Student(ROWS, np.eye(2)[classes], column).predict(ROWS), expected, atol=1e-4)


def test_a_class_that_no_row_has_is_impossible():
    probabilities = np.tile([0.1, 0.7, 0.2], (60, 1))
    column = LabelColumn(LABELLED, np.array([0, 1, 1]), 3, np.ones(3))
    found = Student(ROWS, probabilities, column).predict(ROWS)
    np.testing.assert_array_equal(found[:, 2], 0.0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_who_has_seen_one_class_only_has_no_opinion():
    probabilities = np.tile([0.1, 0.7, 0.2], (60, 1))
    column = LabelColumn(LABELLED, np.array([1, 1, 1]), 3, np.ones(3))
    np.testing.assert_allclose(Student(ROWS, probabilities, column).predict(ROWS), 1.0 / 3.0)
