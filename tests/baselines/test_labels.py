"""Classifiers to compare with: what each sees of the rows without labels, and the GP against scikit-learn's."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from semigp import baselines


@pytest.fixture(scope="module")
def blobs():
    """Three blobs, 60 rows, every fifth with a label; as strings, -1 would be one of them: numbers 5, 6, 7."""
    rows, classes = make_blobs(90, 4, centers=3, random_state=0)
    y = np.where(np.arange(60) % 5 == 0, classes[:60] + 5, -1)
    return rows[:60], y, rows[60:], classes[60:] + 5


def test_labelled_rows_only(blobs):
    """The same as the classifier on those rows, exactly; no probabilities where it has none."""
    X, y, new, truth = blobs
    model = baselines.LabelledRows(LogisticRegression()).fit(X, y)
    plain = LogisticRegression().fit(X[y >= 0], y[y >= 0])
    np.testing.assert_array_equal(model.predict_proba(new), plain.predict_proba(new))
    assert model.score(new, truth) == plain.score(new, truth)
    voting = baselines.LabelledRows(LinearSVC()).fit(X, y)
    assert not hasattr(voting, "predict_proba")
    np.testing.assert_array_equal(voting.predict(new), LinearSVC().fit(X[y >= 0], y[y >= 0]).predict(new))


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_one_hot_gp(blobs):
    """scikit-learn's GP regression of one-hot labels chooses the same classes in 95 % of the rows."""
    X, y, new, _ = blobs
    model = baselines.OneHotGP().fit(X, y)
    kernel = ConstantKernel() * RBF(3.0) + WhiteKernel(0.1)
    labels = np.eye(3)[y[y >= 0] - 5] - 1 / 3
    means = GaussianProcessRegressor(kernel, random_state=0).fit(X[y >= 0], labels).predict(new)
    assert np.mean(model.predict(new) == means.argmax(axis=1) + 5) >= 0.95
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)


@pytest.mark.parametrize("labelled_only", [False, True])
def test_embedded(blobs, labelled_only):
    """PCA of all rows, or of the labelled ones, then the classifier, exactly."""
    X, y, new, _ = blobs
    model = baselines.Embedded(PCA(2), LogisticRegression(), labelled_only=labelled_only).fit(X, y)
    components = PCA(2).fit(X[y >= 0] if labelled_only else X)
    plain = LogisticRegression().fit(components.transform(X[y >= 0]), y[y >= 0])
    np.testing.assert_allclose(model.predict_proba(new), plain.predict_proba(components.transform(new)))


class _Uncertain(TransformerMixin, BaseEstimator):
    """The rows themselves, with a standard deviation of .5."""

    def fit(self, X, y=None):
        return self

    def transform(self, X, return_std=False):
        return (X, np.full(X.shape, 0.5)) if return_std else X


def test_draws_fill_the_labelled_set(blobs):
    """Fifty draws a row: the classifier's own training set is fifty times as large, with the embedding's spread."""
    X, y, _, _ = blobs

    class Recorder(LogisticRegression):
        def fit(self, X, y):
            self.seen_ = X
            return super().fit(X, y)

    model = baselines.Embedded(_Uncertain(), Recorder(), n_samples=50, random_state=0).fit(X, y)
    seen = model.classifier_.seen_.reshape(50, -1, 4)
    np.testing.assert_allclose(seen.mean(axis=0), X[y >= 0], atol=0.4)
    np.testing.assert_allclose(seen.std(axis=0).mean(), 0.5, atol=0.03)


def test_no_label_at_all(blobs):
    X, _, _, _ = blobs
    with pytest.raises(ValueError, match="every row is -1"):
        baselines.OneHotGP().fit(X, np.full(60, -1))
