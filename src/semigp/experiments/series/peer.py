"""Forecasts by other libraries, in an environment of their own. Run by path: it imports nothing of ours.

Usage: python peer.py TASKS.json FORECASTS.jsonl SECONDS

A task is a series, what is known of it, and the name of a way. Each gives one line: quantiles, mean and seconds, or an
error, such as a way that takes more than so many SECONDS. Tasks that have a line already are left out.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import logging
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

PACKAGES = ("statsforecast", "lightgbm", "prophet", "statsmodels")
N_PATHS, N_FOLDS, LAGS = 500, 5, 18


def main(source: str, target: str, seconds: str) -> None:
    """Make the forecasts that are missing."""
    warnings.simplefilter("ignore")
    tasks = json.loads(Path(source).read_text())
    levels, series = np.array(tasks["levels"]), tasks["series"]
    done = {_key(json.loads(line)) for line in _lines(target)}
    missing = [(series[number], way) for number, way in tasks["tasks"]]
    missing = [(task, way) for task, way in missing if (task["part"], task["series"], way) not in done]
    versions = {name: importlib.metadata.version(name) for name in PACKAGES if is_there(name)}
    for way in {way for _, way in missing}:
        with contextlib.suppress(Exception):  # compiled code and imports do not count
            WAYS[way](_example(), levels)
    with open(target, "a") as file:
        for number, (task, way) in enumerate(missing, 1):
            record = {"part": task["part"], "series": task["series"], "way": way, "versions": versions}
            record |= forecast(task, way, levels, int(seconds))
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(f"{number}/{len(missing)}: {task['part']}, {task['series']}, {way}", flush=True)


def _lines(path):
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def _key(record):
    return record["part"], record["series"], record["way"]


def is_there(package):
    """Whether a package is installed."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return bool(importlib.metadata.version(package))
    return False


def _example():
    values = np.random.default_rng(0).normal(size=60).cumsum() + 100.0
    return {"values": values.tolist(), "steps": 3, "season": 4, "seasons": [4], "frequency": "D"}


def forecast(task, way, levels, seconds):
    """Quantiles (levels, steps), mean and seconds of one way, or an error."""

    def stop(*_):
        raise TimeoutError(f"more than {seconds} s")

    np.random.seed(0)  # noqa: NPY002 (statsforecast has no other generator)
    signal.signal(signal.SIGALRM, stop)
    started = time.perf_counter()
    try:
        signal.alarm(seconds)
        mean, quantiles = WAYS[way](task, levels)
        found = {"mean": _short(mean), "quantiles": [_short(row) for row in quantiles]}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    finally:
        signal.alarm(0)
    return found | {"seconds": time.perf_counter() - started}


def _short(values):
    return [float(f"{value:.7g}") for value in values]


# ---- The ways. Each takes a task and levels, and returns the mean (steps,) and the quantiles (levels, steps).


def _statsforecast(build):
    """A model of statsforecast, which is built from the season and the seasons of a series."""

    def way(task, levels):
        widths = sorted({round(100 * abs(2 * level - 1)) for level in levels} - {0})
        values = np.array(task["values"])
        # A season needs at least two cycles; without them a series counts as one without a season.
        season = task["season"] if len(values) >= 2 * task["season"] else 1
        found = build(season, task["seasons"]).forecast(y=values, h=task["steps"], level=widths)
        ends = {0: found["mean"]}
        for width in widths:
            ends |= {-width: found[f"lo-{width}"], width: found[f"hi-{width}"]}
        return found["mean"], np.array([ends[round(100 * (2 * level - 1))] for level in levels])

    return way


def _arima(season, seasons):
    from statsforecast.models import AutoARIMA

    return AutoARIMA(season_length=season, seasonal=season > 1, approximation=season > 1)


def _ets(season, seasons):
    from statsforecast.models import AutoETS

    return AutoETS(season_length=season)


def _theta(season, seasons):
    from statsforecast.models import AutoTheta

    return AutoTheta(season_length=season)


def _ces(season, seasons):
    from statsforecast.models import AutoCES

    return AutoCES(season_length=season)


def _mstl(season, seasons):
    from statsforecast.models import MSTL

    return MSTL(season_length=seasons)


def _naive(season, seasons):
    from statsforecast.models import SeasonalNaive

    return SeasonalNaive(season_length=season)


def _other_ets(task, levels):
    """Exponential smoothing by statsmodels, chosen by AICc: its optimiser goes on where that of AutoETS stops early."""
    values, season = np.array(task["values"]), task["season"]
    seasons = (None,) if season == 1 else ("add", "mul")
    trends = ((None, False), ("add", False), ("add", True))
    forms = [(error, *trend, form) for error in ("add", "mul") for trend in trends for form in seasons]
    # As in R: additive errors have no multiplicative season, and multiplicative models are for positive values.
    forms = [form for form in forms if form[0] == "mul" or form[3] != "mul"]
    fitted = [_smoothed(values, season, *form) for form in forms if values.min() > 0 or "mul" not in form]
    best = min((model for model in fitted if np.isfinite(model.aicc)), key=lambda model: model.aicc)
    paths = best.simulate(task["steps"], anchor="end", repetitions=N_PATHS, rng=np.random.default_rng(0))
    paths = np.asarray(paths).reshape(task["steps"], N_PATHS)
    return paths.mean(axis=1), np.quantile(paths, levels, axis=1)


def _smoothed(values, season, error, trend, damped, form):
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    model = ETSModel(
        values, error=error, trend=trend, damped_trend=damped, seasonal=form, seasonal_periods=season if form else None
    )
    return model.fit(disp=False, maxiter=500)


def _lightgbm(task, levels):
    """Trees on lags, rolled forward with residuals of contiguous folds; of levels or of increments.

    Which of the two is used is decided by their errors on the last values, as many as are to be forecast.
    """
    values, steps = np.array(task["values"]), task["steps"]
    lags = min(max(LAGS, 2 * task["season"]), len(values) // 3)
    held = min(steps, len(values) // 4)
    errors = [np.abs(np.mean(_paths(values[:-held], lags, held, d), axis=0) - values[-held:]).mean() for d in (0, 1)]
    paths = _paths(values, lags, steps, int(np.argmin(errors)))
    return paths.mean(axis=0), np.quantile(paths, levels, axis=0)


def _paths(values, lags, steps, differences):
    """Paths (N_PATHS, steps) of a series, or of its increments, added up."""
    last = values[-1]
    values = np.diff(values) if differences else values
    windows = np.lib.stride_tricks.sliding_window_view(values, lags + 1)
    before, after = windows[:, :-1], windows[:, -1]
    left_over = np.empty(len(after))
    for fold in np.array_split(np.arange(len(after)), N_FOLDS):
        others = np.setdiff1d(np.arange(len(after)), fold)
        left_over[fold] = after[fold] - _trees(before[others], after[others]).predict(before[fold])
    trees = _trees(before, after)
    random = np.random.default_rng(0)
    paths = np.empty((N_PATHS, lags + steps))
    paths[:, :lags] = values[-lags:]
    for step in range(steps):
        paths[:, lags + step] = trees.predict(paths[:, step : step + lags]) + random.choice(left_over, N_PATHS)
    return last + np.cumsum(paths[:, lags:], axis=1) if differences else paths[:, lags:]


def _trees(before, after):
    import lightgbm

    settings = {"objective": "regression", "learning_rate": 0.05, "min_data_in_leaf": 5, "num_leaves": 15, "seed": 0}
    return lightgbm.train(
        settings | {"num_threads": 1, "verbosity": -1}, lightgbm.Dataset(before, after), num_boost_round=150
    )


def _prophet(task, levels):
    """Prophet with its defaults, on dates of the given frequency; seasons are those of the calendar."""
    import pandas
    from prophet import Prophet

    for name in ("prophet", "cmdstanpy"):
        logging.getLogger(name).setLevel(logging.ERROR)
    values, steps = np.array(task["values"]), task["steps"]
    dates = pandas.date_range("2000-01-01", periods=len(values) + steps, freq=task["frequency"])
    model = Prophet(uncertainty_samples=N_PATHS)
    model.fit(pandas.DataFrame({"ds": dates[: len(values)], "y": values}), seed=0)
    future = pandas.DataFrame({"ds": dates[len(values) :]})
    paths = model.predictive_samples(future)["yhat"]
    return model.predict(future)["yhat"].to_numpy(), np.quantile(paths, levels, axis=1)


WAYS = {
    "AutoARIMA": _statsforecast(_arima),
    "AutoETS": _statsforecast(_ets),
    "ETS (statsmodels)": _other_ets,
    "AutoTheta": _statsforecast(_theta),
    "AutoCES": _statsforecast(_ces),
    "MSTL": _statsforecast(_mstl),
    "SeasonalNaive": _statsforecast(_naive),
    "LightGBM": _lightgbm,
    "Prophet": _prophet,
}


if __name__ == "__main__":
    main(*sys.argv[1:])
