"""Draws of the holes of a table, column after column, each given the others: chained equations.

A sweep goes over the columns with holes. Each is conditioned on the current table, and its holes are drawn anew. Trees
are grown on bootstrap samples, and a GP's function is drawn as a whole, so that draws differ as much as they should.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from ...progress import steps
from .given_others import Conditional
from .layout import Layout
from .relations import Relations, common_values, fill, random_numbers

_TREES = 2
# Sweeps over new rows.
_SWEEPS_OF_NEW_ROWS = 5

# (values of a column (…, features), its number) → values of functions whose means are wanted (…, functions)
Wanted = Callable[..., np.ndarray]


@dataclass(frozen=True)
class DrawnTables:
    """Tables without holes, the relations between their columns, and means of functions of every column."""

    relations: Relations
    tables: list[np.ndarray]
    expectations: dict[int, np.ndarray]  # by column: (n, functions), valid where the column is missing
    evidence: np.ndarray  # after each sweep, Σ log p(known values of a column | the others)
    is_interrupted: bool


def draw_tables(
    table: np.ndarray,
    layout: Layout,
    wanted: Wanted,
    n_tables: int,
    n_sweeps: int,
    random: np.random.Generator,
    is_stopped: Callable[[int, int, float], bool],
) -> DrawnTables:
    """Draw the holes of a table `n_tables` times, each time by `n_sweeps` sweeps from a first guess.

    The first half of the sweeps does not count for expectations.
    """
    start, relations = fill(table, layout, random)
    means = _Means(wanted, {})
    tables: list[np.ndarray] = []
    evidence: list[float] = []
    is_interrupted, filled = False, start
    try:
        for chain, sweep in product(range(n_tables), range(n_sweeps)):
            filled = start.copy() if sweep == 0 else filled
            evidence.append(_sweep(filled, relations, means if sweep >= n_sweeps // 2 else None, random))
            is_interrupted = is_stopped(chain, sweep, evidence[-1])
            if is_interrupted:
                break
            if sweep == n_sweeps - 1:
                tables.append(filled)
    except KeyboardInterrupt:
        if not evidence:
            raise
        is_interrupted = True
    if not all(group in means.sums for group in relations.with_holes()):  # stopped very early
        _sweep(filled.copy(), relations, means, random)
    return DrawnTables(relations, tables or [filled], means.found(), np.array(evidence), is_interrupted)


@dataclass(frozen=True)
class _Means:
    """Means of functions of every column over sweeps."""

    wanted: Wanted
    sums: dict[int, tuple[np.ndarray, int]]  # by column: the sum over sweeps, and their number

    def add(self, given: Conditional, rows: np.ndarray, holes: np.ndarray) -> None:
        """Add what a sweep says about the holes of a column. An interrupt cannot leave half of it."""
        means = given.expectations(rows[holes], partial(self.wanted, column=given.group))
        total, count = self.sums.get(given.group, (np.zeros((len(rows), means.shape[1])), 0))
        total = total.copy()
        total[holes] += means
        self.sums[given.group] = total, count + 1

    def found(self) -> dict[int, np.ndarray]:
        """The means, by column."""
        return {group: total / count for group, (total, count) in self.sums.items()}


def _sweep(filled: np.ndarray, relations: Relations, means: _Means | None, random: np.random.Generator) -> float:
    """Draw all holes anew, in place. Expectations are added to `means` if they are wanted."""
    evidence = 0.0
    for group in relations.with_holes():
        given = relations.conditional(group, filled, _TREES, random)
        holes = np.flatnonzero(relations.missing[:, group])
        if means is not None:
            means.add(given, filled, holes)
        filled[relations.layout.at(holes, group)] = given.draw(
            filled[holes], *random_numbers(len(holes), random), is_joint=True
        )
        evidence += given.gp.log_evidence if given.gp is not None else 0.0
    return evidence


def draw_new_rows(
    rows: np.ndarray, relations: Relations, table: np.ndarray, n_draws: int, n_trees: int, seed: tuple[int, ...]
) -> np.ndarray:
    """Draws (n_draws, n, d) of new rows given their known entries, with relations conditioned on a table.

    All rows get the same random numbers, so that the draws of a row do not depend on the rows beside it.
    """
    random, layout = np.random.default_rng(seed), relations.layout
    missing = layout.is_missing(rows)
    filled = np.tile(common_values(rows, layout, table), (n_draws, 1))
    given = []
    for group in range(missing.shape[1]):
        # Every column takes the same random numbers, whether it is missing or not.
        own = np.random.default_rng(int(random.integers(2**31)))
        if missing[:, group].any():
            if group not in relations.models:
                relations.choose(group, table, np.random.default_rng(seed[0]))
            given.append(relations.conditional(group, table, n_trees, own))
    holes = [np.flatnonzero(np.tile(missing[:, each.group], n_draws)) for each in given]
    for _ in steps(range(_SWEEPS_OF_NEW_ROWS), "missing entries"):
        numbers = _shared_numbers(n_draws, missing.shape, random)
        for each, places in zip(given, holes, strict=True):
            own_numbers = (number[places, each.group] for number in numbers)
            filled[layout.at(places, each.group)] = each.draw(filled[places], *own_numbers)
    return filled.reshape(n_draws, *rows.shape)


def _shared_numbers(count: int, shape: tuple[int, ...], random: np.random.Generator) -> list[np.ndarray]:
    """Random numbers (count · n, groups) of three kinds. All rows of a draw have the same."""
    kinds = random.random((count, shape[1])), random.normal(size=(count, shape[1])), random.random((count, shape[1]))
    return [np.repeat(kind, shape[0], axis=0) for kind in kinds]
