"""Forecasts of other libraries: the tasks are written, peer.py runs in .venv-series, and its lines are read."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...series.reading import fill_gaps
from .plan import LEVELS, LIGHTGBM, LIMIT, OTHER_ETS, PROPHET
from .problems import Problem, make

PYTHON = Path(".venv-series") / "bin" / "python"
SCRIPT = Path(__file__).with_name("peer.py")
PACKAGES = {LIGHTGBM: "lightgbm", PROPHET: "prophet", OTHER_ETS: "statsmodels"}
FOLDER = Path("build") / "series"  # raw forecasts are kept here, and not in the results


def are_there() -> bool:
    """Whether the environment of the peers has been made."""
    return PYTHON.exists()


def forecasts(cells: Sequence[tuple[str, str, str]], folder: Path = FOLDER) -> dict[tuple, dict[str, Any]]:
    """For each cell what a peer found: quantiles, mean and seconds, or an error. What is in the folder is used."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks, lines = folder / "tasks.json", folder / "forecasts.jsonl"
    tasks.write_text(json.dumps(described(cells)))
    _run(tasks, lines)
    wanted = set(cells)
    return {key: found for key, found in read(lines).items() if key in wanted}


def _run(tasks: Path, lines: Path) -> None:
    """Run peer.py with one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    subprocess.run([PYTHON, SCRIPT, tasks, lines, str(LIMIT)], check=True, env=os.environ | threads)


def described(cells: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """The cells as peer.py reads them. Gaps are interpolated, for most peers take none."""
    keys = list(dict.fromkeys((part, name) for part, name, _ in cells))
    place = {key: number for number, key in enumerate(keys)}
    tasks = [(place[part, name], way) for part, name, way in cells]
    return {"levels": LEVELS, "series": [_series(make(*key)) for key in keys], "tasks": tasks}


def _series(problem: Problem) -> dict[str, Any]:
    kind = problem.kind
    return {
        "part": problem.part, "series": problem.name, "steps": len(problem.future), "season": kind.season,
        "seasons": kind.seasons, "frequency": kind.frequency,
        "values": fill_gaps(problem.past[:, None])[:, 0].tolist(),
    }  # fmt: skip


def version(record: dict[str, Any]) -> str:
    """The package that made a forecast, and its version."""
    package = PACKAGES.get(record["way"], "statsforecast")
    return f"{package} {record['versions'][package]}"


def read(path: Path) -> dict[tuple, dict[str, Any]]:
    """The lines of peer.py by part, series and way."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        record = json.loads(line)
        if "quantiles" in record:
            record["quantiles"] = np.array(record["quantiles"])
        found[record["part"], record["series"], record["way"]] = record
    return found
