"""Ways to fill a table with holes: ours, and those of practice. Each is a function of a table and a seed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from ...baselines.forests import ChainedForests, iterative_trees
from .columns import Columns

OURS = "GPImputer"
N_DRAWS = 10  # of ways that draw, and as many as ours makes


@dataclass(frozen=True)
class Filled:
    """The table without holes (n, q), and where a way has them standard deviations and probabilities of levels."""

    values: np.ndarray
    std: np.ndarray | None = None
    probabilities: dict[int, np.ndarray] = field(default_factory=dict)
    seconds: float | None = None  # where a way has measured this itself


Filler = Callable[[Columns, int], Filled]


def _ours(table: Columns, seed: int) -> Filled:
    from ...estimators import GPImputer

    model = GPImputer(random_state=seed)
    if not table.labels:
        return Filled(*model.fit(table.values).impute(return_std=True))
    mean, std = model.fit(table.frame()).impute(return_std=True)
    values, spread = _as_values(mean, table), np.zeros_like(table.values)
    for j in np.flatnonzero(table.numeric):
        spread[:, j] = np.asarray(std[table.names[j]], float)
    return Filled(values, spread, _of_all_levels(model.impute_proba(), table))


def _as_values(frame: Any, table: Columns) -> np.ndarray:
    """A filled frame as numbers, where a category is the number of its level."""
    values = np.empty_like(table.values)
    for j, name in enumerate(table.names):
        column = frame[name]
        values[:, j] = [table.labels[j].index(str(label)) for label in column] if j in table.labels else column
    return values


def _of_all_levels(found: dict[str, np.ndarray], table: Columns) -> dict[int, np.ndarray]:
    """Probabilities of all levels of the table. A level whose entries are all hidden is unknown, and has none."""
    probabilities = {}
    for j, count in table.levels.items():
        seen = np.unique(table.values[:, j][~np.isnan(table.values[:, j])]).astype(int)
        if table.names[j] in found:
            probabilities[j] = np.zeros((len(table.values), count))
            probabilities[j][:, seen] = found[table.names[j]]
    return probabilities


def _missforest(table: Columns, seed: int) -> Filled:
    if not table.labels:
        return Filled(iterative_trees(seed).fit_transform(table.values))
    forests = ChainedForests(table.levels, seed)
    return Filled(forests.fit_transform(table.values), None, forests.probabilities_)


def _encoded(imputer: Callable[[int], Any], without_last: bool = False) -> Filler:
    """A way that fills numbers. It sees 0/1 columns for the levels, in standard units, since distances need them."""

    def fill(table: Columns, seed: int) -> Filled:
        numbers = table.encoded(without_last)
        mean, std = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        std = np.where(std > 0, std, 1.0)
        return _decoded(imputer(seed).fit_transform((numbers - mean) / std) * std + mean, table, without_last)

    return fill


def _decoded(full: np.ndarray, table: Columns, without_last: bool) -> Filled:
    """Filled 0/1 columns as the level with the largest number.

    Shares of neighbours or rows are probabilities. What a linear regression predicts (`without_last`) is not.
    """
    values, probabilities, place = np.empty_like(table.values), {}, 0
    for j in range(values.shape[1]):
        width = table.levels[j] - without_last if j in table.labels else 1
        part = full[:, place : place + width]
        place += width
        if j not in table.labels:
            values[:, j] = part[:, 0]
            continue
        if without_last:
            part = np.column_stack([part, 1.0 - part.sum(axis=1)])
        else:
            probabilities[j] = part
        values[:, j] = part.argmax(axis=1)
    return Filled(values, None, probabilities)


def _miceforest(table: Columns, seed: int) -> Filled:
    """Ten data sets of miceforest: their mean and spread, and the share of each level."""
    import miceforest

    frame = table.frame()
    for j in table.labels:
        frame[table.names[j]] = frame[table.names[j]].astype("category")
    kernel = miceforest.ImputationKernel(frame, num_datasets=N_DRAWS, random_state=seed)
    kernel.mice(5, num_threads=1, verbose=False)
    draws = np.array([_as_values(kernel.complete_data(k), table) for k in range(N_DRAWS)])
    values, probabilities = draws.mean(axis=0), {}
    for j, count in table.levels.items():
        probabilities[j] = np.mean(draws[:, :, j, None] == np.arange(count), axis=0)
        values[:, j] = probabilities[j].argmax(axis=1)
    return Filled(values, draws.std(axis=0, ddof=1), probabilities)


def _hyperimpute(table: Columns, seed: int) -> Filled:
    """HyperImpute in its own environment. The time to start that is not counted."""
    script = Path(__file__).with_name("hyperimpute_peer.py")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "table.npy", Path(folder) / "filled.npz"
        np.save(source, table.values)
        line = [str(_python_of_hyperimpute()), str(script), str(source), str(target), str(seed)]
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(line, env=variables, capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["HyperImpute ended without a word."])[-1])
        with np.load(target) as found:
            values, seconds = found["filled"], float(found["seconds"])
    for j, count in table.levels.items():
        values[:, j] = np.clip(np.round(values[:, j]), 0, count - 1)
    return Filled(values, seconds=seconds)


def _python_of_hyperimpute() -> Path:
    """Where `make table-peers` puts it, or where a variable says that it is."""
    return Path(os.environ.get("SEMIGP_HYPERIMPUTE", ".venv-hyperimpute/bin/python")).absolute()


FILLERS: dict[str, Filler] = {
    OURS: _ours,
    "missForest": _missforest,
    "IterativeImputer": _encoded(
        lambda seed: IterativeImputer(max_iter=30, random_state=seed, keep_empty_features=True), without_last=True
    ),
    "kNN": _encoded(lambda seed: KNNImputer(keep_empty_features=True)),
    "mean": _encoded(lambda seed: SimpleImputer(keep_empty_features=True)),
    "miceforest": _miceforest,
    "HyperImpute": _hyperimpute,
}
PACKAGES = {"miceforest": "miceforest"}


def is_there(name: str) -> bool:
    """Whether a way can run here."""
    if name == "HyperImpute":
        return _python_of_hyperimpute().exists()
    return name not in PACKAGES or importlib.util.find_spec(PACKAGES[name]) is not None
