"""What one process of the benchmark does: one task, timed, with its peak memory.

`python -m semigp.benchmarks.answers.work TASK ARGUMENT...` prints a result as JSON. A process that cannot do its task,
because data or a GPU are not there, prints the reason.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ..measuring import Unmeasured
from ..peers.common import peak_mib, timed, timed_again
from ..peers.problems import make_series, make_table

COMMAND = "from semigp.cli import main; main()"  # what the script `semigp` runs
IMPORT = "import semigp; semigp.SemiDescribedGPRegressor()"
TRAINING, N_COMPLETE, N_OUTPUTS, SHARE_MISSING = 130, 50, 20, 0.5  # the motion capture of the paper
LIMIT_OF_PROCESS = 120.0  # seconds; it ends before this process does, and does not outlive it
DIGITS, N_IMAGES, N_LABELS, N_NEW_IMAGES = (0, 2, 4, 6), 2000, 40, 100


def children_mib():
    """The peak memory in MiB of the largest process that this one has started."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit


def time_process(*arguments, cache="off"):
    """Seconds from the start of a Python process to its end."""
    how = {"env": os.environ | {"SEMIGP_CACHE": str(cache)}, "check": True, "capture_output": True}
    try:
        return timed(lambda: subprocess.run([sys.executable, *arguments], timeout=LIMIT_OF_PROCESS, **how))
    except subprocess.TimeoutExpired:
        raise Unmeasured(f"more than {LIMIT_OF_PROCESS:.0f} s") from None


# ---- Processes as a whole.


def command(n, q, share, process):
    """`semigp regress` on CSV files, in the first process that ever runs it or in a later one."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        train, new, result = (Path(folder) / name for name in ("train.csv", "new.csv", "result.csv"))
        X, y, X_new = make_table(int(n), int(q), float(share))
        for path, columns in ((train, np.column_stack([X, y])), (new, X_new)):
            names = [f"x{j}" for j in range(int(q))] + ["y"]
            frame = pl.DataFrame(columns, schema=names[: columns.shape[1]])
            frame.fill_nan(None).write_csv(path)
        call = "-W", "ignore", "-c", COMMAND, "regress", train, "-t", "y", "-p", new, "-o", result, "-q"
        times = [time_process(*map(str, call), cache=Path(folder) / "cache") for _ in range(int(process))]
    return {"first": times[0], "seconds": times[-1], "peak_mib": children_mib()}


def importing(repeats):
    """`import semigp` and its first estimator: the median over processes."""
    times = [time_process("-c", IMPORT) for _ in range(int(repeats))]
    return {"first": times[0], "seconds": float(np.median(times)), "peak_mib": children_mib()}


# ---- Tables.


def _by_semigp(X, y, X_new):
    from semigp import SemiDescribedGPRegressor

    return SemiDescribedGPRegressor(random_state=0).fit(X, y).predict(X_new, return_std=True)


def _by_forests_and_gp(X, y, X_new):
    """Training rows are filled with the help of y; what fills the new rows has never seen y."""
    from semigp.baselines.forests import iterative_trees
    from semigp.baselines.standard_gp import predict_by_gp

    full = iterative_trees(0).fit_transform(np.column_stack([X, y]))[:, :-1]
    return predict_by_gp(full, y, iterative_trees(0).fit(X).transform(X_new), 0)


def _by_boosting(X, y, X_new):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=0).fit(X, y).predict(X_new)


_REGRESSIONS = {
    "semigp": _by_semigp,
    "missForest + GP": _by_forests_and_gp,
    "HistGradientBoosting": _by_boosting,
}


def _load(way):
    """Load what a way needs, which is not part of its time."""
    import sklearn

    if way == "semigp":
        import semigp.estimators
    elif way.startswith("missForest"):
        import semigp.baselines.forests
        import semigp.baselines.standard_gp  # noqa: F401
    else:
        import sklearn.ensemble
    return {} if way == "semigp" else {"scikit-learn": sklearn.__version__}


def regression(way, n, q, share, patience):
    """A fit to a table with holes, and predictions of new rows with holes."""
    problem, versions = make_table(int(n), int(q), float(share)), _load(way)
    return timed_again(lambda: _REGRESSIONS[way](*problem), float(patience)) | {"versions": versions}


def gpu(n, q, share, patience):
    """The same by semigp, on a GPU."""
    import jax

    if jax.default_backend() != "gpu":
        raise Unmeasured("no GPU here that JAX can use")
    found = regression("semigp", n, q, share, patience)
    device = jax.devices()[0]
    peak = device.memory_stats()["peak_bytes_in_use"] / 2**20
    return found | {"device": device.device_kind, "device_mib": peak}


def imputation(way, n, q, share, patience):
    """All holes of a table filled."""
    versions = _load(way)
    X, _, _ = make_table(int(n), int(q), float(share))
    if way == "semigp":
        from semigp import GPImputer

        answer = lambda: GPImputer(random_state=0).fit(X).impute()  # noqa: E731
    else:
        from semigp.baselines.forests import iterative_trees

        answer = lambda: iterative_trees(0).fit_transform(X)  # noqa: E731
    return timed_again(answer, float(patience)) | {"versions": versions}


# ---- Series, labels, motion capture.


def series(window, count, length, steps, patience):
    """Fits and forecasts of several series, one after the other."""
    from semigp import GPForecaster

    lags = window if window == "auto" else int(window)
    values = [make_series(int(length), seed) for seed in range(int(count))]

    def answer():
        for one in values:
            GPForecaster(lags, random_state=0).fit(one).forecast(int(steps))

    return timed_again(answer, float(patience))


def _loaded(load, *arguments):
    """A data set, or the reason why it is not there."""
    try:
        return load(*arguments)
    except (ImportError, OSError) as error:
        raise Unmeasured(f"no data: {error}") from error


def classification(patience):
    """Images of digits with few labels: a fit, and class probabilities of new images."""
    from semigp import SemiSupervisedGPClassifier
    from semigp.datasets import load_usps

    rows, digits = _loaded(load_usps, DIGITS)
    order = np.random.default_rng(0).permutation(len(rows))[: N_IMAGES + N_NEW_IMAGES]
    rows, labels = rows[order], digits[order]
    train, new = rows[:N_IMAGES], rows[N_IMAGES:]
    known = np.where(np.arange(N_IMAGES) < N_LABELS, labels[:N_IMAGES], -1)
    return timed_again(
        lambda: SemiSupervisedGPClassifier(random_state=0).fit(train, known).predict_proba(new), float(patience)
    )


def mocap(patience):
    """A fit to motion capture with missing inputs, as in the experiment on semi-described data."""
    from semigp import SemiDescribedGPRegressor
    from semigp.datasets import load_mocap, mask_at_random

    features = _loaded(load_mocap)[0][:330]
    features = features[np.random.default_rng(0).permutation(330)][:TRAINING]
    X, Y = features[:, N_OUTPUTS:].copy(), features[:, :N_OUTPUTS]
    X[N_COMPLETE:][mask_at_random((TRAINING - N_COMPLETE, X.shape[1]), SHARE_MISSING, 0)] = np.nan
    return timed_again(lambda: SemiDescribedGPRegressor(random_state=0).fit(X, Y), float(patience))


TASKS = {
    task.__name__: task for task in (command, importing, regression, gpu, imputation, series, classification, mocap)
}


def main(task, *arguments):
    """The result of a task, and the peak memory of this process unless the task says that of another."""
    if task != "gpu":
        os.environ["JAX_PLATFORMS"] = "cpu"  # JAX is not loaded yet
    try:
        found = TASKS[task](*arguments)
    except Unmeasured as error:
        return {"reason": str(error)}
    return {"peak_mib": peak_mib()} | found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
