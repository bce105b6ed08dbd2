"""What models predict: arrays or frames, and scores on the rows whose outputs are known."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score

import semigp
from semigp import SemiDescribedGPRegressor, SemiSupervisedGPClassifier
from semigp.estimators.common.outputs import PredictsOutputs


class Line(PredictsOutputs, RegressorMixin):
    """y = x ± .5"""

    _y_is_flat = True

    def _output_moments(self, X, X_std):
        mean = np.asarray(X, float)[:, :1]
        return mean, np.full(mean.shape, 0.5)


class TwoLines(Line):
    _y_is_flat, output_names_ = False, ("low", "high")

    def _output_moments(self, X, X_std):
        mean, std = super()._output_moments(X, X_std)
        return np.hstack([mean - 1, mean + 1]), np.hstack([std, 2 * std])


def test_rows_without_an_output_do_not_count():
    """Oracle: scikit-learn's score of the other rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 1))
    y = X[:, 0] + 0.3 * random.normal(size=20)
    weights = random.random(20)
    lost = np.where(np.arange(20) < 5, np.nan, y)
    expected = r2_score(y[5:], X[5:, 0], sample_weight=weights[5:])
    assert Line().score(X, lost, weights) == pytest.approx(expected, abs=1e-12)
    assert Line().set_output(predict="pandas").score(X, lost, weights) == pytest.approx(expected, abs=1e-12)


def test_without_known_rows_there_is_no_score():
    with pytest.raises(ValueError, match="y has 1 rows in which all outputs are known; a score needs 2"):
        Line().score(np.zeros((3, 1)), [1.0, np.nan, np.nan])


def test_frames_of_pandas_keep_the_index():
    X = pd.DataFrame({"a": [1.0, 2.0]}, index=["first", "second"])
    one, two = Line().set_output(predict="pandas"), TwoLines().set_output(predict="pandas")
    pd.testing.assert_series_equal(one.predict(X), pd.Series([1.0, 2.0], X.index, name="y"))
    expected = pd.DataFrame({"y": [1.0, 2.0], "y_std": [0.5, 0.5]}, X.index)
    pd.testing.assert_frame_equal(one.predict(X, return_std=True), expected)
    expected = {"low": [0.0, 1.0], "high": [2.0, 3.0], "low_std": [0.5, 0.5], "high_std": [1.0, 1.0]}
    pd.testing.assert_frame_equal(two.predict(X, return_std=True), pd.DataFrame(expected, X.index))
    assert two.predict(X.to_numpy()).index.tolist() == [0, 1]


def test_frames_of_polars():
    X = np.array([[1.0], [2.0]])
    assert Line().set_output(predict="polars").predict(X).to_list() == [1.0, 2.0]
    found = TwoLines().set_output(predict="polars").predict(X)
    assert found.equals(pl.DataFrame({"low": [0.0, 1.0], "high": [2.0, 3.0]}))


def test_the_choice_can_be_taken_back_and_is_checked():
    model = Line().set_output(predict="pandas")
    np.testing.assert_array_equal(model.set_output(predict="default").predict([[3.0]]), [3.0])
    with pytest.raises(ValueError, match="predict='numpy' is not one of 'default', 'pandas', 'polars'"):
        model.set_output(predict="numpy")
    with pytest.raises(ValueError, match="Line has no transform"):
        model.set_output(transform="pandas")


def test_regressor_keeps_the_choice(tmp_path):
    """In copies and in files; and a report, which needs arrays, can be written."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(30, 2)), columns=["a", "b"], index=[f"r{i}" for i in range(30)])
    y = (X["a"] + X["b"] ** 2).rename("out")
    model = SemiDescribedGPRegressor(random_state=0).set_output(predict="pandas").fit(X, y)
    assert model.predict(X.iloc[:2], return_std=True).columns.tolist() == ["out", "out_std"]
    assert clone(model).fit(X, y).predict(X.iloc[:2]).index.tolist() == ["r0", "r1"]
    model.save(tmp_path / "model")
    pd.testing.assert_series_equal(semigp.load(tmp_path / "model").predict(X), model.predict(X))
    assert semigp.report(model, tmp_path / "report.html", X, y).exists()


def test_classifier_has_frames_of_classes_and_probabilities():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(40, 3)) + np.repeat([[0.0], [4.0]], 20, axis=0), index=np.arange(40) + 100)
    y = pd.Series([None] * 40, index=X.index, name="kind", dtype=object)
    y.iloc[[0, 1, 2, 37, 38, 39]] = ["a"] * 3 + ["b"] * 3
    model = SemiSupervisedGPClassifier(n_components=2, max_iter=20, random_state=0).fit(X, y)
    classes, probabilities = model.predict(X), model.predict_proba(X)
    model.set_output(predict="pandas")
    pd.testing.assert_series_equal(model.predict(X), pd.Series(classes, X.index, name="kind"))
    pd.testing.assert_frame_equal(model.predict_proba(X), pd.DataFrame(probabilities, X.index, ["a", "b"]))
    assert model.score(X, y) == 1.0
