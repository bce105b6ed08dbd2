"""Runs cells: one way on one problem gives one record of scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ... import scores
from ..reporting import Row, read_rows, run_cells, write_rows
from . import fillers, problems, ways
from .plan import IMPUTATION, KEYS, REGRESSION, WITH_HOLES, Block

RECORDS = "tables.csv"
FLOOR = 1e-3  # no level is believed to be less likely than this, in any way's probabilities


def key(record: Row) -> tuple:
    """What tells records apart."""
    return tuple(record[name] for name in KEYS)


def run_cell(
    part: str, table: str, rows: int, mechanism: str, rate: float, test: str, seed: int, way: str
) -> list[Row]:
    """One record. An error is a record too, with its message, so that the other cells go on."""
    record: Row = dict(zip(KEYS, (part, table, rows, mechanism, rate, test, seed, way), strict=True))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if part == REGRESSION:
                problem = problems.regression(table, rows, rate, mechanism, test == WITH_HOLES, seed)
                return [record | predicted(problem, way, seed)]
            return [record | filled(problems.filling(table, rows, rate, mechanism, seed), way, seed)]
    except Exception as error:
        message = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        print(f"{way} on {table} ({part}, {rate:.0%} {mechanism}): {message}", flush=True)
        return [record | {"error": message}]


def predicted(problem: problems.Problem, way: str, seed: int) -> Row:
    """Scores of a way to predict, in units of the training outputs' standard deviation."""
    started = time.perf_counter()
    mean, std = ways.WAYS[way](problem, seed)
    seconds, unit = time.perf_counter() - started, problem.y.std()
    truth, mean = problem.y_test / unit, mean / unit
    row: Row = {"MSE": scores.mean_squared_error(truth, mean)}
    if std is not None:
        std = np.maximum(std / unit, 1e-6)
        row |= {name: scores.ALL[name](truth, mean, std) for name in ("NLPD", "CRPS", "coverage")}
    return row | {"seconds": seconds}


def filled(problem: problems.Filling, way: str, seed: int) -> Row:
    """Scores of a way to fill a table, over the hidden entries. Numbers are in units of their columns."""
    started = time.perf_counter()
    found = fillers.FILLERS[way](problem.table, seed)
    seconds = time.perf_counter() - started if found.seconds is None else found.seconds
    truth, numeric = problem.truth.values, problem.truth.numeric
    unit = np.nanstd(truth, axis=0)
    hidden = problem.hidden & numeric
    errors = ((found.values - truth) / unit)[hidden]
    row: Row = {"RMSE": float(np.sqrt(np.mean(errors**2)))}
    if found.std is not None:
        std = np.maximum((found.std / unit)[hidden], 1e-6)
        row["coverage"] = scores.coverage(errors, np.zeros_like(errors), std)
    return row | _of_categories(problem, found) | {"seconds": seconds}


def _of_categories(problem: problems.Filling, found: fillers.Filled) -> Row:
    """The share of hidden categories that are right, and the log loss where there are probabilities."""
    right, losses = [], []
    for j in problem.truth.labels:
        rows = problem.hidden[:, j]
        if not rows.any():
            continue
        classes = problem.truth.values[rows, j].astype(int)
        right += list(found.values[rows, j] == classes)
        if j in found.probabilities:
            sums = found.probabilities[j][rows].sum(axis=1)
            if not np.allclose(sums, 1.0, atol=1e-6):  # the floor below would hide it
                name, worst = problem.truth.names[j], sums[np.argmax(np.abs(sums - 1.0))]
                raise ValueError(f"the probabilities of {name} do not add up to 1: in one row they make {worst:.3g}.")
            chances = np.maximum(found.probabilities[j][rows], FLOOR)
            losses.append((len(classes), scores.log_loss(classes, chances / chances.sum(axis=1, keepdims=True))))
    row: Row = {"right": float(np.mean(right))} if right else {}
    if losses:
        counts, values = zip(*losses, strict=True)
        row["log loss"] = float(np.average(values, weights=counts))
    return row


def run_blocks(
    blocks: Sequence[Block], tables: Sequence[str], seeds: Sequence[int], chosen: dict[str, list[str]],
    folder: Path, n_jobs: int, seconds: float = np.inf,
) -> list[Row]:  # fmt: skip
    """All records of a folder, after those that were missing have been computed. Errors are tried again."""
    known = [record for record in read_rows(folder / RECORDS) if "error" not in record]
    # The name of the test rows is empty where nothing is predicted, and an empty cell of the file is not read.
    known = [dict.fromkeys(KEYS, "") | record for record in known]
    done = {key(record) for record in known}
    asked = with_ways(blocks, tables, seeds, chosen)
    missing = [cell for cell in asked if cell not in done]
    print(f"{len(asked) - len(missing)} records are there, {len(missing)} are to be made.", flush=True)
    if not missing:
        return known
    records = run_cells(run_cell, missing, n_jobs, folder / RECORDS, known, seconds)
    records.sort(key=key)
    write_rows(folder / RECORDS, records)
    return records


def with_ways(
    blocks: Sequence[Block], tables: Sequence[str], seeds: Sequence[int], chosen: dict[str, list[str]]
) -> list[tuple]:
    """The arguments of every cell: a problem and a way."""
    cells = ((*problem, way) for b in blocks for problem in b.problems(tables, seeds) for way in chosen[b.part])
    return list(dict.fromkeys(cells))


def all_ways(asked: Sequence[str] | None = None) -> dict[str, list[str]]:
    """The ways of both parts that can run here, or those of them that were asked for."""
    found = {
        REGRESSION: [name for name in ways.WAYS if ways.is_there(name)],
        IMPUTATION: [name for name in fillers.FILLERS if fillers.is_there(name)],
    }
    lacking = [name for name in (*ways.WAYS, *fillers.FILLERS) if name not in (*found[REGRESSION], *found[IMPUTATION])]
    if lacking:
        print(f"Left out, because they are not installed (`make table-peers` installs them): {', '.join(lacking)}.")
    if asked is None:
        return found
    unknown = set(asked) - {*ways.WAYS, *fillers.FILLERS}
    if unknown:
        raise ValueError(
            f"there is no way {', '.join(sorted(unknown))}; there are {', '.join([*ways.WAYS, *fillers.FILLERS])}."
        )
    return {part: [name for name in names if name in asked] for part, names in found.items()}
