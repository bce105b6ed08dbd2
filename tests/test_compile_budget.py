"""How much a first fit compiles: every program costs a user a tenth of a second or more, before anything is computed.

Oracle: JAX's own events, counted in a fresh process that keeps nothing.
"""

import json
import os
import subprocess
import sys

import pytest

COUNTED = """
import json, sys, warnings
import jax, numpy as np
import semigp

warnings.simplefilter("ignore")
compiled = []
event = "/jax/core/compile/backend_compile_duration"
listen = lambda name, seconds, **_: compiled.append(seconds) if name == event else None
jax.monitoring.register_event_duration_secs_listener(listen)
random = np.random.default_rng(0)
X = random.normal(size=(60, 3))
y = np.sin(X[:, 0]) + X[:, 1]
holes, series = X.copy(), np.sin(np.arange(60.0))
holes[::4, 0], series[30] = np.nan, np.nan
labels = np.where(np.arange(60) < 20, (y > 0).astype(int), -1)
eval(sys.argv[1])
print(json.dumps([len(compiled), sum(compiled)]))
"""


def _compiled(job):
    """The number of programs that a job compiles, and the seconds that it takes."""
    environment = {name: value for name, value in os.environ.items() if name not in ("JAX_COMPILATION_CACHE_DIR",)}
    environment |= {"SEMIGP_CACHE": "off", "XLA_FLAGS": ""}
    run = subprocess.run(
        [sys.executable, "-c", COUNTED, job], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "job",
    [
        "semigp.SemiDescribedGPRegressor(random_state=0).fit(holes, y).predict(holes, return_std=True)",
        "semigp.SemiDescribedGPRegressor(random_state=0).fit(holes, y).sample_y(holes, 20)",
        "semigp.GPImputer(random_state=0).fit(holes).impute(holes)",
        "semigp.GPForecaster(random_state=0).fit(series).forecast(5)",
    ],
    ids=["regression", "draws of outputs", "imputation", "forecast"],
)
def test_small_problems_compile_nothing(job):
    assert _compiled(job) == [0, 0]


@pytest.mark.parametrize(
    ("job", "programs", "seconds"),
    [
        ("semigp.SemiDescribedGPRegressor(20, max_iter=5, random_state=0).fit(X, y).predict(X)", 40, 10),
        ("semigp.BayesianGPLVM(2, n_inducing=5, max_iter=5, random_state=0).fit(holes)", 25, 10),
        ("semigp.SemiSupervisedGPClassifier(max_iter=5, random_state=0).fit(holes, labels).predict(holes)", 40, 25),
        ("semigp.SharedGPLVM(2, n_inducing=5, max_iter=5, random_state=0).fit({'a': holes, 'b': X})", 25, 20),
        ("semigp.StreamingGPRegressor(5, batch_size=30, n_passes=1, random_state=0).fit(holes, y)", 180, 45),
    ],
    ids=["known inputs", "embedding", "few labels", "views", "stream"],
)
def test_budgets(job, programs, seconds):
    """A little more programs than were counted in November 2026 (36, 20, 34, 23, 160), and about four times the seconds
    of a quiet machine."""
    count, took = _compiled(job)
    assert count <= programs
    assert took <= seconds
