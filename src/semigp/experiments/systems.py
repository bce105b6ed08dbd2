"""Free simulation of measured systems from their inputs (not in the paper).

The first half of a measurement trains. Nothing of the second half but its inputs is used, and the simulation starts
where the first half ends.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_predict

from .. import datasets, scores
from ..datasets.files import SYSTEMS
from ..estimators import GPForecaster
from .reporting import Row, markdown_table, plain_number, run_cells, save_figure, summarise, write_results

NAME = "systems"
OURS, OURS_10, ARX, TREES, CONSTANT = (
    "GPForecaster",
    "GPForecaster, window 10",
    "linear ARX",
    "boosted trees",
    "constant",
)
LAGS = 10  # of the input for all other ways, and of the output for trees and for a window of 10
OUR_LAGS = 20  # of the input, at most
ORDERS = (1, 2, 3, 4, 6, 8, 10)  # of ARX
N_PATHS, N_FOLDS, FARTHEST = 500, 5, 10.0  # paths are held at so many standard deviations from the training mean
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"seeds": 1, "systems": ("drive", "dryer")},
    "paper": {"seeds": 3, "systems": SYSTEMS},
}
# RMSE as carried over from Doerr et al. (2018). Nobody has compared these figures with the print.
PUBLISHED = {
    "GP-NARX": (0.627, 0.284, 0.701, 0.310),
    "NIGP": (0.599, 0.087, 0.373, 0.268),
    "REVARB, 1 layer": (0.438, 0.139, 0.828, 0.851),
    "REVARB, 2 layers": (0.613, 0.209, 0.868, 0.355),
    "MS-GP": (0.771, 0.124, 0.451, 0.146),
    "PR-SSM": (0.502, 0.073, 0.492, 0.140),
}
Way = Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]


# ---- Ways: of lagged inputs (T, LAGS), past outputs (n,), steps and a seed they make paths (n_paths, steps).


def lagged(inputs: np.ndarray) -> np.ndarray:
    """The inputs of this step and of the ones before it, latest first: (T - LAGS + 1, LAGS)."""
    return sliding_window_view(inputs, LAGS)[:, ::-1]


def _ours(**settings: Any) -> Way:
    def way(inputs: np.ndarray, past: np.ndarray, steps: int, seed: int) -> np.ndarray:
        known = inputs[:, :1] if "covariate_lags" in settings else inputs
        model = GPForecaster(random_state=seed, **settings).fit(past, known[: len(past)])
        paths = model.forecast(steps, n_paths=N_PATHS, covariates=known[len(past) :]).paths
        assert paths is not None
        return paths

    return way


def _rows(inputs: np.ndarray, values: np.ndarray, n_out: int, n_in: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of every step that has enough past, the latest output first and then inputs, and the outputs there."""
    before = sliding_window_view(values[:-1], n_out)[:, ::-1]
    return np.column_stack([before, inputs[n_out : len(values), :n_in]]), values[n_out:]


def _rolled(
    following: Callable[[np.ndarray], np.ndarray], inputs: np.ndarray, past: np.ndarray, noise: np.ndarray, n_out: int
) -> np.ndarray:
    """Paths with the shape of the noise, of which each value is an input of the next ones."""
    limits = past.mean() - FARTHEST * past.std(), past.mean() + FARTHEST * past.std()
    recent = np.tile(past[: -n_out - 1 : -1], (len(noise), 1))
    paths = np.empty_like(noise)
    for step, known in enumerate(inputs):
        features = np.column_stack([recent, np.tile(known, (len(noise), 1))])
        paths[:, step] = np.clip(following(features) + noise[:, step], *limits)
        recent = np.column_stack([paths[:, step], recent[:, :-1]])
    return paths


def _least_squares(inputs: np.ndarray, past: np.ndarray, n_out: int, n_in: int) -> tuple[np.ndarray, float]:
    """Weights of ARX, the constant last, and the standard deviation of its residuals."""
    features, targets = _rows(inputs, past, n_out, n_in)
    features = np.column_stack([features, np.ones(len(targets))])
    weights = np.linalg.lstsq(features, targets, rcond=None)[0]
    return weights, float(np.sqrt(np.sum((targets - features @ weights) ** 2) / (len(targets) - len(weights))))


def _arx_paths(
    inputs: np.ndarray, past: np.ndarray, orders: tuple[int, int], normal: np.ndarray
) -> np.ndarray:  # fmt: skip
    weights, std = _least_squares(inputs, past, *orders)
    known = inputs[len(past) : len(past) + normal.shape[1], : orders[1]]
    return _rolled(lambda x: x @ weights[:-1] + weights[-1], known, past, std * normal, orders[0])


def _arx(inputs: np.ndarray, past: np.ndarray, steps: int, seed: int) -> np.ndarray:
    """Linear ARX. Its orders have the smallest error in a simulation of the last quarter of the training half."""
    first = 3 * len(past) // 4
    held, silent = past[first:], np.zeros((1, len(past) - first))

    def error(orders: tuple[int, int]) -> float:
        return float(np.mean((_arx_paths(inputs, past[:first], orders, silent)[0] - held) ** 2))

    orders = min(itertools.product(ORDERS, ORDERS), key=error)
    return _arx_paths(inputs, past, orders, np.random.default_rng(seed).normal(size=(N_PATHS, steps)))


def _trees(inputs: np.ndarray, past: np.ndarray, steps: int, seed: int) -> np.ndarray:
    """Boosted trees on lags, and residuals of contiguous folds, because those of training are too small."""
    features, targets = _rows(inputs, past, LAGS, LAGS)
    trees = HistGradientBoostingRegressor(max_iter=200, min_samples_leaf=5, random_state=seed)
    left_over = targets - cross_val_predict(trees, features, targets, cv=KFold(N_FOLDS))
    noise = np.random.default_rng(seed).choice(left_over, size=(N_PATHS, steps))
    return _rolled(trees.fit(features, targets).predict, inputs[len(past) :], past, noise, LAGS)


def _constant(inputs: np.ndarray, past: np.ndarray, steps: int, seed: int) -> np.ndarray:
    """Past outputs at random."""
    return np.random.default_rng(seed).choice(past, size=(N_PATHS, steps))


WAYS: dict[str, Way] = {
    OURS: _ours(covariate_lags=OUR_LAGS),
    OURS_10: _ours(window=LAGS),
    ARX: _arx,
    TREES: _trees,
    CONSTANT: _constant,
}


# ---- The run


def problem(system: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lagged inputs, and the outputs of the first and of the second half; steps without all lags are left out."""
    inputs, outputs, n_train = datasets.load_sysid(system)
    return lagged(inputs), outputs[LAGS - 1 : n_train], outputs[n_train:]


def run_cell(system: str, seed: int) -> list[Row]:
    """All ways on one system."""
    inputs, past, future = problem(system)
    rows: list[Row] = []
    for name, way in WAYS.items():
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            paths = way(inputs, past, len(future), seed)
        seconds = time.perf_counter() - started
        rows.append({"system": system, "seed": seed, "way": name} | scored(future, paths) | {"seconds": seconds})
    return rows


def scored(future: np.ndarray, paths: np.ndarray) -> Row:
    """Scores in the units of the file; the mean of the paths is the forecast."""
    low, high = np.quantile(paths, [0.025, 0.975], axis=0)
    return {
        "RMSE": float(np.sqrt(scores.mean_squared_error(future, paths.mean(axis=0)))),
        "CRPS": scores.sample_crps(future, paths),
        "coverage": float(np.mean((low <= future) & (future <= high))),
    }


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    return [(system, seed) for seed in range(settings["seeds"]) for system in settings["systems"]]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the table and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / f"{NAME}.csv")
    told = {
        "profile": profile,
        "lags": LAGS,
        "our lags": OUR_LAGS,
        "orders of ARX": ORDERS,
        "paths": N_PATHS,
    } | settings
    path = write_results(folder, NAME, table(rows), told, time.perf_counter() - started)
    return [path, *figure(settings["systems"], folder)]


_LEAD = f"""The first half of each measurement trains; all of the second half is simulated from its inputs, beginning
where the first half ends. `GPForecaster` gets the input and chooses lags of it up to {OUR_LAGS}; with a window of 10,
and for all other ways, the input is given with {LAGS} lags. RMSE and CRPS are in the units of the files, mean over
seeds; `coverage` is the share of true values in the 95 % interval. `constant` draws past outputs at random: a way with
a larger RMSE has learned nothing for this horizon.
"""
_SOURCES = """The figures of others are RMSE as carried over from Doerr et al. (2018), *Probabilistic recurrent
state-space models*, and stand here as a rough measure only.

- Read in their code (boschresearch/PR-SSM): the halves are the same; data are standardised for training, and
  predictions are transformed back before the RMSE is computed, so that PR-SSM is in the units of the files. Its first
  state is found from the first 16 inputs *and outputs* of the second half; ours does not see these outputs.
- Read in the code of REVARB (zhenwendai/RGP): the same halves and the units of the files. Scoring leaves out the first
  steps of the second half, as many as both windows have together (20; 4 for dryer).
- Not verified: the figures themselves, because the print was not at hand; how GP-NARX, NIGP and MS-GP were run and in
  which units; whether their files have the same values as ours, which come from RomanFoell/DRGP-VSS; and the figures of
  Mattos et al. (2016) and Föll et al., which are therefore not shown.
- If all are in these units, the lowest published figure for ballbeam, .073, is that of a constant, .074.
"""


def table(rows: list[Row]) -> str:
    """A table for each system, and one of the RMSE of all, with published figures."""
    found = {score: summarise(rows, ("way", "system"), score) for score in ("RMSE", "CRPS", "coverage", "seconds")}
    systems = [name for name in SYSTEMS if any(row["system"] == name for row in rows)]
    parts = ["# Measured systems, simulated\n", _LEAD, "## RMSE, beside published figures\n"]
    lines = [[way, *(plain_number(found["RMSE"][way, name].mean) for name in systems)] for way in WAYS]
    places = [SYSTEMS.index(name) for name in systems]
    lines += [[f"*{way}*", *(f"*{figures[i]:.3f}*" for i in places)] for way, figures in PUBLISHED.items()]
    parts += [markdown_table(["", *systems], lines), _SOURCES]
    for name in systems:
        cells = [[way, *(plain_number(found[score][way, name].mean) for score in found)] for way in WAYS]
        parts += [f"## {name}\n", markdown_table(["", *found], cells)]
    return "\n".join(parts)


def figure(systems: tuple[str, ...], folder: Path) -> list[Path]:
    """Our simulation of every system, with the true outputs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import COLOURS, STYLE

    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(len(systems), 1, figsize=(10, 2.1 * len(systems)), squeeze=False)
        for axes, name in zip(panels[:, 0], systems, strict=True):
            inputs, past, future = problem(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                paths = WAYS[OURS](inputs, past, len(future), 0)
            low, middle, high = np.quantile(paths, [0.025, 0.5, 0.975], axis=0)
            steps = np.arange(len(future))
            axes.fill_between(steps, low, high, color=COLOURS[0], alpha=0.25, lw=0, label="95 %")
            axes.plot(steps, middle, color=COLOURS[0], lw=1.0, label="median")
            axes.plot(steps, future, color="black", lw=0.8, label="measured")
            axes.set_title(name, loc="left")
        panels[0, 0].legend(loc="upper right", ncols=3)
        panels[-1, 0].set_xlabel("steps after the end of the training half")
        canvas.tight_layout()
        return save_figure(canvas, folder / NAME)
