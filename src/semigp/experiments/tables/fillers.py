"""Ways to fill a table with holes: ours, and those of practice. Each is a function of a table and a seed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ...baselines.tables import filling
from ...baselines.tables.coded import CodedTable
from ...baselines.tables.filling import Filled, Filler

OURS = "GPImputer"
N_DRAWS = 10  # of ways that draw, and as many as ours makes


def _ours(table: CodedTable, seed: int) -> Filled:
    from ...estimators import GPImputer

    model = GPImputer(random_state=seed)
    if not table.labels:
        return Filled(*model.fit(table.values).impute(return_std=True))
    mean, std = model.fit(table.frame()).impute(return_std=True)
    values, spread = _as_values(mean, table), np.zeros_like(table.values)
    for j in np.flatnonzero(table.numeric):
        spread[:, j] = np.asarray(std[table.names[j]], float)
    return Filled(values, spread, _of_all_levels(model.impute_proba(), table))


def _as_values(frame: Any, table: CodedTable) -> np.ndarray:
    """A filled frame as numbers, where a category is the number of its level."""
    values = np.empty_like(table.values)
    for j, name in enumerate(table.names):
        column = frame[name]
        values[:, j] = [table.labels[j].index(str(label)) for label in column] if j in table.labels else column
    return values


def _of_all_levels(found: dict[str, np.ndarray], table: CodedTable) -> dict[int, np.ndarray]:
    """Probabilities of all levels of the table. A level whose entries are all hidden is unknown, and has none."""
    probabilities = {}
    for j, count in table.levels.items():
        seen = np.unique(table.values[:, j][~np.isnan(table.values[:, j])]).astype(int)
        if table.names[j] in found:
            probabilities[j] = np.zeros((len(table.values), count))
            probabilities[j][:, seen] = found[table.names[j]]
    return probabilities


def _miceforest(table: CodedTable, seed: int) -> Filled:
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


def _hyperimpute(table: CodedTable, seed: int) -> Filled:
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
    **filling.FILLERS,
    "miceforest": _miceforest,
    "HyperImpute": _hyperimpute,
}
PACKAGES = {"miceforest": "miceforest"}


def is_there(name: str) -> bool:
    """Whether a way can run here."""
    if name == "HyperImpute":
        return _python_of_hyperimpute().exists()
    return name not in PACKAGES or importlib.util.find_spec(PACKAGES[name]) is not None
