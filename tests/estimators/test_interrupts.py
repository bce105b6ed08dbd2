"""Ctrl-C during a fit leaves the best so far once there is something to keep, and before that nothing.

Oracles: what the callback was told up to the interrupt, and a process that really gets the signal.
"""

import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from semigp import (
    BayesianGPLVM,
    GPForecaster,
    GPImputer,
    SemiDescribedGPRegressor,
    SemiSupervisedGPClassifier,
    StateSpaceGP,
    StreamingGPRegressor,
)
from semigp.estimators.common.reports import Stopwatch
from tests.golden.make import ask

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SMALL = {"max_iter": 20, "random_state": 0}
MODELS = {
    "particles": SemiDescribedGPRegressor(8, n_draws=4, **SMALL),
    "latent column": SemiDescribedGPRegressor(8, n_draws=4, **SMALL),
    "mixture": SemiDescribedGPRegressor(8, n_draws=3, posterior="mixture", **SMALL),
    "gaussian": SemiDescribedGPRegressor(8, posterior="gaussian", **SMALL),
    "error bars": SemiDescribedGPRegressor(8, **SMALL),
    "published": SemiDescribedGPRegressor(8, input_prior="standard", **SMALL),
    "imputer": GPImputer(3, max_iter=4, random_state=0),
    "forecaster": GPForecaster("auto", **SMALL),
    "gaps": GPForecaster(3, **SMALL),
    "latent": BayesianGPLVM(2, n_inducing=8, **SMALL),
    "states": StateSpaceGP(2, n_inducing=8, **SMALL),
    "classifier": SemiSupervisedGPClassifier(2, n_inducing=8, **SMALL),
    "stream": StreamingGPRegressor(8, batch_size=20, n_passes=3, **SMALL),
}


def _arguments(name):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=40)
    if name == "error bars":
        return X, y, np.full(X.shape, 0.1)
    X[random.random(X.shape) < 0.2] = np.nan
    if name in ("forecaster", "gaps", "states"):
        return (
            np.where(np.arange(40) == 20, np.nan, np.sin(np.arange(40))) if name == "gaps" else np.sin(np.arange(40)),
        )
    if name == "latent column":
        X = np.column_stack([X, np.full(40, np.nan)])
    if name == "latent":
        return (np.column_stack([X, y]),)
    if name == "classifier":
        return X, np.where(np.arange(40) < 20, (y > 0).astype(int), -1)
    return (X,) if name == "imputer" else (X, y)


class Interrupt:
    """A callback that interrupts after so many calls, as Ctrl-C does; it counts how often it is called after that."""

    def __init__(self, after):
        self.left, self.later = after, 0

    def __call__(self, progress):
        self.left -= 1
        self.later += self.left < 0
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("after", [1, 4])
def test_the_best_so_far_is_kept(name, after):
    """The status says so, the model answers, and no search goes on: at most the sweeps that had begun are told."""
    callback, arguments = Interrupt(after), _arguments(name)
    model = clone(MODELS[name]).set_params(callback=callback).fit(*arguments)
    assert callback.left <= 0
    assert model.fit_report_.status == "interrupted"
    assert model.fit_report_.message.startswith("Stopped on request")
    assert callback.later <= (4 if model.fit_report_.method == "particles" else 0)
    if name == "latent column":
        assert np.isfinite(model.predict(arguments[0])).all()
    elif name != "latent":
        assert np.isfinite(ask(model)).all()


@pytest.mark.parametrize("name", MODELS)
def test_before_there_is_anything_nothing_changes(name, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Stopwatch, "told_to", interrupt)
    model = clone(MODELS[name])
    before = vars(model).copy()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*_arguments(name))
    assert vars(model) == before


CHILD = """
import sys, warnings
import numpy as np
from semigp import GPForecaster, GPImputer
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
table = random.normal(size=(200, 4)) @ random.normal(size=(4, 4))
table[random.random(table.shape) < 0.2] = np.nan

def tell(progress):
    print("running", flush=True)

model = {"imputer": GPImputer(500, callback=tell, verbose=True, random_state=0),
         "forecaster": GPForecaster("auto", max_iter=100_000, callback=tell, random_state=0)}[sys.argv[1]]
model.fit(table if sys.argv[1] == "imputer" else np.sin(np.arange(300) / 3) + random.normal(size=300))
print(model.fit_report_.status)
"""


@pytest.mark.parametrize("name", ["imputer", "forecaster"])
def test_a_signal_in_the_middle_of_a_fit(name):
    with subprocess.Popen([sys.executable, "-c", CHILD, name], stdout=subprocess.PIPE, text=True) as child:
        for _ in range(3):
            assert child.stdout.readline() == "running\n"
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=120)
    assert child.returncode == 0
    assert rest.splitlines()[-1] == "interrupted"
    assert set(rest.splitlines()[:-1]) <= {"running"}
