"""Write a model of every kind, and what it predicts, into a folder named after this version: run once per release.

python -m tests.golden.make
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import semigp

HERE = Path(__file__).parent


def models():
    """Small ones, fitted."""
    random = np.random.default_rng(0)
    X = random.normal(size=(24, 2))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=24)
    holes = X.copy()
    holes[::4, 0] = np.nan
    labels = np.where(np.arange(24) < 12, (y > 0).astype(int), -1)
    yield "particles", semigp.SemiDescribedGPRegressor(5, n_draws=3, random_state=0).fit(holes, y)
    yield "mixture", semigp.SemiDescribedGPRegressor(5, posterior="mixture", n_draws=2, **_brief()).fit(holes, y)
    yield "gaussian", semigp.SemiDescribedGPRegressor(5, posterior="gaussian", **_brief()).fit(holes, y)
    yield "standard", semigp.SemiDescribedGPRegressor(5, input_prior="standard", **_brief()).fit(holes, y)
    yield "frame", semigp.SemiDescribedGPRegressor(5, n_draws=3, random_state=0).fit(_frame(holes), y)
    yield "deep", semigp.DeepGPRegressor(2, n_chains=1, n_inducing=5, n_draws=2, **_brief()).fit(holes, y)
    yield "imputer", semigp.GPImputer(2, random_state=0).fit(holes)
    yield "forecaster", semigp.GPForecaster(window=3, **_brief()).fit(_wave(40))
    yield "panel", semigp.GPForecaster(window=3, **_brief()).fit(_panel(), id="shop", time="day", value="sold")
    yield "states", semigp.StateSpaceGP(1, **_brief()).fit(_wave(40))
    yield "sequences", semigp.StateSpaceGP(1, dynamics="time", **_brief()).fit(_sequence())
    yield "latent", semigp.BayesianGPLVM(2, n_inducing=5, **_brief()).fit(np.column_stack([X, y]))
    yield "views", semigp.SharedGPLVM(2, n_inducing=5, **_brief()).fit(_views(holes, y, labels))
    yield "classifier", semigp.SemiSupervisedGPClassifier(random_state=0).fit(holes, labels)
    yield "stream", semigp.StreamingGPRegressor(5, batch_size=12, n_passes=1, random_state=0).fit(holes, y)


def _brief():
    return {"max_iter": 5, "random_state": 0}


def _wave(n):
    return np.sin(np.arange(n) / 2.0) + 0.1 * np.cos(1.7 * np.arange(n))


def _sequence():
    columns = np.column_stack([_wave(30), -_wave(30)])
    columns[10:14, 1] = np.nan
    return columns


def _frame(X):
    """Numbers, words, booleans and dates."""
    days = pd.date_range("2020-01-01", periods=len(X), freq="D")
    words = np.resize(["red", "green", "blue"], len(X))
    return pd.DataFrame({"a": X[:, 0], "colour": words, "is_new": X[:, 1] > 0, "day": days})


def _panel():
    days = pd.date_range("2020-01-01", periods=40, freq="D")
    parts = [pd.DataFrame({"shop": shop, "day": days, "sold": _wave(40) + k}) for k, shop in enumerate("ab")]
    return pd.concat(parts, ignore_index=True)


def _views(X, y, labels):
    return {"inputs": X, "output": y[:, None], "label": np.where(labels < 0, None, np.where(labels == 1, "yes", "no"))}


def ask(model):
    """Numbers that depend on all of it."""
    rows = np.array([[0.3, -0.5], [1.0, np.nan]])
    if isinstance(model, semigp.SharedGPLVM):
        found = [*model.predict({"inputs": rows}, "output", return_std=True)]
        return np.concatenate([np.ravel(each) for each in (*found, model.predict_proba({"inputs": rows}, "label"))])
    if isinstance(model, semigp.StateSpaceGP) and model.dynamics == "time":
        return np.ravel(model.impute(return_std=True))  # of its own gaps; new ones would be searched for, up to 1e-6
    if hasattr(model, "forecast"):
        return _numbers(model.forecast(3))
    if "colour" in getattr(model, "feature_names_in_", ()):
        rows = _frame(rows)
        rows["is_new"] = [True, False]
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows).ravel()
    if hasattr(model, "predict"):
        return np.concatenate(model.predict(rows, return_std=True)).ravel()
    if hasattr(model, "embedding_"):
        return model.embedding_[:3].ravel()
    return model.transform(rows).ravel()


def _numbers(forecast):
    """The means of a forecast, of all series where there are several."""
    parts = [forecast] if hasattr(forecast, "mean") else [forecast[name] for name in forecast]
    return np.concatenate([np.ravel(np.asarray(part.mean)) for part in parts])


def main():
    folder = HERE / semigp.__version__
    folder.mkdir()
    told = {}
    for name, model in models():
        model.save(folder / f"{name}.semigp")
        told[name] = np.asarray(ask(model)).tolist()
    (folder / "expected.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
