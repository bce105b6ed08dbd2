"""Scores of regressors on the rows whose outputs are known."""

import numpy as np
import pytest
from sklearn.base import RegressorMixin

from semigp.estimators.common.scoring import ScoresKnownRows


class Line(ScoresKnownRows, RegressorMixin):
    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_rows_without_an_output_do_not_count():
    """Oracle: scikit-learn's score of the other rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 1))
    y = X[:, 0] + 0.3 * random.normal(size=20)
    weights = random.random(20)
    lost = np.where(np.arange(20) < 5, np.nan, y)
    expected = RegressorMixin.score(Line(), X[5:], y[5:], weights[5:])
    assert Line().score(X, lost, weights) == pytest.approx(expected, abs=1e-12)


def test_without_known_rows_there_is_no_score():
    with pytest.raises(ValueError, match="y has 1 rows in which all outputs are known; a score needs 2"):
        Line().score(np.zeros((3, 1)), [1.0, np.nan, np.nan])
