"""The experiment as a whole: cells of one problem or of made data, the table, and the figure."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from ... import scores
from ...estimators import SharedGPLVM
from ..reporting import (
    FIRST_SEED,
    Row,
    Summary,
    markdown_table,
    read_rows,
    run_cells,
    save_figure,
    summarise,
    write_results,
)
from . import problems
from .methods import GPY, OURS, WAYS, has_gpy

NAME = "views"
MADE = "made"
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"seeds": 1, "shares": (0.2,), "problems": ("oil", "oil, labels"), "made": 2},
    "paper": {"seeds": 6, "shares": (0.0, 0.2, 0.5), "problems": problems.NAMES, "made": 20},
}
# GPy takes minutes for a fit with holes: so many seeds, and only on these.
_GPY_SEEDS, _GPY_PROBLEMS = 2, ("oil", "mocap")
_MADE_COMPONENTS = 6
# Errors above this are not told apart: CCA with nearly equal columns.
_USELESS = 2


def planned(profile: str) -> list[tuple]:
    """Problem, share of missing entries and seed: all that a profile solves."""
    settings = PROFILES[profile]
    seeds = range(FIRST_SEED, FIRST_SEED + settings["seeds"])
    made = range(FIRST_SEED, FIRST_SEED + settings["made"])
    found = [(name, share, seed) for seed in seeds for share in settings["shares"] for name in settings["problems"]]
    return [*found, *((MADE, 0.0, seed) for seed in made)]


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile: a problem and a way. Each cell is independent of the others."""
    return _with_ways(planned(profile))


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run a profile, and write the records, the page and the figure. Records that are there are not made again."""
    return run_some(planned(profile), folder, n_jobs, profile)


def run_some(
    solved: Sequence[tuple], folder: Path, n_jobs: int, profile: str = "some", seconds: float = np.inf
) -> list[Path]:
    """Run some problems (name, share of missing entries, seed), except for what is in the table already."""
    started, table = time.perf_counter(), folder / f"{NAME}.csv"
    known = read_rows(table)
    done = {(row["problem"], row["share"], row["seed"], row["method"]) for row in known}
    wanted = [cell for cell in _with_ways(solved) if cell not in done]
    rows = run_cells(run_cell, wanted, n_jobs, table, known, seconds)
    settings = {"profile": profile, "first seed": FIRST_SEED, "rows": problems.N_TRAIN, **PROFILES.get(profile, {})}
    spent = time.perf_counter() - started
    path = write_results(folder, NAME, report(rows), settings, spent, continues=bool(known))
    try:
        return [path, *figure(rows, folder)]
    except ImportError as error:
        print(f"No figure: {error}.")
        return [path]


def _with_ways(solved: Sequence[tuple]) -> list[tuple]:
    return [(*problem, way) for problem in solved for way in _ways(*problem)]


def _ways(problem: str, share: float, seed: int) -> list[str]:
    if problem == MADE:
        return [OURS]
    by_gpy = has_gpy() and problem in _GPY_PROBLEMS and seed < FIRST_SEED + _GPY_SEEDS
    return [way for way in WAYS if way != GPY or by_gpy]


def run_cell(name: str, share: float, seed: int, method: str) -> list[Row]:
    """One way on one problem, or our model on made data."""
    row: Row = {"problem": name, "share": share, "seed": seed, "method": method}
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == MADE:
            return [row | known_inputs(seed) | {"seconds": time.perf_counter() - started}]
        problem = problems.load(name, share, seed)
        found = WAYS[method](problem)
    row["seconds"] = time.perf_counter() - started
    parts = [_scores(problem, other, *moments) for (_, other), moments in zip(problem.directions, found, strict=True)]
    return [row | {score: float(np.mean([part[score] for part in parts])) for score in parts[0]}]


def _scores(problem: problems.Problem, view: str, mean: np.ndarray, std: np.ndarray | None) -> dict[str, float]:
    """Mean squared error in units of the columns' variances, or the share of wrong labels; NLPD and coverage."""
    truth, scale = problem.truth[view], problem.scale[view]
    if problem.is_labels(view):
        return {"error": float(np.mean(mean.astype(int) != truth.astype(int)))}
    found = {"error": float(np.mean(((mean - truth) / scale) ** 2))}
    if std is not None:
        moments = truth / scale, mean / scale, np.maximum(std / scale, 1e-6)
        found |= {score: float(scores.ALL[score](*moments)) for score in ("NLPD", "coverage")}
    return found


# ---- known inputs


def known_inputs(seed: int) -> Row:
    """Whether shared and private latent inputs are those that are behind made data.

    They are found if the shared ones tell more than half of the variance of the shared input, and nearly nothing of the
    others (less than three tenths), and in the same way for what is private to each view.
    """
    views, inputs = problems.make_known(seed)
    model = SharedGPLVM(_MADE_COMPONENTS, random_state=0).fit(views)
    sets = [model.shared_, *model.private_.values()]
    width = np.sqrt(model.relevance_.max(axis=0))
    table = np.array([[_explained((model.embedding_ * width)[:, own], one) for one in inputs.T] for own in sets])
    others = table[~np.eye(3, dtype=bool)]
    is_found = bool(np.all(np.diag(table) > 0.5) and np.all(others < 0.3))
    counts = "+".join(str(len(own)) for own in sets)
    return {"found": int(is_found), "inputs": counts, "own": float(np.diag(table).min()), "other": float(others.max())}


def _explained(latent: np.ndarray, known: np.ndarray) -> float:
    """The share of the variance of an input that nearby rows tell, with a tenth of the rows held out in turn."""
    if not latent.shape[1]:
        return 0.0
    predicted = cross_val_predict(KNeighborsRegressor(5), latent, known, cv=10)
    return float(1.0 - np.mean((predicted - known) ** 2) / np.var(known))


# ---- the page


def report(rows: list[Row]) -> str:
    """The page: a table for each problem, with the lowest error in bold, and what was found in made data."""
    predicted = [row for row in rows if row["problem"] != MADE]
    parts = [
        "# One view from another\n",
        f"{problems.N_TRAIN} training rows, {problems.N_NEW} new ones. A share of the entries is missing, in all views "
        "of the training rows and in the given view of the new rows. Each view is predicted from the other; of labels, "
        "only these. Error: mean squared error over the variance of the columns, or the share of wrong labels. Peers "
        f"see imputed tables. Means ± standard errors over seeds from {FIRST_SEED} on.\n",
    ]
    for name in dict.fromkeys(row["problem"] for row in predicted):
        some = [row for row in predicted if row["problem"] == name]
        shares = sorted({row["share"] for row in some})
        found = {score: summarise(some, ("method", "share"), score) for score in ("error", "NLPD", "coverage")}
        lines = [[way, *(_cell(found, way, share) for share in shares)] for way in WAYS if _has(found, way, shares)]
        counts = sorted({summary.count for summary in found["error"].values()})
        parts.append(f"## {name}\n\nerror / NLPD / coverage of 95 % intervals; seeds: {', '.join(map(str, counts))}\n")
        parts.append(markdown_table(["", *(f"{share:.0%} missing" for share in shares)], lines))
    made = [row for row in rows if row["problem"] == MADE]
    return "\n".join([*parts, *([_made(made)] if made else [])])


def _has(found: dict[str, dict[tuple, Summary]], way: str, shares: Sequence[float]) -> bool:
    return any((way, share) in found["error"] for share in shares)


def _cell(found: dict[str, dict[tuple, Summary]], way: str, share: float) -> str:
    error = found["error"].get((way, share))
    if error is None:
        return ""
    best = min(other.mean for (_, own), other in found["error"].items() if own == share)
    text = f"{error.mean:.4f} ± {error.error:.4f}" if error.mean < _USELESS else f"above {_USELESS}"
    parts = [f"**{text}**" if error.mean == best else text]
    for score, digits in (("NLPD", 3), ("coverage", 3)):
        summary = found[score].get((way, share))
        parts += [] if summary is None else [f"{summary.mean:.{digits}f}"]
    return " / ".join(parts)


def _made(rows: list[Row]) -> str:
    right = sum(row["found"] for row in rows)
    own, other = min(row["own"] for row in rows), max(row["other"] for row in rows)
    return (
        "## Shared and private inputs\n\nMade data with one shared input and one that is private to each view. Latent "
        f"inputs were found as they are in {right} of {len(rows)} seeds: those that are shared, and private to each "
        f"view, tell at least {own:.2f} of the variance of the input behind them, and at most {other:.2f} of the "
        "others (over all seeds).\n"
    )


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """The error against the share of missing entries, with a panel for each problem."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ...plotting import STYLE, draw_curves

    names = [name for name in problems.NAMES if any(row["problem"] == name for row in rows)]
    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(1, len(names), figsize=(3.1 * len(names), 3.7), squeeze=False)
        for axes, name in zip(panels[0], names, strict=True):
            found = summarise([row for row in rows if row["problem"] == name], ("method", "share"), "error")
            shares = sorted({share for _, share in found})
            # A way that is not in this panel keeps its colour in the others.
            nothing = Summary(np.nan, np.nan, 0)
            drawn = {key: summary if summary.mean < _USELESS else nothing for key, summary in found.items()}
            curves = {
                way: tuple(
                    [getattr(drawn.get((way, share), nothing), part) for share in shares] for part in ("mean", "error")
                )
                for way in WAYS
            }
            draw_curves(axes, [100 * share for share in shares], curves, ours=(OURS,))
            most = max(summary.mean for (way, _), summary in found.items() if way != "CCA")
            axes.set(title=name, xlabel="missing entries, %", ylim=(0, 1.1 * most))
        panels[0, 0].set_ylabel("error")
        canvas.legend(*panels[0, 0].get_legend_handles_labels(), loc="lower center", ncols=4)
        canvas.tight_layout(rect=(0, 0.13, 1, 1))
        return save_figure(canvas, folder / NAME)
