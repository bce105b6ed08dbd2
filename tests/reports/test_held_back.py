"""Rows that are held back are predicted by a model that has not seen them."""

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from semigp.reports import held_back
from semigp.reports.held_back import cross_validated


class Remembers(RegressorMixin, BaseEstimator):
    """Predicts the output of a row that it has seen, and -1 for other rows."""

    def __init__(self, verbose=False, callback=None):
        self.verbose, self.callback = verbose, callback

    def fit(self, X, y):
        self.seen_ = dict(zip(np.asarray(X)[:, 0].tolist(), y, strict=True))
        return self

    def predict(self, X, return_std=False):
        mean = np.array([self.seen_.get(x, -1.0) for x in np.asarray(X)[:, 0].tolist()])
        return mean, np.ones(len(mean))


def test_every_row_with_an_output_is_predicted_once_and_unseen():
    X, y = pandas.DataFrame({"a": np.arange(40.0)}), np.arange(40.0)
    y[[3, 17]] = np.nan
    found = cross_validated(Remembers(), X, y)
    assert sorted(found.rows) == [i for i in range(40) if i not in (3, 17)]
    assert (found.mean == -1.0).all()
    assert (found.truth[:, 0] == found.rows).all()
    assert (found.residuals[:, 0] == found.rows + 1.0).all()


def test_many_rows_are_sampled_and_time_is_kept(monkeypatch):
    X = np.arange(5000.0)[:, None]
    assert len(cross_validated(Remembers(), X, X[:, 0]).rows) == 1000
    monkeypatch.setattr(held_back, "_SECONDS", 0.0)
    assert len(cross_validated(Remembers(), X, X[:, 0]).rows) == 250


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="3 rows with a known output; 8 are needed"):
        cross_validated(Remembers(), np.zeros((3, 1)), np.zeros(3))
