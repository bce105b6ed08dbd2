"""Small fitted models of every kind, and what they were fitted to."""

import numpy as np
import pandas
from sklearn.datasets import load_digits

from semigp import GPForecaster, GPImputer, SemiDescribedGPRegressor, SemiSupervisedGPClassifier
from semigp.comparison import Comparison

NASTY = "<script>alert(1)</script>"


def table(n=60):
    """Numbers, a category and a key, with holes; one column has a name that a page must not run."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, n))
    frame = pandas.DataFrame({"a": a, NASTY: a + 0.3 * b, "kind": np.where(a > 0, "red", "blue")})
    y = pandas.Series(np.sin(a) + b + 0.1 * random.normal(size=n), name="price")
    y[7] += 20.0
    frame = frame.mask(random.random(frame.shape) < 0.15)
    return frame.assign(key=[f"P{i:03d}" for i in range(n)]), y


def regression():
    frame, y = table()
    return SemiDescribedGPRegressor(n_draws=3, random_state=0).fit(frame, y), {"X": frame, "y": y}


def imputation():
    frame, _ = table(150)
    return GPImputer(random_state=0).fit(frame), {"X": frame}


def forecast():
    series = pandas.Series(
        np.sin(np.arange(80) / 2.0) + 0.1 * np.random.default_rng(0).normal(size=80),
        pandas.date_range("2024-01-01", periods=80), name="sold",
    )  # fmt: skip
    series.iloc[30:33] = np.nan
    return GPForecaster(random_state=0).fit(series), {}


def classification():
    X, classes = load_digits(n_class=3, return_X_y=True)
    y = np.full(90, -1)
    y[:15] = classes[:15]
    return SemiSupervisedGPClassifier(3, random_state=0).fit(X[:90], y), {"X": X[:90], "y": y}


def comparison():
    records = [
        {"way": way, "split": split, "RMSE": value + split / 10, "seconds": 1.0}
        for way, value in (("semigp", 1.0), (NASTY, 2.0))
        for split in range(2)
    ]
    frame, y = table()
    return Comparison("a table", ("RMSE",), records, {"trees": "there are none."}), {"X": frame, "y": y}


KINDS = {each.__name__: each for each in (regression, imputation, forecast, classification, comparison)}
