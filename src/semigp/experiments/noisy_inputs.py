"""Three treatments of known error bars on the inputs: ignored, as a variational constraint, or as a prior on x."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import baselines, scores
from ..estimators import SemiDescribedGPRegressor
from .reporting import FIRST_SEED, Row, markdown_table, run_cells, save_figure, summarise, write_results

OURS, IGNORED, CONSTRAINED = "error bars as a prior (default)", "error bars ignored", "error bars as a constraint"
PROFILES = {
    "quick": {"seeds": 2, "variances": (0.1, 0.4), "rows": (80,)},
    "paper": {"seeds": 5, "variances": (0.1, 0.4), "rows": (80, 200)},
}
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sine": lambda x: np.sin(2.0 * x),
    "bump": lambda x: np.exp(-2.0 * x**2) + 0.3 * x,
    "step": lambda x: np.tanh(4.0 * x),
    "wave": lambda x: np.cos(3.0 * x) * np.exp(-0.2 * x**2),
}
_NOISE = 0.05


def make_problem(function: str, variance: float, n_rows: int, seed: int) -> tuple[np.ndarray, ...]:
    """Noisy inputs with variances between 0 and `variance`, their standard deviations, outputs, and clean test rows."""
    random = np.random.default_rng(seed)
    f = FUNCTIONS[function]
    x = random.uniform(-3.0, 3.0, size=(n_rows, 1))
    std = np.sqrt(random.uniform(0.0, variance, size=x.shape))
    y = f(x[:, 0]) + _NOISE * random.normal(size=n_rows)
    test = np.linspace(-3.0, 3.0, 200)[:, None]
    return x + std * random.normal(size=x.shape), std, y, test, f(test[:, 0])


def run_cell(function: str, variance: float, n_rows: int, seed: int) -> list[Row]:
    """All treatments of error bars on one problem. RMSE is against the function, the other scores against new data."""
    X, std, y, X_test, truth = make_problem(function, variance, n_rows, seed)
    observed = truth + _NOISE * np.random.default_rng(seed + 1).normal(size=truth.shape)
    models: dict[str, Any] = {
        OURS: (SemiDescribedGPRegressor(random_state=seed), {"X_std": std}),
        CONSTRAINED: (SemiDescribedGPRegressor(input_noise="constraint", random_state=seed), {"X_std": std}),
        IGNORED: (baselines.ExactGP(), {}),
    }
    rows: list[Row] = []
    for name, (model, extra) in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mean, spread = model.fit(X, y, **extra).predict(X_test, return_std=True)
        row: Row = {"function": function, "variance": variance, "rows": n_rows, "seed": seed, "method": name}
        row["RMSE"] = float(np.sqrt(np.mean((mean - truth) ** 2)))
        row |= {score: scores.ALL[score](observed, mean, spread) for score in ("NLPD", "CRPS", "coverage")}
        rows.append(row)
    return rows


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    seeds = range(FIRST_SEED, FIRST_SEED + settings["seeds"])
    return [(f, v, n, s) for s in seeds for n in settings["rows"] for v in settings["variances"] for f in FUNCTIONS]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / "noisy-inputs.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED} | settings
    path = write_results(folder, "noisy-inputs", table(rows), told, time.perf_counter() - started)
    return [path, *figure(folder)]


def table(rows: list[Row]) -> str:
    """Median RMSE, mean NLPD and coverage for every treatment and size of the error bars."""
    count = len({row["seed"] for row in rows})
    parts = ["# Noisy inputs with known error bars\n"]
    parts.append(
        f"One input, {len(FUNCTIONS)} functions, {count} seeds each. Input variances are uniform between 0 and the "
        "given one. RMSE is against the function at clean inputs, median over seeds and functions; NLPD and coverage "
        "are of new observations, means.\n"
    )
    lines = []
    settings = sorted({(row["rows"], row["variance"]) for row in rows})
    for method in (OURS, CONSTRAINED, IGNORED):
        cells = []
        for setting in settings:
            some = [row for row in rows if row["method"] == method and (row["rows"], row["variance"]) == setting]
            median = np.median([row["RMSE"] for row in some])
            nlpd, covered = (summarise(some, ("method",), score)[(method,)].mean for score in ("NLPD", "coverage"))
            cells.append(f"{median:.3f} / {nlpd:.2f} / {covered:.3f}")
        lines.append([method, *cells])
    header = ["RMSE / NLPD / coverage", *(f"{n} rows, variance to {variance:g}" for n, variance in settings)]
    return "\n".join(parts) + "\n" + markdown_table(header, lines)


def figure(folder: Path, variance: float = 0.4, seed: int = FIRST_SEED) -> list[Path]:
    """Predictions with error bars ignored and with error bars as a prior, on one problem for each function."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import COLOURS, STYLE

    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(1, len(FUNCTIONS), figsize=(14, 3.6), squeeze=False)
        for axes, function in zip(panels[0], FUNCTIONS, strict=True):
            X, std, y, test, truth = make_problem(function, variance, 80, seed)
            axes.errorbar(X[:, 0], y, xerr=std[:, 0], fmt=".", color="0.6", ms=4, lw=0.7, label="data")
            axes.plot(test[:, 0], truth, "k--", lw=1, label="truth")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                ours, spread = SemiDescribedGPRegressor(random_state=seed).fit(X, y, X_std=std).predict(test, True)
                ignored = baselines.ExactGP().fit(X, y).predict(test)
            axes.plot(test[:, 0], ignored, color=COLOURS[1], label=IGNORED)
            axes.plot(test[:, 0], ours, color=COLOURS[0], lw=2, label=OURS)
            axes.fill_between(test[:, 0], ours - 1.96 * spread, ours + 1.96 * spread, color=COLOURS[0], alpha=0.2, lw=0)
            axes.set(title=function, xlabel="input", xlim=(-3.4, 3.4))
        handles, labels = panels[0, 0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="lower center", ncols=4)
        canvas.tight_layout(rect=(0, 0.09, 1, 1))
        return save_figure(canvas, folder / "noisy-inputs")
