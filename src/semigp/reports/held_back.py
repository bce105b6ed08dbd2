"""What a model says of rows that it has not seen: copies of it are fitted to the other rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from ..estimators.common.sklearn_private import take_rows
from ..frames import moments_of

_FOLDS = 4
_MOST_ROWS = 1000  # that take part
_SECONDS = 20.0  # no fold begins that would end later


@dataclass(frozen=True)
class HeldBack:
    """Truths (k, p) of rows that were held back, with mean and standard deviation of their predictions."""

    rows: np.ndarray  # numbers of the rows in the table
    truth: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    guess: np.ndarray  # the mean of the rows that were learned from

    @property
    def residuals(self) -> np.ndarray:
        """(truth - mean)/std."""
        return (self.truth - self.mean) / self.std


def cross_validated(model: Any, X: Any, y: Any, X_std: Any = None) -> HeldBack:
    """Predictions of rows in folds. With many rows a sample takes part, and perhaps not all folds are reached."""
    outputs = np.asarray(y, float).reshape(len(y), -1)
    known = np.flatnonzero(~np.isnan(outputs).all(axis=1))
    if len(known) < 2 * _FOLDS:
        raise ValueError(f"There are {len(known)} rows with a known output; {2 * _FOLDS} are needed to hold some back.")
    rows = np.sort(np.random.default_rng(0).choice(known, min(_MOST_ROWS, len(known)), replace=False))
    folds = KFold(_FOLDS, shuffle=True, random_state=0)
    started, parts = time.perf_counter(), []
    for number, (train, test) in enumerate(folds.split(rows)):
        spent = time.perf_counter() - started
        if number and spent * (number + 1) / number > _SECONDS:
            break
        parts.append(_fold(model, X, outputs, X_std, rows[train], rows[test]))
    return HeldBack(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _fold(model: Any, X: Any, y: np.ndarray, X_std: Any, train: np.ndarray, test: np.ndarray) -> tuple:
    copy = clone(model).set_params(verbose=False, callback=None)
    bars = (None, None) if X_std is None else (np.asarray(X_std)[train], np.asarray(X_std)[test])
    told = {} if X_std is None else {"X_std": bars[1]}
    learned = y[train][:, 0] if y.shape[1] == 1 else y[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy.fit(take_rows(X, train), learned, *([] if X_std is None else [bars[0]]))
        mean, std = moments_of(copy.predict(take_rows(X, test), return_std=True, **told))
    return test, y[test], mean, std, np.broadcast_to(np.nanmean(y[train], axis=0), mean.shape)
