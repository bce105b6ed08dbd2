"""Figures 3 and 7 and table 1 of the paper: free simulation of the Mackey-Glass series, and of two real series.

Training units are the standard deviation of the training values. The authors' units are the standard deviation of the
first 594 values, most of which lie in the future.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import baselines, datasets
from ..estimators import GPForecaster
from ..series.forecast import Forecast
from .reporting import Row, markdown_table, plain_number, run_cells, save_figure, write_results

OURS = "sampled (default)"
PUBLISHED = {"as in the paper": (0.529, 0.550), "GP_uncert (Girard)": (0.700, 0.914), "naive GP": (0.799, 1.157)}
WINDOW, TRAINING, HORIZON, FIRST = 18, 90, 1110, 100
# Settings were chosen on start points from 3000 on. Kernels were first compared on 0 to 750, so these are not unseen.
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"seeds": 2, "starts": (0, 450, 900), "origins": 3},
    # The series swings about every 50 steps: starts that are 150 apart would all meet it in the same phase.
    "paper": {"seeds": 16, "starts": tuple(range(40, 1580, 77)), "origins": 8},
}


def methods(seed: int) -> dict[str, Callable[[], tuple[Any, dict]]]:
    """For each method, a function that returns a forecaster and the options of its forecast."""
    # Only the function of the past: the kinds of propagation are compared with the same model.
    ours = lambda: GPForecaster(WINDOW, season=None, trend=None, random_state=seed)  # noqa: E731
    return {
        OURS: lambda: (ours(), {"propagation": "sample"}),
        "full covariance": lambda: (ours(), {"propagation": "full"}),
        "diagonal": lambda: (ours(), {"propagation": "diagonal"}),
        "no propagation": lambda: (ours(), {"propagation": "none"}),
        "as in the paper": lambda: (baselines.PublishedGP(WINDOW, random_state=seed), {}),
        "GP_uncert (Girard)": lambda: (baselines.GirardGP(WINDOW, random_state=seed), {}),
        "naive GP": lambda: (baselines.NaiveGP(WINDOW, random_state=seed), {}),
        "AR": lambda: (baselines.AutoRegression(WINDOW), {"random_state": seed}),
        "boosted trees": lambda: (baselines.BoostedRecursion(WINDOW), {"random_state": seed}),
        "persistence": lambda: (baselines.Persistence(), {"random_state": seed}),
        "climatology": lambda: (baselines.Climatology(), {"random_state": seed}),
    }


def run_cell(part: str, start: int, seed: int) -> list[Row]:
    """All methods with one seed from one start point, or from one origin of a real series."""
    if part in REAL:
        return _real_cell(part, start, seed)
    series = datasets.make_mackey_glass(start + TRAINING + HORIZON)[start:]
    past, future = series[:TRAINING], series[TRAINING:]
    units = {"": past.std(), " (authors)": series[:594].std()}
    rows: list[Row] = []
    for name, build in methods(seed).items():
        started = time.perf_counter()
        forecast = _forecast(*build(), past, HORIZON)
        row: Row = {"part": part, "start": start, "seed": seed, "method": name}
        row |= _scaled(forecast, future, units, FIRST)
        rows.append(row | {"seconds": time.perf_counter() - started})
    return rows


def _forecast(model: Any, options: dict, past: Any, horizon: int) -> Forecast:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(past).forecast(horizon, **options)


def _scaled(forecast: Forecast, future: np.ndarray, units: dict[str, float], first: int) -> Row:
    """The scores of the whole horizon and of its first steps, in each of the units."""
    row: Row = {}
    for span, count in (("", None), (f", first {first}", first)):
        found = forecast.score(future, count)
        for unit, size in units.items():
            row[f"MAE{span}{unit}"] = found["MAE"] / size
            row[f"MSE{span}{unit}"] = found["MSE"] / size**2
            row[f"CRPS{span}{unit}"] = found["CRPS"] / size
        row[f"NLPD{span}"] = found["NLPD"] - np.log(units[""])
        row[f"coverage{span}"] = found["coverage"]
    return row


# ---- Real series


def load_real(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values with NaN for gaps, and covariates known in advance: the time of the year for weekly data."""
    from statsmodels.datasets import co2, sunspots

    if name == "sunspots":
        values = sunspots.load_pandas().data["SUNACTIVITY"].to_numpy(float)
        return values, np.zeros((len(values), 0))
    frame = co2.load_pandas().data["co2"]
    angle = 2.0 * np.pi * frame.index.day_of_year.to_numpy() / 365.25
    return frame.to_numpy(float), np.column_stack([np.sin(angle), np.cos(angle)])


# Name → window, training steps, horizon.
REAL = {"sunspots": (12, 150, 22), "CO2": (4, 260, 52)}


def _real_cell(name: str, origin: int, seed: int) -> list[Row]:
    window, training, horizon = REAL[name]
    values, covariates = load_real(name)
    past, future = values[origin - training : origin], values[origin : origin + horizon]
    before, after = covariates[origin - training : origin], covariates[origin : origin + horizon]
    others: dict[str, Any] = {
        "AR": baselines.AutoRegression(min(52, training // 4)),
        "boosted trees": baselines.BoostedRecursion(min(52, training // 4)),
        "persistence": baselines.Persistence(),
        "climatology": baselines.Climatology(),
    }
    rows: list[Row] = []
    for method in (OURS, *others):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if method == OURS:
                model = GPForecaster(window, random_state=seed).fit(past, before if before.shape[1] else None)
                forecast = model.forecast(horizon, covariates=after if after.shape[1] else None)
            else:
                forecast = others[method].fit(past).forecast(horizon, random_state=seed)
        row: Row = {"part": name, "start": origin, "seed": seed, "method": method}
        rows.append(row | _scaled(forecast, future, {"": float(np.nanstd(past))}, horizon // 4))
    return rows


def _real_origins(name: str, count: int) -> list[int]:
    _, training, horizon = REAL[name]
    return [int(i) for i in np.linspace(training, len(load_real(name)[0]) - horizon, count)]


# ---- The run


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    found = [("authors' protocol", 0, seed) for seed in range(settings["seeds"])]
    found += [("start points", start, 0) for start in settings["starts"]]
    return found + [(name, origin, 0) for name in REAL for origin in _real_origins(name, settings["origins"])]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figures."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / "forecasting.csv")
    told = {"profile": profile} | settings
    path = write_results(folder, "forecasting", table(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder)]


def table(rows: list[Row]) -> str:
    """Table 1 with distributions of the scores instead of single numbers."""
    parts = ["# Forecasting by free simulation\n"]
    for part in dict.fromkeys(row["part"] for row in rows):
        some = [row for row in rows if row["part"] == part]
        count = len({(row["start"], row["seed"]) for row in some})
        parts.append(f"\n## {part}\n\n" + _explanation(part, count) + "\n")
        if part == "authors' protocol":
            parts.append(_distribution(some, " (authors)", np.median, PUBLISHED))
        else:
            parts.append(_distribution(some, "", np.mean, {}))
    return "\n".join(parts)


def _explanation(part: str, count: int) -> str:
    if part in REAL:
        window, training, horizon = REAL[part]
        return (
            f"{count} origins, {training} training steps, window {window}, horizon {horizon}: mean over origins, in "
            f"units of the standard deviation of the training values. First steps: {horizon // 4}."
        )
    protocol = f"{TRAINING - WINDOW} training pairs, window {WINDOW}, {HORIZON} steps of free simulation."
    if part == "authors' protocol":
        return (
            f"Mackey-Glass from its start, {protocol} {count} seeds: median (smallest to largest), in the authors' "
            "units (NLPD in training units)."
        )
    return f"Mackey-Glass from {count} start points, {protocol} Mean (smallest to largest), in training units."


def _distribution(rows: list[Row], unit: str, middle: Callable, published: dict) -> str:
    first = next(key.removeprefix("MAE, ") for key in rows[0] if key.startswith("MAE, ") and "authors" not in key)
    keys = ["MAE", "MSE", "CRPS", "NLPD", "coverage", f"CRPS, {first}", f"coverage, {first}"]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        cells = []
        for key in keys:
            values = np.array([row.get(key + unit, row.get(key)) for row in own], float)
            typical, least, largest = map(plain_number, (middle(values), values.min(), values.max()))
            cells.append(f"{typical} ({least} to {largest})")
        line = [method, *cells]
        if published:
            line.append(" / ".join(f"{x:.3f}" for x in published[method]) if method in published else "")
        lines.append(line)
    return markdown_table(["", *keys, *(["published MAE / MSE"] if published else [])], lines)


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """Figures 3 and 7: forecasts with the true continuation, and distributions of errors and coverages by method."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import COLOURS, STYLE

    series = datasets.make_mackey_glass(TRAINING + HORIZON)
    past, future = series[:TRAINING], series[TRAINING:]
    some = [row for row in rows if row["part"] == "start points"]
    names = list(dict.fromkeys(row["method"] for row in some))
    with plt.rc_context(STYLE):
        canvas = plt.figure(figsize=(12, 9))
        grid = canvas.add_gridspec(3, 3, height_ratios=(1, 1, 1.2))
        for line, (title, model, options) in enumerate(
            (
                ("paths of drawn functions", GPForecaster(WINDOW, season=None, trend=None, random_state=0), {}),
                ("as in the paper: moment matching, diagonal", baselines.PublishedGP(WINDOW), {}),
            )
        ):
            axes = canvas.add_subplot(grid[line, :])
            _forecast(model, options, past, HORIZON).plot(truth=future, history=TRAINING, ax=axes)
            axes.set_title(title, loc="right")
        for column, score in enumerate(("MAE", "CRPS", "coverage")):
            axes = canvas.add_subplot(grid[2, column])
            values = [[row[score] for row in some if row["method"] == name] for name in names]
            axes.boxplot(values, orientation="horizontal", tick_labels=names, widths=0.6)
            axes.invert_yaxis()
            axes.set(title=f"{score}, {len(values[0])} start points")
            if column:
                axes.set_yticklabels([])
            if score == "coverage":
                axes.axvspan(0.90, 0.98, color=COLOURS[2], alpha=0.15, lw=0)
            else:
                axes.set_xlim(0, 1.6)
        canvas.tight_layout()
        return save_figure(canvas, folder / "forecasting")
