"""Draws of the holes of a table, column after column, each given the others: chained equations.

A sweep goes over the columns with holes. Each is conditioned on the current table, and its holes are drawn anew. Trees
are grown on bootstrap samples, and a GP's function is drawn as a whole, so that draws differ as much as they should.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from .layout import Layout
from .relations import Relations, common_values, fill, random_numbers
from .schedule import Schedule
from .side_by_side import IsStopped, Tell, run_chains

_TREES = 3
_KEPT = 2  # tables of a chain
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
    is_stopped: IsStopped,
) -> DrawnTables:
    """Draw the holes of a table `n_tables` times, by chains of `n_sweeps` sweeps from a first guess.

    Tables are kept in the second half of a chain. Expectations are means over all sweeps but the first third.
    """
    start, relations = fill(table, layout, random)
    schedule = schedule_for(n_tables, n_sweeps)
    numbers = random.spawn(schedule.n_chains)
    chains = [partial(_draw_chain, schedule, start, relations, wanted, own) for own in numbers]
    found, is_interrupted = run_chains(chains, is_stopped)
    tables = [table for chain in found for table in chain.tables][:n_tables]
    evidence = np.concatenate([chain.evidence for chain in found])
    count = sum(chain.count for chain in found)
    expectations = {
        group: np.sum([chain.sums[group] for chain in found], axis=0) / count for group in relations.with_holes()
    }
    return DrawnTables(relations, tables, expectations, evidence, is_interrupted)


def schedule_for(n_tables: int, n_sweeps: int) -> Schedule:
    """Chains that keep at least `n_tables` tables, up to two each, in the second half of their sweeps."""
    n_kept = min(_KEPT, n_tables, -(-n_sweeps // 2))
    n_between = max(1, (n_sweeps // 2) // n_kept)
    return Schedule(-(-n_tables // n_kept), n_sweeps, n_kept, n_between)


@dataclass
class _Chain:
    """What one chain has found: tables, sums of the wanted functions over `count` sweeps, and evidence."""

    tables: list[np.ndarray] = field(default_factory=list)
    sums: dict[int, np.ndarray] = field(default_factory=dict)
    count: int = 0
    evidence: list[float] = field(default_factory=list)


def _draw_chain(
    schedule: Schedule,
    start: np.ndarray,
    relations: Relations,
    wanted: Wanted,
    random: np.random.Generator,
    tell: Tell,
) -> _Chain:
    """Draw by sweeps. If the chain is told to stop before anything was kept, the present sweep counts."""
    filled, chain, stop = start.copy(), _Chain(), False
    for sweep in range(schedule.n_sweeps):
        counts = sweep >= schedule.n_sweeps // 3
        chain.evidence.append(_sweep(filled, relations, wanted if counts else None, chain.sums, random))
        chain.count += counts
        stop = tell(sweep, chain.evidence[-1])
        if schedule.is_kept(sweep) or (stop and not chain.tables):
            chain.tables.append(filled.copy())
        if stop:
            break
    if not chain.count:
        _sweep(filled, relations, wanted, chain.sums, random)
        chain.count = 1
    return chain


def _sweep(
    filled: np.ndarray,
    relations: Relations,
    wanted: Wanted | None,
    sums: dict[int, np.ndarray],
    random: np.random.Generator,
) -> float:
    """Draw all holes anew, in place. Expectations are added to `sums` if they are wanted."""
    evidence = 0.0
    for group in relations.with_holes():
        given = relations.conditional(group, filled, _TREES, random, is_quick=True)
        holes = np.flatnonzero(relations.missing[:, group])
        if wanted is not None:
            means = given.expectations(filled[holes], partial(wanted, column=group))
            total = sums.setdefault(group, np.zeros((len(filled), means.shape[1])))
            total[holes] += means
        filled[relations.layout.at(holes, group)] = given.draw(
            filled[holes], *random_numbers(len(holes), random), is_joint=True
        )
        evidence += given.gp.log_evidence if given.gp is not None else 0.0
    return evidence


def choose_for_new_rows(rows: np.ndarray, relations: Relations, table: np.ndarray, seed: int) -> None:
    """Choose models for columns that are missing in new rows and were not in the training rows."""
    for group in np.flatnonzero(relations.layout.is_missing(rows).any(axis=0)):
        if group not in relations.models:
            relations.choose(int(group), table, np.random.default_rng(seed))


def draw_new_rows(
    rows: np.ndarray, relations: Relations, table: np.ndarray, n_draws: int, n_trees: int, seed: tuple[int, ...]
) -> np.ndarray:
    """Draws (n_draws, n, d) of new rows given their known entries, with relations conditioned on a table.

    All columns that are missing must have models. All rows get the same random numbers, so that the draws of a row do
    not depend on the rows beside it.
    """
    random, layout = np.random.default_rng(seed), relations.layout
    missing = layout.is_missing(rows)
    filled = np.tile(common_values(rows, layout, table), (n_draws, 1))
    given = []
    for group in range(missing.shape[1]):
        # Every column takes the same random numbers, whether it is missing or not.
        own = np.random.default_rng(int(random.integers(2**31)))
        if missing[:, group].any():
            # In double precision: some processors' products of single precision depend on the place of a row.
            given.append(relations.conditional(group, table, n_trees, own))
    holes = [np.flatnonzero(np.tile(missing[:, each.group], n_draws)) for each in given]
    for _ in range(_SWEEPS_OF_NEW_ROWS):
        numbers = _shared_numbers(n_draws, missing.shape, random)
        for each, places in zip(given, holes, strict=True):
            own_numbers = (number[places, each.group] for number in numbers)
            filled[layout.at(places, each.group)] = each.draw(filled[places], *own_numbers)
    return filled.reshape(n_draws, *rows.shape)


def _shared_numbers(count: int, shape: tuple[int, ...], random: np.random.Generator) -> list[np.ndarray]:
    """Random numbers (count · n, groups) of three kinds. All rows of a draw have the same."""
    kinds = random.random((count, shape[1])), random.normal(size=(count, shape[1])), random.random((count, shape[1]))
    return [np.repeat(kind, shape[0], axis=0) for kind in kinds]
