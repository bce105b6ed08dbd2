"""`compare`: runs all ways on the same splits, within a time."""

from __future__ import annotations

import time
import warnings
from typing import Any

import narwhals as nw
import numpy as np
from threadpoolctl import threadpool_limits

from ..progress import steps as shown
from ..progress import watched
from .result import Comparison
from .tasks.base import OURS, Task
from .tasks.classification import Classification
from .tasks.forecast import Forecasting
from .tasks.imputation import Imputation
from .tasks.regression import Regression

TASKS = ("regression", "classification", "imputation", "forecast")


def compare(
    X: Any,
    y: Any = None,
    *,
    task: str | None = None,
    steps: int | None = None,
    n_splits: int = 5,
    minutes: float = 1.0,
    random_state: int = 0,
    verbose: bool = False,
) -> Comparison:
    """Compare semigp with the usual ways on your own data, holes included.

    Parameters
    ----------
    X : array or frame (n, q), or a series
        The table with its holes. For `task="forecast"`, one series.
    y : (n,), optional
        What is predicted: numbers, or classes, where -1, NaN and None mean that a row has no label.
    task : {"regression", "classification", "imputation", "forecast"}, optional
        By default: imputation without y, regression if y holds floats or whole numbers, otherwise classification.
    steps : int, optional
        How many steps ahead a series is forecast. By default a tenth of its length, and at most 24.
    n_splits : int
        The number of folds, of hidden tenths of a table, or of forecasts.
    minutes : float
        No split is begun that would probably end later than this. The first split is run in any case.
    random_state : int
    verbose : bool
        Whether to show a bar.

    Returns
    -------
    Comparison
        Print it, or read `advice`, `best` and `records`.
    """
    if n_splits < 2:
        raise ValueError(f"n_splits must be 2 or more; got {n_splits}.")
    if not minutes > 0:
        raise ValueError(f"minutes must be above 0; got {minutes}.")
    chosen = _task(X, y, task, steps, n_splits, random_state)
    with watched("compare", verbose):
        return run(chosen, 60.0 * minutes)


def _task(X: Any, y: Any, name: str | None, steps: int | None, n_splits: int, seed: int) -> Task:
    if name is None:
        name = "imputation" if y is None else "regression" if _holds_numbers(y) else "classification"
    if name not in TASKS:
        raise ValueError(f"there is no task {name!r}; there are {', '.join(TASKS)}.")
    if name in ("regression", "classification") and y is None:
        raise ValueError(f"task={name!r} needs y, the column that is predicted.")
    match name:
        case "regression":
            return Regression(X, y, n_splits, seed)
        case "classification":
            return Classification(X, y, n_splits, seed)
        case "imputation":
            return Imputation(X, n_splits, seed)
        case _:
            return Forecasting(X, steps, n_splits, seed)


def _holds_numbers(y: Any) -> bool:
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.dtype.is_numeric()
    return np.asarray(y).dtype.kind in "fiu"


def run(task: Task, seconds: float) -> Comparison:
    """Run all ways on one split after the other, as long as the next split will probably end in time.

    Every way sees the same splits. A way that fails is left out, with its reason.
    """
    started, records, left_out = time.perf_counter(), [], {}
    for split in shown(range(task.n_splits), "splits"):
        spent = time.perf_counter() - started
        if split and spent * (split + 1) / split > seconds:
            break
        for way in shown([way for way in task.ways if way not in left_out], "ways"):
            begun = time.perf_counter()
            try:
                # One thread each: small matrices gain nothing from more, and seconds can be compared.
                with warnings.catch_warnings(), threadpool_limits(1):
                    warnings.simplefilter("ignore")
                    found = task.run(way, split)
            except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
                if way == OURS:
                    raise
                left_out[way] = str(error).splitlines()[0]
                continue
            records.append({"way": way, "split": split} | found | {"seconds": time.perf_counter() - begun})
    records = [record for record in records if record["way"] not in left_out]
    return Comparison(task.about, tuple(task.scores), records, left_out)
