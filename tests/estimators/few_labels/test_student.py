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
def test_it_is_a_weighted_logistic_regression(n_classes):
    """scikit-learn's with the same weights, of rows in units of their mean length; 1e-10."""
    probabilities = RANDOM.dirichlet(np.ones(n_classes), 60)
    column = LabelColumn(LABELLED, np.array([0, 1, n_classes - 1]), n_classes, np.array([0.5, 1.5, 1.0]))
    classes, weights = probabilities.argmax(axis=1), 0.3 * probabilities.max(axis=1)
    classes[LABELLED], weights[LABELLED] = column.classes, column.weights
    unit = np.sqrt(np.mean(np.sum(ROWS**2, axis=1)))
    expected = LogisticRegression(C=30.0, max_iter=200).fit(ROWS / unit, classes, sample_weight=weights)
    found = Student(ROWS, probabilities, column).predict(ROWS[:10])
    np.testing.assert_allclose(found, expected.predict_proba(ROWS[:10] / unit), atol=1e-10)


def test_one_class_alone_is_certain_and_one_that_no_row_has_is_impossible():
    probabilities = np.tile([0.1, 0.7, 0.2], (60, 1))
    column = LabelColumn(LABELLED, np.array([1, 1, 1]), 3, np.ones(3))
    np.testing.assert_array_equal(Student(ROWS, probabilities, column).predict(ROWS)[0], [0.0, 1.0, 0.0])
    column = LabelColumn(LABELLED, np.array([0, 1, 1]), 3, np.ones(3))
    found = Student(ROWS, probabilities, column).predict(ROWS)
    np.testing.assert_array_equal(found[:, 2], 0.0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
