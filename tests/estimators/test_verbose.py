"""`verbose=True` shows what is done and changes nothing else. Oracles: the same without it, and rows block by block."""

import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import clone

from semigp import (
    BayesianGPLVM,
    DeepGPRegressor,
    GPForecaster,
    GPImputer,
    SemiDescribedGPRegressor,
    SemiSupervisedGPClassifier,
    SharedGPLVM,
    StateSpaceGP,
    StreamingGPRegressor,
)
from semigp.estimators.common import blocks as blocks_module
from semigp.estimators.few_labels import classifier
from semigp.estimators.imputation import imputer
from semigp.estimators.latent import gplvm
from semigp.estimators.regression import input_posterior, predicting
from semigp.estimators.streaming import regressor as streaming
from semigp.progress import bar as bar_module

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SMALL = {"max_iter": 5, "random_state": 0}
random = np.random.default_rng(0)
X = random.normal(size=(30, 3))
Y = np.sin(X[:, 0]) + X[:, 1]
X[random.random(X.shape) < 0.2] = np.nan
LABELS = np.where(np.arange(30) < 15, (Y > 0).astype(int), -1)
NEW, WAVE = X[:7], np.sin(np.arange(60) / 3)
# A model, what it is fitted to, and what is asked of it.
ASKED = {
    "particles": (SemiDescribedGPRegressor(8, n_draws=2, **SMALL), (X, Y), {
        "predict": (NEW,), "impute": (NEW, Y[:7]), "sample_y": (NEW, 2, 0)}),
    "mixture": (SemiDescribedGPRegressor(8, n_draws=2, posterior="mixture", **SMALL), (X, Y), {
        "predict": (NEW,), "impute": (NEW, Y[:7])}),
    "deep": (DeepGPRegressor(n_chains=1, n_inducing=8, n_draws=2, **SMALL), (X, Y), {
        "predict": (NEW,), "impute": (NEW, Y[:7]), "sample_y": (NEW, 2, 0)}),
    "stream": (StreamingGPRegressor(8, batch_size=15, n_passes=1, **SMALL), (X, Y), {
        "predict": (NEW,), "impute": (NEW, Y[:7]), "sample_y": (NEW, 2, 0)}),
    "imputer": (GPImputer(2, max_iter=3, random_state=0), (X,), {
        "transform": (NEW,), "impute": (NEW,), "sample": (NEW,)}),
    "latent": (BayesianGPLVM(2, n_inducing=6, **SMALL), (X,), {
        "transform": (NEW,), "impute": (NEW,), "inverse_transform": (np.eye(7, 2),)}),
    "views": (SharedGPLVM(2, n_inducing=6, **SMALL), ({"a": X, "b": np.column_stack([Y, Y**2])},), {
        "transform": ({"a": NEW},), "predict": ({"a": NEW}, "b")}),
    "classifier": (SemiSupervisedGPClassifier(2, n_inducing=6, **SMALL), (X, LABELS), {
        "predict_proba": (NEW,), "transform": (NEW,), "impute": (NEW,)}),
    "states": (StateSpaceGP(2, n_inducing=6, **SMALL), (WAVE,), {"forecast": (5,), "impute": ()}),
    "forecaster": (GPForecaster(3, **SMALL), (WAVE,), {"forecast": (120,), "backtest": (WAVE, 3, 2)}),
}  # fmt: skip


class Told:
    """What all bars were told, in place of what they show."""

    def __init__(self, monkeypatch):
        self.heard = []
        show = bar_module.Bar._show
        monkeypatch.setattr(
            bar_module.Bar, "_show", lambda bar, *told: (self.heard.append((bar._title, *told)), show(bar, *told))
        )

    def titles(self):
        return [title for title, *_ in self.heard]


def _numbers(result):
    if hasattr(result, "paths"):
        return result.paths
    if isinstance(result, list):
        return [[one[key] for key in sorted(one)] for one in result]
    return result


@pytest.mark.parametrize("name", ASKED)
def test_every_job_tells_how_far_it_is_and_finds_the_same(name, monkeypatch, capsys):
    """From 0 to all that there is to do; nothing is printed here, because neither stream is a terminal."""
    model, data, asked = ASKED[name]
    expected = clone(model).fit(*data)
    told = Told(monkeypatch)
    found = clone(model).set_params(verbose=True).fit(*data)
    assert set(told.titles()) == {"fit"}
    for method, arguments in asked.items():
        told.heard.clear()
        answers = [_numbers(getattr(each, method)(*arguments)) for each in (expected, found)]
        np.testing.assert_array_equal(*answers)
        assert set(told.titles()) <= {method, "impute"}  # `transform` of an imputer imputes
        shares = [done for _, _, done, _ in told.heard]
        assert min(shares) == 0.0
        assert max(shares) == 1.0
    assert capsys.readouterr() == ("", "")


def test_without_verbose_there_is_no_bar(monkeypatch, capsys):
    told = Told(monkeypatch)
    for model, data, asked in ASKED.values():
        fitted = clone(model).fit(*data)
        for method, arguments in list(asked.items())[:1]:
            getattr(fitted, method)(*arguments)
    assert told.heard == []
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["particles", "mixture", "stream", "imputer", "latent", "classifier"])
def test_rows_in_small_blocks_get_the_same(name, monkeypatch):
    """To rounding: sums over another number of rows."""
    model, data, asked = ASKED[name]
    fitted = clone(model).fit(*data)
    asked = {method: arguments for method, arguments in asked.items() if method != "sample_y"}
    expected = {method: getattr(fitted, method)(*arguments) for method, arguments in asked.items()}
    for module in (classifier, imputer, gplvm, input_posterior, predicting, streaming):
        monkeypatch.setattr(module, "blocks", lambda *rows, size=0: blocks_module.blocks(*rows, size=2))
    for method, arguments in asked.items():
        np.testing.assert_allclose(getattr(fitted, method)(*arguments), expected[method], rtol=1e-7, atol=1e-9)


def test_a_terminal_shows_the_bar(monkeypatch, capsys):
    """A bar without patience, on a console that believes in its terminal: it is on the standard error."""
    monkeypatch.setattr(bar_module, "PATIENCE", 0.0)
    monkeypatch.setattr(Console, "is_terminal", True)
    model, data, _ = ASKED["imputer"]
    clone(model).set_params(verbose=True, max_iter=20).fit(*data)
    out, err = capsys.readouterr()
    assert out == ""
    assert "fit: draws" in err


def test_verbose_is_checked():
    with pytest.raises(ValueError, match=r"The 'verbose' parameter of GPImputer must be an instance of 'bool'"):
        GPImputer(verbose="yes").fit(X)


def test_rich_is_not_needed_without_verbose():
    """scikit-learn loads rich if it is there; so this is a process in which it is not."""
    code = """
import sys
import semigp
assert "rich" not in sys.modules
sys.modules["rich"] = None
print(semigp.GPImputer(2, max_iter=2).fit([[1.0, 2.0], [3.0, 4.0], [2.0, None]]).impute().shape)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "(3, 2)\n"
