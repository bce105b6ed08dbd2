"""Runs cells: one way on one problem gives one record of scores. Records that are there are not made again."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ... import scores
from ..reporting import Row, read_rows, run_cells, write_rows
from . import peers
from .plan import HERE, KEYS, LEVELS, PEERS, with_ways
from .problems import Problem, make

RECORDS = "series.csv"
Cell = tuple[str, str, str]


def forget(folder: Path, ways: Sequence[str]) -> None:
    """Take the records of some ways out of a folder, because their code has changed since."""
    write_rows(folder / RECORDS, [record for record in read_rows(folder / RECORDS) if record["way"] not in ways])


def key(record: Row) -> Cell:
    """What tells records apart. A name that is a number is read as one from a file."""
    part, name, way = (str(record[column]) for column in KEYS)
    return part, name, way


def scored(problem: Problem, quantiles: np.ndarray) -> Row:
    """Scores of quantiles (levels, steps). Errors are in units of the series' scale, the median is the forecast."""
    levels, truth = np.array(LEVELS), problem.future
    scale = scores.mase_scale(problem.past, problem.kind.season)
    first = max(1, round(0.1 * len(truth)))
    inside = np.where(np.isnan(truth), np.nan, (quantiles[0] <= truth) & (truth <= quantiles[-1]))
    return {
        "MASE": scores.mean_absolute_error(truth, quantiles[LEVELS.index(0.5)]) / scale,
        "quantile loss": scores.quantile_loss(truth, quantiles, levels) / scale,
        "CRPS": scores.quantile_crps(truth, quantiles, levels) / scale,
        "coverage": float(np.nanmean(inside)),
        # No true value may be known of so few steps.
        "coverage, first tenth": None if np.isnan(inside[:first]).all() else float(np.nanmean(inside[:first])),
    }


def run_cell(part: str, name: str, way: str) -> list[Row]:
    """The record of a way that runs here. An error is a record too, with its message, so that the others go on."""
    from .ways import WAYS

    record: Row = dict(zip(KEYS, (part, name, way), strict=True))
    problem = make(part, name)
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quantiles = WAYS[way](problem)
    except Exception as error:
        message = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        print(f"{way} on {name} ({part}): {message}", flush=True)
        return [record | {"error": message}]
    return [record | scored(problem, quantiles) | {"seconds": time.perf_counter() - started}]


def run_peers(missing: Sequence[Cell]) -> list[Row]:
    """The records of other libraries, if their environment is there. A way that took too long has an error."""
    if not peers.are_there():
        print(f"Left out: {', '.join(PEERS)}. `make series-peers` makes {peers.PYTHON.parts[0]}, in which they run.")
        return []
    rows = []
    for cell, found in peers.forecasts(missing).items():
        record: Row = dict(zip(KEYS, cell, strict=True))
        told = {"error": found["error"]} if "error" in found else scored(make(*cell[:2]), found["quantiles"])
        rows.append(record | told | {"seconds": found["seconds"], "version": peers.version(found)})
    return rows


def run_problems(problems: list[tuple[str, str]], chosen: Sequence[str], folder: Path, n_jobs: int) -> list[Row]:
    """All records of a folder, after those that were missing of the chosen ways on some problems have been computed.

    Errors of ways that run here are tried again.
    """
    path = folder / RECORDS
    known = [record for record in read_rows(path) if "error" not in record or record["way"] in PEERS]
    known = [record | dict(zip(KEYS, key(record), strict=True)) for record in known]
    done = {key(record) for record in known}
    asked = with_ways(problems, tuple(chosen))
    missing = [cell for cell in asked if cell not in done]
    print(f"{len(asked) - len(missing)} records are there, {len(missing)} are to be made.", flush=True)
    here = [cell for cell in missing if cell[2] in HERE]
    there = [cell for cell in missing if cell[2] in PEERS]
    if there:
        known += run_peers(there)
        write_rows(path, known)
    return run_cells(run_cell, here, n_jobs, path, known) if here else known
