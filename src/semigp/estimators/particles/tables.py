"""Draws of the holes of a table, column after column, each given the others: chained equations.

A sweep goes over the columns with holes. Each is conditioned on the current table, and its holes are drawn anew. Trees
are grown on bootstrap samples, and a GP's function is drawn as a whole, so that draws differ as much as they should.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .relations import Relations, common_values, fill, random_numbers
from .layout import Layout

_TREES = 2
# Sweeps over new rows.
_SWEEPS_OF_NEW_ROWS = 5

# (values of a column (…, features), its number) → values of functions whose means are wanted (…, functions)
Wanted = Callable[[np.ndarray, int], np.ndarray]


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

    The first half of the sweeps does not count for expectations. The first chain goes over its first guess; the others
    start where the first one ended its first half.
    """
    start, relations = fill(table, layout, random)
    sums = {group: 0.0 for group in relations.with_holes()}
    tables: list[np.ndarray] = []
    evidence: list[float] = []
    count, is_interrupted = 0, False
    for chain in range(n_tables):
        filled = start.copy()
        for sweep in range(n_sweeps):
            counts = sweep >= n_sweeps // 2
            evidence.append(_sweep(filled, relations, wanted if counts else None, sums, random))
            count += counts
            is_interrupted = is_stopped(chain, sweep, evidence[-1])
            if is_interrupted:
                break
        if not (is_interrupted and tables):
            tables.append(filled)
        if is_interrupted:
            break
    if not count:  # stopped very early
        _sweep(filled.copy(), relations, wanted, sums, random)
        count = 1
    expectations = {group: total / count for group, total in sums.items()}
    return DrawnTables(relations, tables, expectations, np.array(evidence), is_interrupted)


def _sweep(
    filled: np.ndarray, relations: Relations, wanted: Wanted | None, sums: dict, random: np.random.Generator
) -> float:
    """Draw all holes anew, in place. Expectations are added to `sums` if they are wanted."""
    total = 0.0
    for group in relations.with_holes():
        given = relations.conditional(group, filled, _TREES, random)
        holes, places = np.flatnonzero(relations.missing[:, group]), list(relations.layout.groups[group])
        if wanted is not None:
            means = given.expectations(filled[holes], lambda values, group=group: wanted(values, group))
            full = np.zeros((len(filled), means.shape[1]))
            full[holes] = means
            sums[group] = sums[group] + full
        filled[np.ix_(holes, places)] = given.draw(filled[holes], *random_numbers(len(holes), random), is_joint=True)
        total += given.gp.log_evidence if given.gp is not None else 0.0
    return total


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
    for _ in range(_SWEEPS_OF_NEW_ROWS):
        numbers = _shared_numbers(n_draws, missing.shape, random)
        for each, places in zip(given, holes, strict=True):
            own_numbers = (number[places, each.group] for number in numbers)
            filled[np.ix_(places, layout.groups[each.group])] = each.draw(filled[places], *own_numbers)
    return filled.reshape(n_draws, *rows.shape)


def _shared_numbers(count: int, shape: tuple[int, ...], random: np.random.Generator) -> list[np.ndarray]:
    """Random numbers (count · n, groups) of three kinds. All rows of a draw have the same."""
    kinds = random.random((count, shape[1])), random.normal(size=(count, shape[1])), random.random((count, shape[1]))
    return [np.repeat(kind, shape[0], axis=0) for kind in kinds]
