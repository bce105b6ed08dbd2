"""Stacked GPs: one layer against two and three, on functions that one lengthscale does not suit, and on tables.

The functions have steps, or change their lengthscale. The tables are those of `data/uci`, 300 training rows each, as
they are and with entries missing. This experiment is not in the paper.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import datasets, scores
from ..datasets.files import UCI_TABLES
from ..estimators import DeepGPRegressor, SemiDescribedGPRegressor
from .reporting import FIRST_SEED, Row, markdown_table, run_cells, save_figure, summarise, write_results

NAME = "deep"
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"seeds": 1, "tables": ("yacht", "machine"), "missing": (0.0, 0.3), "layers": (1, 2)},
    "paper": {"seeds": 2, "tables": UCI_TABLES, "missing": (0.0, 0.3), "layers": (1, 2)},
}
ROWS, NEW_ROWS, TRAINING_SHARE = 300, 500, 0.7


def _steps(x: np.ndarray) -> np.ndarray:
    return np.where(x[:, 0] < -0.3, -1.0, np.where(x[:, 0] < 0.4, 1.0, 0.0))


def _chirp(x: np.ndarray) -> np.ndarray:
    return np.sin(0.5 * np.pi * (1.0 + x[:, 0]) ** 4)


def _spike(x: np.ndarray) -> np.ndarray:
    return np.sin(1.5 * x[:, 0]) + np.exp(-(((x[:, 0] - 0.4) / 0.05) ** 2))


def _oblique_steps(x: np.ndarray) -> np.ndarray:
    return 1.0 * (x[:, 0] + x[:, 1] > 0.2) + 1.0 * (x[:, 1] > 0.3)


# The function, and the numbers of its inputs and of training rows. Inputs are uniform between -1 and 1.
FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int, int]] = {
    "steps": (_steps, 1, 100),
    "lengthscale changes": (_chirp, 1, 100),
    "spike": (_spike, 1, 100),
    "oblique steps": (_oblique_steps, 3, 200),
}
NOISE = 0.05


def make_problem(problem: str, missing: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training inputs with holes, their outputs, new inputs without holes, and theirs."""
    random = np.random.default_rng([seed, *map(ord, problem)])
    if problem in FUNCTIONS:
        function, n_inputs, n = FUNCTIONS[problem]
        X = random.uniform(-1.0, 1.0, (n + NEW_ROWS, n_inputs))
        y = function(X) + NOISE * random.normal(size=len(X))
    else:
        X, y = datasets.load_uci(problem)
        order = random.permutation(len(y))
        n = min(ROWS, int(TRAINING_SHARE * len(y)))
        X, y = X[order[: n + NEW_ROWS]], np.ravel(y)[order[: n + NEW_ROWS]]
    lost = datasets.mask_at_random((n, X.shape[1]), missing, int(random.integers(2**31)))
    return np.where(lost, np.nan, X[:n]), y[:n], X[n:], y[n:]


def run_cell(problem: str, missing: float, n_layers: int, seed: int) -> list[Row]:
    """One depth on one problem. Scores are in units of the standard deviation of the training outputs."""
    X, y, X_new, truth = make_problem(problem, missing, seed)
    started = time.process_time()
    model = (
        SemiDescribedGPRegressor(random_state=seed) if n_layers == 1 else DeepGPRegressor(n_layers, random_state=seed)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    seconds, unit = time.process_time() - started, np.std(y)
    mean, std = model.predict(X_new, return_std=True)
    row: Row = {"problem": problem, "missing": missing, "layers": n_layers, "seed": seed}
    gaussian = scores.negative_log_density(truth, mean, std) - float(np.log(unit))
    row |= {"NLPD": gaussian, "NLPD of mean and std": gaussian, "MSE": float(np.mean((truth - mean) ** 2)) / unit**2}
    row["coverage"] = scores.coverage(truth, mean, std)
    if isinstance(model, DeepGPRegressor):
        row["NLPD"] = -float(np.mean(model.log_density(X_new, truth)) + np.log(unit))
        low, high = model.quantile(X_new, [0.025, 0.975])
        row["coverage"] = float(np.mean((truth >= low) & (truth <= high)))
        row |= {f"weight {depth}": weight for depth, weight in model.weights_.items()}
    return [row | {"seconds": seconds}]


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    problems = [(name, 0.0) for name in FUNCTIONS]
    problems += [(name, missing) for missing in settings["missing"] for name in settings["tables"]]
    return [
        (*problem, n_layers, FIRST_SEED + seed)
        for seed in range(settings["seeds"])
        for n_layers in settings["layers"]
        for problem in problems
    ]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the table and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / f"{NAME}.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED, "rows": ROWS} | settings
    path = write_results(folder, NAME, report(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder)]


def report(rows: list[Row]) -> str:
    """NLPD, coverage and seconds of all depths, for every problem and on average."""
    depths, count = sorted({row["layers"] for row in rows}), len({row["seed"] for row in rows})
    parts = [
        "# Stacked GPs\n",
        f"NLPD in units of the outputs' standard deviation, and coverage of 95 % intervals, means over {count} seeds; "
        f"{NEW_ROWS} new rows or what is left of a table. One layer is `SemiDescribedGPRegressor`, whose prediction is "
        "Gaussian. Two and three layers are mixtures; their weight is that of all depths above one. The difference is "
        "that of the NLPD of two layers and one, ± standard error over seeds. Seconds are processor time of a fit.\n",
    ]
    problems = list(dict.fromkeys((row["problem"], row["missing"]) for row in rows))
    lines = [_line(f"{name}, {missing:.0%} missing", _of(rows, name, missing), depths) for name, missing in problems]
    lines.append(_line("**mean**", rows, depths))
    header = ["", *(f"{depth} layer{'s' * (depth > 1)}" for depth in depths), "difference", "weight", "seconds"]
    return "\n".join(parts) + "\n" + markdown_table(header, lines)


def _of(rows: list[Row], problem: str, missing: float) -> list[Row]:
    return [row for row in rows if row["problem"] == problem and row["missing"] == missing]


def _line(name: str, rows: list[Row], depths: list[int]) -> list[str]:
    nlpd, covered, seconds = (summarise(rows, ("layers",), score) for score in ("NLPD", "coverage", "seconds"))
    cells = [f"{nlpd[depth,].mean:.3f} / {covered[depth,].mean:.3f}" for depth in depths]
    deep = [[1.0 - row["weight 1"] for row in rows if row["layers"] == depth] for depth in depths if depth > 1]
    difference = summarise([{"NLPD": gap} for gap in differences(rows)], (), "NLPD")[()].text if len(depths) > 1 else ""
    return [
        name, *cells, difference, " / ".join(f"{np.mean(weights):.2f}" for weights in deep),
        " / ".join(f"{seconds[depth,].mean:.1f}" for depth in depths),
    ]  # fmt: skip


def differences(rows: list[Row], n_layers: int = 2) -> list[float]:
    """The NLPD of a depth less that of one layer, for every problem and seed."""
    found = {(row["layers"], row["problem"], row["missing"], row["seed"]): row["NLPD"] for row in rows}
    return [value - found[1, *key] for (depth, *key), value in found.items() if depth == n_layers]


def figure(rows: list[Row], folder: Path, seed: int = FIRST_SEED) -> list[Path]:
    """One layer and two on the functions of one input, and the differences on all problems."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import STYLE

    with plt.rc_context(STYLE):
        drawn = [name for name, (_, n_inputs, _) in FUNCTIONS.items() if n_inputs == 1]
        canvas = plt.figure(figsize=(14, 6.4), layout="constrained")
        left, right = canvas.subfigures(1, 2, width_ratios=(len(drawn), 1.5))
        panels = left.subplots(2, len(drawn), squeeze=False, sharex=True, sharey="col")
        for column, name in enumerate(drawn):
            draw_function(panels[0, column], name, 1, seed)
            draw_function(panels[1, column], name, 2, seed)
            panels[0, column].set(title=name)
            panels[1, column].set(xlabel="input")
        panels[0, 0].set_ylabel("one layer")
        panels[1, 0].set_ylabel("two layers")
        draw_differences(right.subplots(), rows)
        return save_figure(canvas, folder / NAME)


def draw_function(axes: Any, name: str, n_layers: int, seed: int) -> None:
    """Data, the function, the median and the 95 % interval of one depth."""
    from ..plotting import COLOURS

    X, y, *_ = make_problem(name, 0.0, seed)
    grid = np.linspace(-1.0, 1.0, 400)[:, None]
    low, middle, high = DeepGPRegressor(n_layers, random_state=seed).fit(X, y).quantile(grid, [0.025, 0.5, 0.975])
    colour = COLOURS[0 if n_layers > 1 else 1]
    axes.plot(X[:, 0], y, ".", color="0.6", ms=4)
    axes.plot(grid[:, 0], FUNCTIONS[name][0](grid), "k--", lw=1)
    axes.fill_between(grid[:, 0], low, high, color=colour, alpha=0.25, lw=0)
    axes.plot(grid[:, 0], middle, color=colour, lw=1.5)


def draw_differences(axes: Any, rows: list[Row]) -> None:
    """The NLPD of two layers less that of one, for every problem."""
    from ..plotting import COLOURS

    problems = list(dict.fromkeys((row["problem"], row["missing"]) for row in rows))
    for place, (name, missing) in enumerate(problems):
        gaps = differences(_of(rows, name, missing))
        axes.plot(gaps, [place] * len(gaps), "o", color=COLOURS[0], alpha=0.4, ms=4)
        axes.plot(np.mean(gaps), place, "|", color=COLOURS[0], ms=14, mew=2)
    axes.axvline(0.0, color="0.5", lw=1)
    names = [name if name in FUNCTIONS else f"{name}, {missing:.0%}" for name, missing in problems]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlabel="NLPD, two layers less one", title="problems and missing entries")
