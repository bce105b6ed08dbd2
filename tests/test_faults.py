"""What goes wrong while a model is fitted: memory, interrupts, threads, forked processes, a full disk."""

import inspect
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_info

import semigp
from semigp import BayesianGPLVM, GPForecaster, GPImputer, SemiDescribedGPRegressor, StreamingGPRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _table(n=40, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=n)
    X[random.random(X.shape) < 0.2] = np.nan
    return X, y


def _regressor(**options):
    return SemiDescribedGPRegressor(**{"n_inducing": 8, "n_draws": 2, "max_iter": 30, "random_state": 0} | options)


TOO_LARGE = """
import resource, sys, warnings
import numpy as np
from semigp import SemiDescribedGPRegressor
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(300, 2))
model = SemiDescribedGPRegressor(10, input_prior="standard", max_iter=2)
X[:, 1] = np.nan
model.fit(X, X[:, 0])  # everything is loaded and compiled but for the size
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**27, -1))
X = np.random.default_rng(0).normal(size=(20000, 2))
X[:, 1] = np.nan
try:
    SemiDescribedGPRegressor(3000, input_prior="standard", max_iter=2).fit(X, X[:, 0])
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_too_little_memory_is_said(tmp_path):
    """128 MiB more than a small fit has: a MemoryError that says what to set."""
    run = subprocess.run([sys.executable, "-c", TOO_LARGE], capture_output=True, text=True, check=False)
    assert "SEMIGP_CHUNK_SIZE=131072" in run.stdout, run.stdout + run.stderr[-2000:]


@pytest.mark.parametrize("size", ["0", "many", "-3"])
def test_a_chunk_size_that_is_none(monkeypatch, size):
    monkeypatch.setenv("SEMIGP_CHUNK_SIZE", size)
    with pytest.raises(ValueError, match="must be a positive whole number"):
        semigp.core.numerics.chunks.chunk_size()


def test_chunks_of_another_size_change_rounding_only(monkeypatch):
    X, y = _table(200)
    expected = _regressor(posterior="gaussian", max_iter=1).fit(X, y).bound_  # more would amplify the rounding
    monkeypatch.setenv("SEMIGP_CHUNK_SIZE", "500")
    semigp.core.sparse.model.jax.clear_caches()
    assert _regressor(posterior="gaussian", max_iter=1).fit(X, y).bound_ == pytest.approx(expected, rel=1e-9)


class Stop(BaseException):
    """Neither an error nor an interrupt that anyone would catch."""


@pytest.mark.parametrize("estimator", [
    _regressor(), _regressor(posterior="gaussian"), GPForecaster(window=3, max_iter=20, random_state=0),
    BayesianGPLVM(2, n_inducing=8, max_iter=20, random_state=0), GPImputer(2, random_state=0),
    StreamingGPRegressor(8, batch_size=20, n_passes=2, random_state=0),
], ids=lambda each: type(each).__name__)  # fmt: skip
def test_a_fit_that_breaks_off_leaves_the_model_as_it_was(estimator):
    """Whatever is thrown, from the first to the last call of ours: what was fitted before is all still there."""
    arguments = _arguments(estimator)
    fitted = clone(estimator).fit(*arguments)
    with _Counting(None) as all_calls:
        fitted.fit(*arguments)
    before = {name: id(value) for name, value in vars(fitted).items()}
    for share in np.linspace(0.0, 0.99, 8):
        with pytest.raises(Stop), _Counting(1 + int(share * all_calls.count)):
            fitted.fit(*arguments)
        assert {name: id(value) for name, value in vars(fitted).items()} == before
    fresh = clone(estimator)
    with pytest.raises(Stop), _Counting(all_calls.count // 2):
        fresh.fit(*arguments)
    assert vars(fresh).keys() == clone(estimator).get_params().keys()


def _arguments(estimator):
    X, y = _table()
    if isinstance(estimator, GPForecaster):
        return (y,)
    return (X,) if isinstance(estimator, GPImputer | BayesianGPLVM) else (X, y)


class _Counting:
    """Count calls of functions of our estimators, and throw Stop in the so-and-so-many-th."""

    def __init__(self, stop_at):
        self.count, self.stop_at = 0, stop_at

    def __enter__(self):
        sys.setprofile(self.see)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def see(self, frame, event, _):
        code = frame.f_code  # what is thrown into a generator that is being closed would get lost
        if event == "call" and "/semigp/estimators/" in code.co_filename and not code.co_flags & inspect.CO_GENERATOR:
            self.count += 1
            if self.count == self.stop_at:
                raise Stop


def test_an_interrupt_keeps_the_best_so_far_and_a_new_fit_is_as_if_nothing_had_been():
    """Interrupts from the keyboard after 0 to 2 s: a model of the best so far, or none at all."""
    X, y = _table(60)
    expected = _regressor().fit(X, y).predict(X)
    model = _regressor(max_iter=2000)
    for wait in np.linspace(0.02, 2.0, 8):
        timer = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            model.fit(X, y)
            assert np.isfinite(model.predict(X)).all()
        except KeyboardInterrupt:
            pass
        finally:
            timer.cancel()
            try:
                timer.join()
                time.sleep(0.05)
            except KeyboardInterrupt:
                pass
    np.testing.assert_array_equal(model.set_params(max_iter=30).fit(X, y).predict(X), expected)


def test_threads_find_what_one_after_the_other_finds():
    tables = [_table(seed=seed) for seed in range(4)]
    before = threadpool_info()

    def fit(table):
        return _regressor().fit(*table).predict(table[0])

    expected = [fit(table) for table in tables]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fit, tables))
    np.testing.assert_array_equal(found, expected)
    assert threadpool_info() == before


def test_processes_of_joblib_find_what_one_finds():
    tables = [_table(seed=seed) for seed in range(2)]
    expected = [_regressor().fit(*table).predict(table[0]) for table in tables]
    found = Parallel(2)(delayed(_regressor().fit)(*table) for table in tables)
    predicted = [model.predict(X) for model, (X, _) in zip(found, tables, strict=True)]
    np.testing.assert_allclose(predicted, expected, rtol=1e-6)


FORKED = """
import multiprocessing, sys, warnings
import numpy as np
from semigp import SemiDescribedGPRegressor
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(20, 1))

def fit():
    try:
        SemiDescribedGPRegressor(5, max_iter=2).fit(X, X[:, 0])
    except RuntimeError as error:
        print(error, flush=True)

fit()
child = multiprocessing.get_context("fork").Process(target=fit)
child.start()
child.join(60)
print("ended" if child.exitcode == 0 else f"exit code {child.exitcode}")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_is_told_and_does_not_wait_for_ever():
    run = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True, timeout=200)
    assert "was forked from one that had computed with JAX already" in run.stdout
    assert run.stdout.splitlines()[-1] == "ended"
