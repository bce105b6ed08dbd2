"""What y says."""

import numpy as np
import pytest

from semigp.estimators.few_labels.labels import read_labels

X = np.ones((5, 2))


@pytest.mark.parametrize("y", [["b", None, "a", "b", None], [2, -1, 1, 2, -1], [2.0, np.nan, 1.0, 2.0, np.nan]])
def test_rows_classes_and_back(y):
    labels = read_labels(X, y)
    (column,) = labels.columns
    assert column.rows.tolist() == [0, 2, 3]
    assert column.classes.tolist() == [1, 0, 1]
    assert labels.classes.tolist() == sorted({y[0], y[2]})
    decided = labels.decide([np.array([[0.9, 0.1]] * 5)])
    assert decided.tolist() == [y[2]] * 5
    assert labels.completed(decided).tolist() == [y[0], y[2], y[2], y[0], y[2]]


def test_weights_are_one_on_average_and_none_is_no_label():
    column = read_labels(X, [0, 1, 0, 1, -1], [1.0, 3.0, 0.0, 2.0, 9.0]).columns[0]
    assert column.rows.tolist() == [0, 1, 3]
    np.testing.assert_allclose(column.weights, [0.5, 1.5, 1.0])


def test_several_columns_of_flags():
    y = np.array([[0, 1, -1, 1, 0], [1, -1, 0, 0, 1]]).T
    labels = read_labels(X, y)
    assert [column.rows.tolist() for column in labels.columns] == [[0, 1, 3, 4], [0, 2, 3, 4]]
    completed = labels.completed(np.full((5, 2), 7))
    assert completed.tolist() == [[0, 1], [1, 7], [7, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "requires y to be passed"),
        ([-1] * 5, "y has no label: every row is marked as unlabelled"),
        ([1, 1, -1, -1, 1], "all of one class, 1: label rows of at least two"),
        (["a", "", "b", "a", "b"], "y has a missing label as text"),
        (["a", 1, "b", None, "a"], "y mixes texts and numbers"),
        (np.array([[0, 2]] * 5), "must be 0, 1 or unknown; column 1 has 2"),
    ],
)
def test_what_cannot_be_learned_from(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_labels(X, y)
