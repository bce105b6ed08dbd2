"""Multiple imputation: whether a regression coefficient lies in its interval as often as it should. Not in the paper.

Rows have three correlated inputs and y = b·x + noise, so the true coefficients are known. The second input is missing
for about a third of the rows, more often where y and the first input are large. A table is filled several times,
ordinary least squares is fitted to each, and Rubin's rules put the fits together. Draws are proper if the 95 % interval
holds the true coefficient in 95 % of all data sets.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.stats
from scipy.special import expit
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from ..estimators import GPImputer
from .reporting import FIRST_SEED, Row, markdown_table, run_cells, save_figure, summarise, write_results

NAME = "multiple-imputation"
PROFILES = {"quick": {"data sets": 20}, "paper": {"data sets": 200}}
N_ROWS, N_DRAWS = 200, 20
COEFFICIENTS = np.array([1.0, 1.0, -0.5])
NAMES = ("x1", "x2", "x3")
NOISE = 1.0
_MIXING = np.linalg.cholesky(np.array([[1.0, 0.5, 0.3], [0.5, 1.0, 0.5], [0.3, 0.5, 1.0]]))


def make_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A complete table (n, 4) of inputs and y, and the same with holes in its second column."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N_ROWS, 3)) @ _MIXING.T
    y = X @ COEFFICIENTS + NOISE * random.normal(size=N_ROWS)
    full = np.column_stack([X, y])
    chance = expit(-1.0 + 0.7 * (X[:, 0] + y) / 1.5)  # missing at random: it depends on what is seen only
    with_holes = full.copy()
    with_holes[random.random(N_ROWS) < chance, 1] = np.nan
    return full, with_holes


def least_squares(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Coefficients of the inputs, their squared standard errors, and the degrees of freedom; with an intercept."""
    design = np.column_stack([np.ones(len(table)), table[:, :3]])
    found, *_ = np.linalg.lstsq(design, table[:, 3], rcond=None)
    freedom = len(table) - design.shape[1]
    residual = table[:, 3] - design @ found
    variance = residual @ residual / freedom * np.diag(np.linalg.inv(design.T @ design))
    return found[1:], variance[1:], freedom


def rubin(fits: list[tuple[np.ndarray, np.ndarray, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimates, standard errors and degrees of freedom from fits to several completed tables.

    The total variance is W + (1 + 1/m) B: the mean of the squared errors within, and the variance between the m fits.
    The degrees of freedom are those of Barnard & Rubin (1999), which account for the finite number of rows.
    """
    estimates, variances = np.array([f[0] for f in fits]), np.array([f[1] for f in fits])
    m, complete = len(fits), fits[0][2]
    within, between = variances.mean(axis=0), estimates.var(axis=0, ddof=1)
    total = within + (1.0 + 1.0 / m) * between
    lost = np.maximum((1.0 + 1.0 / m) * between / total, 1e-12)
    of_draws = (m - 1) / lost**2
    of_rows = (complete + 1) / (complete + 3) * complete * (1.0 - lost)
    return estimates.mean(axis=0), np.sqrt(total), 1.0 / (1.0 / of_draws + 1.0 / of_rows)


Estimate = tuple[np.ndarray, np.ndarray, np.ndarray | int]


def _alone(table: np.ndarray) -> Estimate:
    found, variance, freedom = least_squares(table)
    return found, np.sqrt(variance), freedom


def _ours(full: np.ndarray, table: np.ndarray, seed: int) -> Estimate:
    draws = GPImputer(n_draws=N_DRAWS, random_state=seed).fit(table).sample()
    return rubin([least_squares(draw) for draw in draws])


def _ridge(full: np.ndarray, table: np.ndarray, seed: int) -> Estimate:
    """Chained Bayesian linear regressions, as in mice."""
    draws = [
        IterativeImputer(sample_posterior=True, max_iter=10, random_state=seed * N_DRAWS + k).fit_transform(table)
        for k in range(N_DRAWS)
    ]
    return rubin([least_squares(draw) for draw in draws])


def _filled_once(full: np.ndarray, table: np.ndarray, seed: int) -> Estimate:
    """One table of posterior means, treated as if it had been observed."""
    return _alone(IterativeImputer(max_iter=10, random_state=seed).fit_transform(table))


OURS = "GPImputer, 20 draws"
WAYS: dict[str, Callable[[np.ndarray, np.ndarray, int], Estimate]] = {
    OURS: _ours,
    "IterativeImputer, 20 draws": _ridge,
    "IterativeImputer, filled once": _filled_once,
    "complete rows": lambda full, table, seed: _alone(table[~np.isnan(table).any(axis=1)]),
    "no holes": lambda full, table, seed: _alone(full),
}


def run_cell(seed: int) -> list[Row]:
    """All ways on one data set: a row for each coefficient."""
    full, table = make_data(seed)
    rows: list[Row] = []
    for way, estimate in WAYS.items():
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, error, freedom = estimate(full, table, seed)
        seconds = time.perf_counter() - started
        reach = scipy.stats.t.ppf(0.975, freedom) * error
        for j, name in enumerate(NAMES):
            row: Row = {"way": way, "coefficient": name, "seed": seed, "estimate": float(found[j])}
            row |= {"error": float(found[j] - COEFFICIENTS[j]), "width": float(2.0 * reach[j])}
            row |= {
                "held": int(abs(row["error"]) <= 0.5 * row["width"]),
                "missing": float(np.isnan(table[:, 1]).mean()),
            }
            rows.append(row | {"seconds": seconds})
    return rows


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    return [(FIRST_SEED + k,) for k in range(PROFILES[profile]["data sets"])]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the table and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / f"{NAME}.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED, "rows": N_ROWS, "draws": N_DRAWS, "noise": NOISE} | settings
    path = write_results(folder, NAME, report(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder)]


def report(rows: list[Row]) -> str:
    """The page: coverage, bias and width of the intervals for every coefficient."""
    count, missing = len({row["seed"] for row in rows}), np.mean([row["missing"] for row in rows])
    within = 1.96 * np.sqrt(0.95 * 0.05 / count)
    parts = [
        "# Multiple imputation\n",
        f"{count} data sets of {N_ROWS} rows, y = x1 + x2 - x3/2 + noise; x2 is missing in {missing:.0%} of the rows, "
        f"depending on x1 and y. A table is filled {N_DRAWS} times, and least squares are put together by Rubin's "
        "rules. `held` is the share of data sets whose 95 % interval holds the true coefficient: between "
        f"{0.95 - within:.3f} and {min(0.95 + within, 1.0):.3f} if intervals are right, as far as this many can "
        "tell. `bias` is the mean error ± its standard error, `width` the mean width of the interval.\n",
    ]
    for name in NAMES:
        some = [row for row in rows if row["coefficient"] == name]
        found = {score: summarise(some, ("way",), score) for score in ("held", "error", "width", "seconds")}
        lines = [
            [way, f"{found['held'][way,].mean:.3f}", found["error"][way,].text, f"{found['width'][way,].mean:.3f}",
             f"{found['seconds'][way,].mean:.2f}"]
            for way in WAYS if (way,) in found["held"]
        ]  # fmt: skip
        parts.append(markdown_table([f"coefficient of {name}", "held", "bias", "width", "seconds"], lines))
    return "\n".join(parts)


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """The share of intervals that hold the true coefficient, and the errors, for every way and coefficient."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import STYLE

    found = {score: summarise(rows, ("way", "coefficient"), score) for score in ("held", "error")}
    ways = [way for way in WAYS if (way, NAMES[0]) in found["held"]]
    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
        for axes, (score, title, target) in zip(
            panels, (("held", "share of intervals that hold the truth", 0.95), ("error", "bias", 0.0)), strict=True
        ):
            axes.axvline(target, color="0.6", lw=1)
            for j, name in enumerate(NAMES):
                values = [found[score][way, name] for way in ways]
                places = np.arange(len(ways)) + 0.2 * (j - 1)
                errors = [1.96 * value.error for value in values]
                axes.errorbar([v.mean for v in values], places, xerr=errors, fmt="o", ms=4, label=name)
            axes.set(xlabel=title)
        panels[0].set_yticks(range(len(ways)), ways)
        panels[0].invert_yaxis()
        panels[1].legend(loc="best")
        canvas.tight_layout()
        return save_figure(canvas, folder / NAME)
