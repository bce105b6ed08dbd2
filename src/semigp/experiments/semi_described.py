"""Figures 2 and 6 of the paper: regression with a growing share of missing inputs.

Every method sees the same rows: some are complete, and in the others a share of the inputs is missing at random. Scores
are on complete test rows, with outputs in units of their training standard deviation.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from .. import baselines, datasets, scores
from ..estimators import SemiDescribedGPRegressor
from .reporting import FIRST_SEED, Row, markdown_table, run_cells, save_figure, summarise, write_results

OURS, PUBLISHED = "SD-GP", "SD-GP as published"
ORACLE, MI, MI_SAME = "oracle GP", "MI(X,Y) + GP", "MI(X,Y) + our GP"
SINGLE = ("IterativeImputer(X) + GP", "IterativeImputer(X,Y) + GP", "KNN imputation + GP", "joint Gaussian + GP")
SIMPLE = ("MLR", "nearest neighbour", "mean")
TITLES = {"simulated": "simulated", "mocap": "motion capture"}
# The kernel and hyperpriors are those of the mixture form of SD-GP.
SAME_GP = baselines.ExactGP(linear=True, lengthscale_spread=0.5)
PROFILES = {
    "quick": {"seeds": 1, "rates": (0.2, 0.5, 0.8), "data": ("simulated", "mocap")},
    "paper": {
        "seeds": 8,
        "rates": (0.05, 0.2, 0.5, 0.7, 0.9),
        "data": ("simulated", "mocap"),
    },
}


def load(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Inputs and outputs in random order, and the numbers of complete and incomplete rows; the rest is for testing."""
    random = np.random.default_rng(seed)
    if name == "simulated":
        X, Y = datasets.make_semi_described(200, 15, 5, seed)
        order = random.permutation(200)
        return X[order], Y[order], 40, 60
    features = datasets.load_mocap()[0][:330][random.permutation(330)]
    return features[:, 20:], features[:, :20], 50, 80


def methods(seed: int, n_rows: int) -> dict[str, Callable[[], Any]]:
    """For each method, a function that makes its estimator."""
    iterative = IterativeImputer(max_iter=10, random_state=seed)
    draws = IterativeImputer(max_iter=10, sample_posterior=True)
    published = {"input_prior": "standard", "output_noise": "shared", "max_iter": 300, "n_inducing": min(35, n_rows)}
    return {
        OURS: lambda: SemiDescribedGPRegressor(random_state=seed),
        PUBLISHED: lambda: SemiDescribedGPRegressor(random_state=seed, **published),
        "GP, complete rows": baselines.CompleteRowsGP,
        "MLR": baselines.LinearBaseline,
        "nearest neighbour": baselines.NearestNeighbour,
        "mean": baselines.MeanBaseline,
        "GP-LVM imputation": baselines.GPLVMImputation,
        SINGLE[0]: lambda: baselines.ImputedGP(iterative, with_outputs=False),
        SINGLE[1]: lambda: baselines.ImputedGP(iterative),
        SINGLE[2]: lambda: baselines.ImputedGP(KNNImputer()),
        SINGLE[3]: lambda: baselines.ImputedGP(baselines.JointGaussianImputer()),
        MI: lambda: baselines.MultipleImputationGP(draws, random_state=seed),
    }


def run_cell(name: str, seed: int, rate: float) -> list[Row]:
    """All methods on one split at one share of missing inputs."""
    X, Y, n_complete, n_incomplete = load(name, seed)
    n = n_complete + n_incomplete
    truth, Y_train, X_test, Y_test = X[:n], Y[:n], X[n:], Y[n:]
    missing = np.zeros(truth.shape, bool)
    missing[n_complete:] = datasets.mask_at_random((n_incomplete, X.shape[1]), rate, seed)
    X_train = np.where(missing, np.nan, truth)
    rows = []
    for method, build in {**methods(seed, n), ORACLE: baselines.ExactGP}.items():
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = build().fit(truth if method == ORACLE else X_train, Y_train)
            fitted = {method: model, MI_SAME: model.with_gp(SAME_GP)} if method == MI else {method: model}
            for name_of, one in fitted.items():
                mean, std = one.predict(X_test, return_std=True)
                row: Row = {"data": name, "rate": rate, "seed": seed, "method": name_of}
                row |= _scores(Y_train, Y_test, mean, std)
                row["missing inputs"] = _error_of_inputs(one, truth, missing)
                row["seconds"] = (time.perf_counter() - started) / len(fitted)
                if method == OURS:
                    row["form of q(X)"] = model.posterior_
                rows.append(row)
    return rows


def _scores(Y_train: np.ndarray, Y_test: np.ndarray, mean: np.ndarray, std: np.ndarray) -> Row:
    """All scores, with outputs in units of their training standard deviation."""
    unit = Y_train.std(axis=0)
    return {score: f(Y_test / unit, mean / unit, std / unit) for score, f in scores.ALL.items()}


def _error_of_inputs(model: Any, truth: np.ndarray, missing: np.ndarray) -> float | None:
    """Mean squared error of the imputed inputs, in units of the columns' variances; None if a method imputes none."""
    unit = truth.std(axis=0)
    if isinstance(model, SemiDescribedGPRegressor):
        found = model.impute()
    elif hasattr(model, "imputed_"):
        found = model.imputed_ * model._x_scaler.scale_ + model._x_scaler.mean_
    else:
        return None
    return float(np.mean((((found - truth) / unit)[missing]) ** 2))


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    seeds = range(FIRST_SEED, FIRST_SEED + settings["seeds"])
    return [(name, seed, rate) for seed in seeds for name in settings["data"] for rate in settings["rates"]]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / "semi-described.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED} | settings
    path = write_results(folder, "semi-described", tables(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder)]


def tables(rows: list[Row]) -> str:
    """A table for each data set and score: mean ± standard error by method and rate.

    The best method other than the oracle is in bold.
    """
    parts = ["# Semi-described regression\n"]
    names, count = list(dict.fromkeys(row["method"] for row in rows)), len({row["seed"] for row in rows})
    parts.append(f"Mean ± standard error over {count} seeds; outputs in units of their training standard deviation.\n")
    for data in dict.fromkeys(row["data"] for row in rows):
        for score in (*scores.ALL, "missing inputs", "seconds"):
            found = summarise((row for row in rows if row["data"] == data), ("method", "rate"), score)
            parts.append(f"\n## {data}, {score}\n\n" + _score_table(found, names, score))
    return "\n".join(parts)


def _score_table(found: dict, names: list[str], score: str) -> str:
    rates = sorted({rate for _, rate in found})
    best = {}
    if score not in ("coverage", "seconds"):
        best = {rate: min(found[m, rate].mean for m in names if m != ORACLE and (m, rate) in found) for rate in rates}
    lines = []
    for method in names:
        cells = []
        for rate in rates:
            value = found.get((method, rate))
            text = "" if value is None else value.text
            cells.append(f"**{text}**" if value is not None and best.get(rate) == value.mean else text)
        if any(cells):
            lines.append([method, *cells])
    return markdown_table(["", *(f"{rate:.0%}" for rate in rates)], lines)


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """Figures 2 and 6: MSE, NLPD and coverage against the share of missing inputs, for both data sets."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import STYLE, draw_curves

    shown = ("MSE", "NLPD", "coverage")
    data = list(dict.fromkeys(row["data"] for row in rows))
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(len(data), 3, figsize=(12, 3.6 * len(data)), squeeze=False)
        for line, name in zip(grid, data, strict=True):
            for axes, score in zip(line, shown, strict=True):
                found = summarise((row for row in rows if row["data"] == name), ("method", "rate"), score)
                rates = sorted({rate for _, rate in found})
                curves = {}
                for method in dict.fromkeys(row["method"] for row in rows):
                    values = [found[method, rate] for rate in rates]
                    curves[method] = ([v.mean for v in values], [v.error for v in values])
                draw_curves(
                    axes, [100 * r for r in rates], curves, (OURS, PUBLISHED), (ORACLE,), SIMPLE, is_log=score == "MSE"
                )
                axes.set(xlabel="missing inputs, %", ylabel=score, title=TITLES[name])
                _set_range(axes, score, curves)
        for line in grid:
            line[2].axhspan(0.90, 0.98, color="green", alpha=0.08, lw=0)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="lower center", ncols=5)
        canvas.tight_layout(rect=(0, 0.12 if len(data) > 1 else 0.22, 1, 1))
        return save_figure(canvas, folder / "semi-described")


def _set_range(axes: Any, score: str, curves: dict) -> None:
    """Set the vertical axis: logarithmic for errors, and without methods that are far off for densities."""
    if score == "MSE":
        axes.set_yscale("log")
    elif score == "NLPD":
        low = min(min(means) for means, _ in curves.values())
        axes.set_ylim(low - 0.1, low + 2.5)
    else:
        axes.set_ylim(0.6, 1.0)
