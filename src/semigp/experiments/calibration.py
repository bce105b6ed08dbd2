"""Calibration: whether intervals hold the truth as often as they claim. This experiment is not in the paper.

*Intervals*: regression with missing inputs, imputation, and forecasting, on five simulated systems each that are not
draws from a Gaussian process. The score is the share of true values within the central 50, 80 and 95 %.

*Ranks*: simulation-based calibration (Talts et al. 2018). Data are drawn from Gaussian processes with random
lengthscales and noise, which the fit does not know. The probability below the true value must be uniform over data
sets. A Kolmogorov-Smirnov test uses one true value from each data set, so that the values are independent.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.stats
from scipy.special import ndtr

from ..estimators import GPForecaster, GPImputer, SemiDescribedGPRegressor
from .reporting import FIRST_SEED, Row, Summary, markdown_table, run_cells, save_figure, summarise, write_results

NAME = "calibration"
LEVELS = (0.5, 0.8, 0.95)
PROFILES = {"quick": {"seeds": 1, "ranks": 10}, "paper": {"seeds": 10, "ranks": 100}}
ROWS, NEW_ROWS, MISSING = 100, 200, 0.2
STEPS, HORIZON = 150, 20


# ---- Regression: (X, y) of systems with three correlated inputs


def _inputs(random: np.random.Generator, n: int) -> np.ndarray:
    return random.normal(size=(n, 3)) @ np.array([[1.0, 0.6, 0.3], [0.0, 0.8, 0.4], [0.0, 0.0, 0.9]])


ROW_SYSTEMS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "smooth": lambda x, random: np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * random.normal(size=len(x)),
    "linear": lambda x, random: x @ [1.0, -0.5, 0.2] + 0.5 * random.normal(size=len(x)),
    "steps": lambda x, random: np.sign(x[:, 0]) + np.sign(x[:, 1] - 0.5) + 0.1 * random.normal(size=len(x)),
    "heavy tails": lambda x, random: np.sin(x[:, 0]) + x[:, 1] + 0.2 * random.standard_t(3, size=len(x)),
    "noise that grows": lambda x, random: x[:, 0] + np.exp(0.7 * x[:, 1] - 1.0) * random.normal(size=len(x)),
}


def _lose(table: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return np.where(random.random(table.shape) < MISSING, np.nan, table)


def _regression(system: str, random: np.random.Generator, seed: int) -> np.ndarray:
    X = _inputs(random, ROWS + NEW_ROWS)
    y = ROW_SYSTEMS[system](X, random)
    X = _lose(X, random)
    model = SemiDescribedGPRegressor(50, random_state=seed).fit(X[:ROWS], y[:ROWS])
    mean, std = model.predict(X[ROWS:], return_std=True)
    return ndtr((y[ROWS:] - mean) / std)


# ---- Imputation of tables


def _ring(random: np.random.Generator, n: int) -> np.ndarray:
    angle = random.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(angle + 1)])


def _clusters(random: np.random.Generator, n: int) -> np.ndarray:
    return 2.0 * random.normal(size=(3, 4))[random.integers(3, size=n)] + 0.3 * random.normal(size=(n, 4))


def _curved(random: np.random.Generator, n: int) -> np.ndarray:
    a, b = random.normal(size=(2, n))
    return np.column_stack([a, b, np.sin(2 * a), a * b]) + 0.1 * random.normal(size=(n, 4))


TABLES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "Gaussian": lambda random, n: random.normal(size=(n, 4)) @ random.normal(size=(4, 4)),
    "curved": _curved,
    "ring": lambda random, n: _ring(random, n) + 0.1 * random.normal(size=(n, 4)),
    "clusters": _clusters,
    "heavy tails": lambda random, n: (
        random.standard_t(3, size=(n, 2)) @ random.normal(size=(2, 4)) + 0.3 * random.standard_t(3, size=(n, 4))
    ),
}


def _imputation(system: str, random: np.random.Generator, seed: int) -> np.ndarray:
    truth = TABLES[system](random, ROWS)
    table = _lose(truth, random)
    mean, std = GPImputer(random_state=seed).fit(table).impute(return_std=True)
    lost = np.isnan(table)
    return ndtr((truth[lost] - mean[lost]) / std[lost])


# ---- Forecasting of series


def _recursion(step: Callable[[float, float, float], float], noise: float) -> Callable:
    def simulate(random: np.random.Generator, n: int) -> np.ndarray:
        values = list(0.1 * random.normal(size=2))
        for e in noise * random.normal(size=n + 100):
            values.append(step(values[-1], values[-2], e))
        return np.array(values[-n:])

    return simulate


SERIES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "auto-regression": _recursion(lambda a, b, e: 1.5 * a - 0.8 * b + e, 1.0),
    "bent auto-regression": _recursion(lambda a, b, e: 1.8 * np.tanh(a) - 0.7 * b + e, 0.2),
    "sine and noise": lambda random, n: np.sin(0.5 * np.arange(n) + random.uniform(0, 6)) + 0.3 * random.normal(size=n),
    "logistic map": _recursion(lambda a, b, e: np.clip(1.0 - 1.7 * a**2 + e, -1.5, 1.5), 0.02),
    "random walk": lambda random, n: np.cumsum(random.normal(size=n)),
}


def _forecasting(system: str, random: np.random.Generator, seed: int) -> np.ndarray:
    series = SERIES[system](random, STEPS + HORIZON)
    past = np.where(random.random(STEPS) < 0.05, np.nan, series[:STEPS])
    paths = GPForecaster(window=6, n_draws=3, random_state=seed).fit(past).forecast(HORIZON).paths
    return np.mean(paths < series[STEPS:], axis=0)


# ---- Ranks under the model itself


def _ranks(system: str, random: np.random.Generator, seed: int) -> np.ndarray:
    """The probability below the truth for one new row of data drawn from a GP with the model's own kernel.

    Only one true value of a data set is used, because others would depend on it.
    """
    X = _inputs(random, 61)
    lengthscales, noise = np.exp(0.5 * random.normal(size=3)) * np.sqrt(3.0), np.exp(random.normal() - 2.0)
    scaled = X / lengthscales
    gram = np.exp(-0.5 * np.sum((scaled[:, None] - scaled) ** 2, axis=2)) + 1e-9 * np.eye(61)
    y = np.linalg.cholesky(gram) @ random.normal(size=61) + noise * random.normal(size=61)
    if system == "missing inputs":
        X = _lose(X, random)
    X[0] = np.where(np.isnan(X[0]).all(), 0.0, X[0])
    model = SemiDescribedGPRegressor(40, posterior="mixture", n_draws=5, random_state=seed).fit(X[1:], y[1:])
    mean, std = model.predict(X[:1], return_std=True)
    return ndtr((y[:1] - mean) / std)


PARTS: dict[str, tuple[Callable[[str, np.random.Generator, int], np.ndarray], tuple[str, ...]]] = {
    "regression": (_regression, tuple(ROW_SYSTEMS)),
    "imputation": (_imputation, tuple(TABLES)),
    "forecasting": (_forecasting, tuple(SERIES)),
    "ranks": (_ranks, ("complete inputs", "missing inputs")),
}


def run_cell(part: str, system: str, seed: int) -> list[Row]:
    """Coverages of one data set; for ranks also the probability below the true value."""
    started = time.perf_counter()
    random = np.random.default_rng([seed, *map(ord, system)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        below = PARTS[part][0](system, random, seed)
    row: Row = {"part": part, "system": system, "seed": seed, "truths": len(below)}
    row |= {f"{level:.0%}": covered(below, level) for level in LEVELS}
    if part == "ranks":
        row["below"] = float(below[0])
    row["seconds"] = time.perf_counter() - started
    return [row]


def covered(below: np.ndarray, level: float) -> float:
    """The share of true values inside the central interval, given the probabilities below them."""
    return float(np.mean(np.abs(below - 0.5) <= 0.5 * level))


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    return [
        (part, system, FIRST_SEED + seed)
        for part, (_, systems) in PARTS.items()
        for system in systems
        for seed in range(settings["ranks" if part == "ranks" else "seeds"])
    ]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / f"{NAME}.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED, "rows": ROWS, "missing": MISSING} | settings
    path = write_results(folder, NAME, report(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder)]


def uniformity(rows: list[Row], system: str) -> tuple[int, float, float]:
    """The number of ranks, their Kolmogorov-Smirnov distance from the uniform distribution, and its p-value."""
    ranks = [row["below"] for row in rows if row["part"] == "ranks" and row["system"] == system]
    found = scipy.stats.kstest(ranks, "uniform")
    return len(ranks), float(found.statistic), float(found.pvalue)


def report(rows: list[Row]) -> str:
    """The page: coverages, and the tests of uniformity."""
    parts = [
        "# Calibration\n",
        f"Share of true values within central intervals; means ± standard errors over data sets. Regression: {ROWS} "
        f"rows, {MISSING:.0%} of the inputs missing, also in the {NEW_ROWS} new rows. Imputation: tables of {ROWS} "
        f"rows, {MISSING:.0%} missing. Forecasting: {HORIZON} steps after {STEPS}, 5 % of which are missing.\n",
    ]
    for part in [part for part in PARTS if part != "ranks"]:
        found = {level: summarise(rows, ("part", "system"), f"{level:.0%}") for level in LEVELS}
        lines = [
            [system, *(_cell(found[level][part, system]) for level in LEVELS)]
            for system in PARTS[part][1]
            if (part, system) in found[0.5]
        ]
        count = len({row["seed"] for row in rows if row["part"] == part})
        header = [f"{part}, {count} data sets each", *(f"{level:.0%}" for level in LEVELS)]
        parts.append(markdown_table(header, lines))
    lines = []
    for system in PARTS["ranks"][1]:
        count, distance, chance = uniformity(rows, system)
        lines.append([system, str(count), f"{distance:.3f}", f"{chance:.2f}"])
    parts.append(
        "Ranks: the model is fitted to 60 rows drawn from a Gaussian process with random lengthscales and noise, and "
        "predicts one new row. Kolmogorov-Smirnov test of uniformity; with p below .01 we would call the model "
        "uncalibrated.\n"
    )
    parts.append(markdown_table(["ranks", "data sets", "distance", "p"], lines))
    return "\n".join(parts)


def _cell(summary: Summary) -> str:
    return f"{summary.mean:.3f} ± {summary.error:.3f}"


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """Coverage against the level for every system, and the distribution of the ranks."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import STYLE

    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(1, 4, figsize=(13, 3.6))
        for axes, (part, (_, systems)) in zip(panels, PARTS.items(), strict=True):
            axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
            for system in systems:
                some = [row for row in rows if row["part"] == part and row["system"] == system]
                if not some:
                    continue
                if part == "ranks":
                    ranks = np.sort([row["below"] for row in some])
                    axes.plot(ranks, (np.arange(len(ranks)) + 0.5) / len(ranks), label=system)
                else:
                    shares = [np.mean([row[f"{level:.0%}"] for row in some]) for level in LEVELS]
                    axes.plot(LEVELS, shares, marker="o", label=system)
            axes.set(title=part, xlabel="promised", xlim=(0, 1), ylim=(0, 1))
            axes.legend(loc="upper left", fontsize=7)
        panels[0].set_ylabel("found")
        panels[3].set(xlabel="probability below the truth", ylabel="share of data sets")
        canvas.tight_layout()
        return save_figure(canvas, folder / NAME)
