"""Write a model of every kind, and what it predicts, into a folder named after this version: run once per release.

python -m tests.golden.make
"""

import json
import warnings
from pathlib import Path

import numpy as np

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
    yield "imputer", semigp.GPImputer(2, random_state=0).fit(holes)
    yield "forecaster", semigp.GPForecaster(window=3, **_brief()).fit(np.sin(np.arange(40.0)))
    yield "latent", semigp.BayesianGPLVM(2, n_inducing=5, **_brief()).fit(np.column_stack([X, y]))
    yield "classifier", semigp.SemiSupervisedGPClassifier(random_state=0).fit(holes, labels)
    yield "stream", semigp.StreamingGPRegressor(5, batch_size=12, n_passes=1, random_state=0).fit(holes, y)


def _brief():
    return {"max_iter": 5, "random_state": 0}


def ask(model):
    """Numbers that depend on all of it."""
    rows = np.array([[0.3, -0.5], [1.0, np.nan]])
    if hasattr(model, "forecast"):
        return np.asarray(model.forecast(3).mean).ravel().tolist()
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows).ravel().tolist()
    if hasattr(model, "predict"):
        return np.concatenate(model.predict(rows, return_std=True)).ravel().tolist()
    if hasattr(model, "embedding_"):
        return model.embedding_[:3].ravel().tolist()
    return model.transform(rows).ravel().tolist()


def main():
    folder = HERE / semigp.__version__
    folder.mkdir()
    told = {}
    for name, model in models():
        model.save(folder / f"{name}.semigp")
        told[name] = ask(model)
    (folder / "expected.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
