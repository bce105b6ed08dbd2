"""Reading a user's y: which rows have a label, and which class it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from ..common.sklearn_private import check_sample_weight

_UNLABELLED = -1


@dataclass(frozen=True)
class LabelColumn:
    """The labelled rows and their classes, as numbers 0, …, n_classes - 1."""

    rows: np.ndarray
    classes: np.ndarray
    n_classes: int
    weights: np.ndarray  # weights of these rows, with mean 1


@dataclass(frozen=True)
class Labels:
    """One column of labels, or several columns of labels that are 0 or 1."""

    classes: np.ndarray
    columns: list[LabelColumn]
    is_multilabel: bool

    def decide(self, probabilities: list[np.ndarray]) -> np.ndarray:
        """The most probable class of every row, as the user named it."""
        best = [np.argmax(each, axis=1) for each in probabilities]
        return np.column_stack(best) if self.is_multilabel else self.classes[best[0]]

    def completed(self, predicted: np.ndarray) -> np.ndarray:
        """Predictions for the training rows, in which known labels replace the predicted ones."""
        completed = predicted.copy()
        for number, column in enumerate(self.columns):
            if self.is_multilabel:
                completed[column.rows, number] = column.classes
            else:
                completed[column.rows] = self.classes[column.classes]
        return completed


def read_labels(X: np.ndarray, y: Any, sample_weight: Any = None) -> Labels:
    """Read the labels of the rows of X. Raises ValueError if there is nothing to learn from."""
    if y is None:
        raise ValueError("SemiSupervisedGPClassifier requires y to be passed, but the target y is None.")
    y = _as_array(y)
    check_consistent_length(X, y)
    weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if y.ndim == 2 and y.shape[1] > 1:
        has_values = ~np.isnan(X).all(axis=1)
        columns = [_indicator_column(y[:, k], k, weights, has_values) for k in range(y.shape[1])]
        return Labels(np.arange(y.shape[1]), columns, True)
    y = column_or_1d(y, warn=True)
    # Nothing can be learned from the label of a row without any value.
    known = is_known(y) & ~np.isnan(X).all(axis=1)
    _check_some_known(known)
    labelled = without_object_type(y[known])
    check_classification_targets(labelled)
    classes, numbers = np.unique(labelled, return_inverse=True)
    column = _column(np.flatnonzero(known), numbers, len(classes), weights)
    if len(np.unique(column.classes)) < 2:
        raise ValueError(
            f"The labelled rows are all of one class, {classes[column.classes[0]]}: label rows of at least two classes"
            " (-1 marks rows without a label, so that no class can be called -1)."
        )
    return Labels(classes, [column], False)


def _column(rows: np.ndarray, classes: np.ndarray, n_classes: int, weights: np.ndarray) -> LabelColumn:
    """A column of labels, without the rows whose weight is 0."""
    used = weights[rows] > 0
    if not used.any():
        raise ValueError("sample_weight is 0 for every labelled row: there is nothing to learn from.")
    rows, classes = rows[used], classes[used]
    return LabelColumn(rows, classes, n_classes, weights[rows] / weights[rows].mean())


def _indicator_column(values: np.ndarray, number: int, weights: np.ndarray, has_values: np.ndarray) -> LabelColumn:
    known = is_known(values) & has_values
    _check_some_known(known, f" in column {number}")
    flags = without_object_type(values[known])
    if not np.isin(flags, [0, 1]).all():
        odd = flags[~np.isin(flags, [0, 1])][0]
        raise ValueError(
            f"y has several columns, therefore its values must be 0, 1 or unknown; column {number} has {odd}."
        )
    return _column(np.flatnonzero(known), flags.astype(int), 2, weights)


def _as_array(y: Any) -> np.ndarray:
    """Labels as an array. Entries of a list keep their types.

    Raises ValueError if y is sparse, or if a text such as "nan" stands for a missing label.
    """
    if hasattr(y, "toarray"):
        raise ValueError("y is sparse; give y.toarray().")
    array = np.asarray(y)
    if array.dtype.kind in "US" and not isinstance(y, np.ndarray):
        array = np.asarray(y, dtype=object)
    texts = (
        array if array.dtype.kind in "US" else np.array([value for value in array.ravel() if isinstance(value, str)])
    )
    if len(texts) and np.isin(texts, ["", "-1", "nan", "None", "<NA>"]).any():
        raise ValueError("y has a missing label as text; mark unlabelled rows by None in an array of dtype object.")
    return array


def is_known(values: np.ndarray) -> np.ndarray:
    """Which labels are known: all but -1, NaN, NaT, None and pandas' NA. Booleans and texts are always known."""
    if values.dtype.kind == "M":
        return ~np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([not _is_missing(value) for value in values], bool)
    if values.dtype.kind == "f":
        return ~np.isnan(values) & (values != _UNLABELLED)
    return values != _UNLABELLED if values.dtype.kind == "i" else np.ones(len(values), bool)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return is_number and bool(value != value or value == _UNLABELLED)


def _check_some_known(known: np.ndarray, where: str = "") -> None:
    if not known.any():
        raise ValueError(f"y has no label{where}: every row is marked as unlabelled (-1, NaN or None).")


def without_object_type(values: np.ndarray) -> np.ndarray:
    """An array of objects as an array of texts or of numbers. Other arrays are returned unchanged."""
    if values.dtype.kind != "O":
        return values
    if len({isinstance(value, str) for value in values}) > 1:
        raise ValueError("y mixes texts and numbers; labels must be of one kind.")
    return np.array(values.tolist())
