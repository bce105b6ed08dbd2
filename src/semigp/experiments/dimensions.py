"""Figure 8 of the paper: how much incomplete rows help, for different numbers of inputs, outputs and rows."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import baselines, datasets, scores
from ..estimators import SemiDescribedGPRegressor
from .reporting import FIRST_SEED, Row, markdown_table, run_cells, save_figure, summarise, write_results

OURS, STANDARD = "SD-GP", "GP, complete rows"
_BASE = {"q": 10, "p": 5, "n": 100}
# The numbers are varied one at a time around q = 10, p = 5, n = 100. Two in five rows are complete.
PROFILES = {
    "quick": {"seeds": 1, "rates": (0.3, 0.9), "q": (2, 10), "p": (1, 10), "n": (50, 100)},
    "paper": {
        "seeds": 8,
        "rates": (0.2, 0.5, 0.8, 1.0),
        "q": (2, 5, 10, 15, 20),
        "p": (1, 5, 10, 20),
        "n": (50, 100, 200),
    },
}


def run_cell(varied: str, value: int, rate: float, seed: int) -> list[Row]:
    """Both methods on one data set."""
    size = _BASE | {varied: value}
    n_test = 100
    X, Y = datasets.make_semi_described(size["n"] + n_test, size["q"], size["p"], seed)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[: size["n"]], order[size["n"] :]
    n_complete = round(0.4 * size["n"])
    missing = np.zeros((size["n"], size["q"]), bool)
    missing[n_complete:] = datasets.mask_at_random((size["n"] - n_complete, size["q"]), rate, seed)
    inputs = np.where(missing, np.nan, X[train])
    rows: list[Row] = []
    for name, model in {
        OURS: SemiDescribedGPRegressor(random_state=seed),
        STANDARD: baselines.CompleteRowsGP(),
    }.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mean, std = model.fit(inputs, Y[train]).predict(X[test], return_std=True)
        unit = Y[train].std(axis=0)
        scored = {score: f(Y[test] / unit, mean / unit, std / unit) for score, f in scores.ALL.items()}
        rows.append({"varied": varied, "value": value, "rate": rate, "seed": seed, "method": name} | scored)
    return rows


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    return [
        (varied, value, rate, FIRST_SEED + seed)
        for varied in _BASE
        for value in settings[varied]
        for rate in settings["rates"]
        for seed in range(settings["seeds"])
    ]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / "dimensions.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED, "base": _BASE} | settings
    path = write_results(folder, "dimensions", table(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder)]


def table(rows: list[Row]) -> str:
    """The MSE of SD-GP divided by that of a GP on the complete rows, and the coverage of SD-GP."""
    parts = ["# The effect of the numbers of inputs, outputs and rows\n"]
    parts.append(
        "MSE of SD-GP / MSE of a GP on the complete rows (coverage of SD-GP's 95 % intervals); means over seeds.\n"
    )
    rates = sorted({row["rate"] for row in rows})
    error, covered = (summarise(rows, ("varied", "value", "rate", "method"), s) for s in ("MSE", "coverage"))
    lines = []
    for varied, value in dict.fromkeys((row["varied"], row["value"]) for row in rows):
        cells = []
        for rate in rates:
            key = (varied, value, rate)
            ratio = error[(*key, OURS)].mean / error[(*key, STANDARD)].mean
            cells.append(f"{ratio:.2f} ({covered[(*key, OURS)].mean:.2f})")
        lines.append([f"{varied} = {value}", *cells])
    return "\n".join(parts) + "\n" + markdown_table(["", *(f"{rate:.0%} missing" for rate in rates)], lines)


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """Figure 8: the ratio of errors against the share of missing inputs, with a panel for each varied number."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import STYLE, draw_curves

    ratios: list[Row] = []
    standard = {(r["varied"], r["value"], r["rate"], r["seed"]): r["MSE"] for r in rows if r["method"] == STANDARD}
    for row in rows:
        if row["method"] == OURS:
            base = standard[row["varied"], row["value"], row["rate"], row["seed"]]
            ratios.append(row | {"log ratio": float(np.log2(row["MSE"] / base))})
    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True)
        for axes, varied in zip(panels, _BASE, strict=True):
            found = summarise((r for r in ratios if r["varied"] == varied), ("value", "rate"), "log ratio")
            rates = sorted({rate for _, rate in found})
            curves = {
                f"{varied} = {value}": ([found[value, r].mean for r in rates], [found[value, r].error for r in rates])
                for value in sorted({value for value, _ in found})
            }
            draw_curves(axes, [100 * r for r in rates], curves)
            axes.axhline(0.0, color="black", lw=0.8)
            axes.set(xlabel="missing inputs of incomplete rows, %", title=f"number of {_NAMES[varied]}")
            axes.legend()
        panels[0].set_ylabel("log₂ MSE(SD-GP) / MSE(GP, complete rows)")
        canvas.tight_layout()
        return save_figure(canvas, folder / "dimensions")


_NAMES = {"q": "inputs, q", "p": "outputs, p", "n": "rows, n"}
