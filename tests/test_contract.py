"""Importing and fitting change nothing that belongs to the user, and nothing goes over the network."""

import json
import subprocess
import sys

STATE = """
import json, os, random, signal, sys, threading, warnings
import jax, numpy as np, matplotlib
from threadpoolctl import threadpool_info

def state():
    return {
        "jax": {name: repr(value) for name, value in jax.config.values.items()},
        "numpy errors": np.geterr(),
        "numpy random": np.random.get_state()[1].tolist(),
        "random": hash(random.getstate()),
        "warnings": [repr(each) for each in warnings.filters],
        "print options": repr(np.get_printoptions()),
        "matplotlib": {key: repr(dict.__getitem__(matplotlib.rcParams, key)) for key in matplotlib.rcParams},
        "environment": dict(os.environ),
        "signals": {int(s): repr(signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGTERM)},
        "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__],
        "folder": os.getcwd(),
        "recursion": sys.getrecursionlimit(),
        "blas": sorted((each["internal_api"], each["num_threads"]) for each in threadpool_info()),
    }

import scipy.linalg, sklearn.linear_model, pandas  # loaded beforehand: their own changes are not ours
calls = []
network = ("socket.connect", "socket.getaddrinfo", "urllib")
sys.addaudithook(lambda event, _: calls.append(event) if event.startswith(network) else None)
before = state()
"""

USE = """
import semigp
from semigp import (BayesianGPLVM, GPForecaster, GPImputer, SemiDescribedGPRegressor, SemiSupervisedGPClassifier,
                    StreamingGPRegressor, datasets, plotting)
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2)); y = np.sin(X[:, 0]) + X[:, 1]; holes = X.copy(); holes[::3, 0] = np.nan
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SemiDescribedGPRegressor(8, n_draws=2, max_iter=5).fit(holes, y).predict(holes)
    SemiDescribedGPRegressor(8, posterior="gaussian", max_iter=5).fit(holes, y).save(sys.argv[1])
    GPImputer(2).fit_transform(holes)
    GPForecaster(window=3, max_iter=5).fit(y).forecast(3)
    SemiSupervisedGPClassifier().fit(holes, np.where(np.arange(40) < 10, (y > 0) * 1, -1)).predict(holes)
    BayesianGPLVM(2, n_inducing=5, max_iter=5).fit(X)
    StreamingGPRegressor(5, batch_size=20, n_passes=1).fit(holes, y)
semigp.load(sys.argv[1])
after = state()
print(json.dumps([[key for key in before if before[key] != after[key]], calls]))
"""


def test_nothing_of_the_users_changes(tmp_path):
    """JAX's flags, NumPy's error state and random numbers, warnings, matplotlib, threads, signals, the environment."""
    command = [sys.executable, "-c", STATE + USE, tmp_path / "model.semigp"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == [[], []]
