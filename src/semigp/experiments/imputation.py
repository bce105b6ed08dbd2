"""Imputation of tables with missing entries: errors and intervals of several methods. Not in the paper."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from .. import scores
from ..baselines.forests import iterative_trees
from ..core.inputs.joint_gaussian import complete_rows, fit_joint_gaussian
from ..estimators import BayesianGPLVM, GPImputer
from .reporting import FIRST_SEED, Row, Summary, markdown_table, run_cells, save_figure, summarise, write_results

NAME = "imputation"
PROFILES = {
    "quick": {"seeds": 1, "rates": (0.2,), "tables": ("wine", "iris", "curved")},
    "paper": {
        "seeds": 6,
        "rates": (0.05, 0.2, 0.5),
        "tables": ("wine", "diabetes", "breast cancer", "iris", "curved"),
    },
}
N_DRAWS = 10
Moments = tuple[np.ndarray, np.ndarray | None]


def load_table(name: str, seed: int) -> np.ndarray:
    """A complete table in standard units."""
    loaders = {"wine": load_wine, "diabetes": load_diabetes, "breast cancer": load_breast_cancer, "iris": load_iris}
    table = _curved(seed) if name == "curved" else loaders[name]().data
    return (table - table.mean(axis=0)) / table.std(axis=0)


def _curved(seed: int, n: int = 200) -> np.ndarray:
    """Two independent columns and three functions of them, with noise of standard deviation 0.05."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, n))
    clean = np.column_stack([a, b, np.sin(2 * a), a * b, np.cos(a + b)])
    return clean + 0.05 * random.normal(size=clean.shape)


def _gp_imputer(table: np.ndarray, seed: int) -> Moments:
    return GPImputer(N_DRAWS, random_state=seed).fit(table).impute(return_std=True)


def _latent(table: np.ndarray, seed: int) -> Moments:
    n_components = min(10, table.shape[1])
    return BayesianGPLVM(n_components, output_noise="per-output", random_state=seed).fit(table).impute(return_std=True)


def _joint_gaussian(table: np.ndarray, seed: int) -> Moments:
    mean, covariance = complete_rows(fit_joint_gaussian(table), table)
    return mean, np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))


def _ridge_draws(table: np.ndarray, seed: int) -> Moments:
    """Multiple imputation, with the spread of the draws as the uncertainty."""
    draws = [
        IterativeImputer(sample_posterior=True, max_iter=10, random_state=seed + k).fit_transform(table)
        for k in range(N_DRAWS)
    ]
    return np.mean(draws, axis=0), np.std(draws, axis=0, ddof=1)


def _point(imputer: Callable[[int], Any]) -> Callable[[np.ndarray, int], Moments]:
    return lambda table, seed: (imputer(seed).fit_transform(table), None)


OURS = "GPImputer"
METHODS: dict[str, Callable[[np.ndarray, int], Moments]] = {
    OURS: _gp_imputer,
    "BayesianGPLVM": _latent,
    "joint Gaussian": _joint_gaussian,
    "IterativeImputer, 10 draws": _ridge_draws,
    "IterativeImputer": _point(lambda seed: IterativeImputer(max_iter=30, random_state=seed)),
    "IterativeImputer, trees": _point(iterative_trees),
    "KNNImputer": _point(lambda seed: KNNImputer()),
    "mean": _point(lambda seed: SimpleImputer()),
}


def run_cell(name: str, rate: float, seed: int) -> list[Row]:
    """All methods on one table with entries missing at random."""
    truth = load_table(name, seed)
    holes = np.random.default_rng(seed).random(truth.shape) < rate
    table = np.where(holes, np.nan, truth)
    rows: list[Row] = []
    for method, fill in METHODS.items():
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mean, std = fill(table, seed)
        row: Row = {"table": name, "rate": rate, "seed": seed, "method": method}
        row["seconds"] = time.perf_counter() - started
        row["RMSE"] = float(np.sqrt(np.mean((mean - truth)[holes] ** 2)))
        if std is not None:
            moments = truth[holes], mean[holes], np.maximum(std[holes], 1e-6)
            row |= {score: float(scores.ALL[score](*moments)) for score in ("NLPD", "coverage")}
        rows.append(row)
    return rows


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    seeds = range(FIRST_SEED, FIRST_SEED + settings["seeds"])
    return [(name, rate, seed) for name in settings["tables"] for seed in seeds for rate in settings["rates"]]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / f"{NAME}.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED, "draws": N_DRAWS} | settings
    path = write_results(folder, NAME, report(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder)]


def report(rows: list[Row]) -> str:
    """The page: a table of scores for each data set, with the best in bold."""
    count = len({row["seed"] for row in rows})
    parts = [
        "# Tables with missing entries\n",
        f"Entries are missing at random; means ± standard errors over {count} seeds, in standard deviations of the "
        "columns. NLPD and coverage of 95 % intervals are given for methods with a standard deviation.\n",
    ]
    for name in dict.fromkeys(row["table"] for row in rows):
        some = [row for row in rows if row["table"] == name]
        rates = sorted({row["rate"] for row in some})
        found = {score: summarise(some, ("method", "rate"), score) for score in ("RMSE", "NLPD", "coverage", "seconds")}
        lines = [
            [method, *(_cell(found, method, rate) for rate in rates)]
            for method in METHODS
            if (method, rates[0]) in found["RMSE"]
        ]
        parts.append(f"## {name}\n\nRMSE / NLPD / coverage / seconds\n")
        parts.append(markdown_table(["", *(f"{rate:.0%} missing" for rate in rates)], lines))
    return "\n".join(parts)


def _cell(found: dict[str, dict[tuple, Summary]], method: str, rate: float) -> str:
    """The scores of a method at this rate. A score that is the best of all methods is in bold."""
    parts = []
    for score in ("RMSE", "NLPD"):
        summary = found[score].get((method, rate))
        if summary is None:
            parts.append("")
            continue
        best = min(other.mean for (_, r), other in found[score].items() if r == rate)
        digits = 3 if score == "RMSE" else 2
        text = f"{summary.mean:.{digits}f} ± {summary.error:.{digits}f}"
        parts.append(f"**{text}**" if summary.mean == best else text)
    covered = found["coverage"].get((method, rate))
    parts.append("" if covered is None else f"{covered.mean:.3f}")
    parts.append(f"{found['seconds'][method, rate].mean:.1f}")
    return " / ".join(parts)


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """RMSE against the share of missing entries, with a panel for each table."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import STYLE, draw_curves

    names = list(dict.fromkeys(row["table"] for row in rows))
    rates = sorted({row["rate"] for row in rows})
    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(1, len(names), figsize=(3.1 * len(names), 3.6), squeeze=False)
        for axes, name in zip(panels[0], names, strict=True):
            found = summarise([row for row in rows if row["table"] == name], ("method", "rate"), "RMSE")
            curves = {
                method: tuple([getattr(found[method, rate], part) for rate in rates] for part in ("mean", "error"))
                for method in METHODS
            }
            draw_curves(axes, [100 * rate for rate in rates], curves, ours=(OURS,), faint=("mean",))
            axes.set(title=name, xlabel="missing entries, %", ylim=(0, 1.1))
        panels[0, 0].set_ylabel("RMSE (standard deviations)")
        canvas.legend(*panels[0, 0].get_legend_handles_labels(), loc="lower center", ncols=4)
        canvas.tight_layout(rect=(0, 0.13, 1, 1))
        return save_figure(canvas, folder / NAME)
