"""Tables with holes: which rows train and test, and which entries are lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import datasets
from ...baselines.tables.coded import CodedTable
from .columns import load

AT_RANDOM, DEPENDING, OUTAGES = "at random", "depending on what is seen", "outages"
MECHANISMS = (AT_RANDOM, DEPENDING, OUTAGES)
MOST_TEST_ROWS, TRAINING_SHARE = 500, 0.7
IMPUTED_ROWS = 400


@dataclass(frozen=True)
class Problem:
    """Regression on a table with holes."""

    train: CodedTable
    y: np.ndarray
    test: CodedTable
    y_test: np.ndarray
    complete: CodedTable  # the training rows before entries were lost
    complete_test: CodedTable


@dataclass(frozen=True)
class Filling:
    """A table to be filled: as it is given, as it was, and which known entries are hidden."""

    table: CodedTable
    truth: CodedTable
    hidden: np.ndarray


def _generator(name: str, seed: int) -> np.random.Generator:
    """Random numbers that are the same for every way and every rate, and not the same for two tables."""
    return np.random.default_rng([seed, *map(ord, name)])


def holes(table: CodedTable, mechanism: str, rate: float, seed: int) -> np.ndarray:
    """Which entries are lost."""
    shape = table.values.shape
    if mechanism == AT_RANDOM:
        return datasets.mask_at_random(shape, rate, seed)
    if mechanism == OUTAGES:
        return datasets.mask_outages(shape, rate, random_state=seed)
    if mechanism != DEPENDING:
        raise ValueError(f"there is no mechanism {mechanism!r}; there are {', '.join(MECHANISMS)}.")
    seen = driver(table)
    mask = datasets.mask_by_rank(table.values[:, seen], shape[1] - 1, rate, seed)
    return np.insert(mask, seen, False, axis=1)


def driver(table: CodedTable) -> int:
    """The column that decides what is lost: numbers without holes, of which most are different; the first of these."""
    distinct = [
        len(np.unique(column)) if is_number and not np.isnan(column).any() else 0
        for column, is_number in zip(table.values.T, table.numeric, strict=True)
    ]
    return int(np.argmax(distinct))


def regression(name: str, rows: int, rate: float, mechanism: str, holes_in_test: bool, seed: int) -> Problem:
    """Training and test rows by chance, in the order of the table, and holes in the training inputs.

    An outage is a run of rows that are near each other in the table. Without holes in the test rows, these are chosen
    from the rows that have none of their own.
    """
    table, y = load(name)
    random = _generator(name, seed)
    order = random.permutation(len(y))
    n = min(rows, int(TRAINING_SHARE * len(y)))
    train, rest = np.sort(order[:n]), order[n:]
    if not holes_in_test:
        rest = rest[~np.isnan(table.values[rest]).any(axis=1)]
    test = np.sort(rest[:MOST_TEST_ROWS])
    seeds = random.integers(2**31, size=2)
    complete, complete_test = table.rows(train), table.rows(test)
    given = complete.without(holes(complete, mechanism, rate, seeds[0]))
    asked = complete_test
    if holes_in_test:
        asked = complete_test.without(holes(complete_test, mechanism, rate, seeds[1]))
    return Problem(given, y[train], asked, y[test], complete, complete_test)


def filling(name: str, rows: int, rate: float, mechanism: str, seed: int) -> Filling:
    """Some rows of a table with its output as one more column, and the holes in it."""
    table, y = load(name)
    random = _generator(name, seed)
    chosen = np.sort(random.permutation(len(y))[:rows])
    truth = table.and_number("output", y).rows(chosen)
    mask = holes(truth, mechanism, rate, int(random.integers(2**31)))
    return Filling(truth.without(mask), truth, mask & ~np.isnan(truth.values))
