"""Draws of missing inputs given the outputs, through the GP of the outputs itself.

A chain starts at a filled table. Every sweep gives each row with holes several candidates: its current inputs, and
draws of some of its missing inputs given the others, without the outputs. One of them is chosen with a probability in
proportion to the density of the row's outputs under the GP of other rows. If the candidates were independent draws
from p(x missing | x known), this would be a step of a Markov chain whose stationary distribution is p(x missing | x
known, y): iterated sampling importance resampling (Andrieu, Lee and Vihola 2018). They are that where one entry is
drawn anew. Several are drawn one after the other, given the current values of the rest. After every sweep the
hyperparameters of the GP are fitted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from ...core.exact.certain import Hyperparameters, OutputDensity, fit_hyperparameters
from .given_others import Conditional
from .relations import Relations, random_numbers
from .schedule import Schedule
from .side_by_side import IsStopped, Tell, map_side_by_side, run_chains

# Up to `_MANY_ROWS`, candidates are weighed by an exact GP of up to `_ROWS_TO_WEIGH` rows, which are not of their part
# of the table. Beyond, by a GP with inducing points of up to `_MOST_TO_WEIGH` rows.
_ROWS_TO_WEIGH, _MANY_ROWS, _INDUCING, _MOST_TO_WEIGH = 1000, 2000, 500, 10_000
# What one row does not say, the others do: of more than these rows there are fewer chains, which keep fewer tables.
_FEW_ROWS, _VERY_MANY_ROWS = 500, 50_000
_SMALL = 150  # rows up to which one thread is faster than several
_CANDIDATES, _TREES, _BURN_IN = 12, 3, 4
_MOVED = 5.0  # about how many holes of a row a candidate fills anew
_COLUMNS_AT_ONCE = 16  # only so many columns are drawn anew in a sweep, so that wide tables do not take long
_ROWS_AT_ONCE = 10_000  # of which candidates are made, and weighed, at once
# Iterations of the search for hyperparameters: at the very first, at the start of a chain, and after every sweep.
_FIRST, _START, _LATER = 40, 15, 3
# The largest number of rows that it has, and if a table is kept.
_ROWS_TO_FIT, _ROWS_AT_END = 500, 1000


# A first guess of the table, in which every hole is filled.
Start = Callable[[np.random.Generator], np.ndarray]


class RowDensity(Protocol):
    """What weighs candidates."""

    def log_densities(self, options: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The log density (b, c) of the outputs of b rows at c candidates for the inputs of each."""


# (inputs, outputs, inducing inputs or None) of rows → the density of the outputs of other rows
DensityGiven = Callable[[np.ndarray, np.ndarray, np.ndarray | None], RowDensity]


@dataclass(frozen=True)
class Particle:
    """A table without holes, and the hyperparameters of the GP of the outputs given it."""

    table: np.ndarray
    parameters: Hyperparameters
    chain: int  # the number of the chain that it comes from


@dataclass(frozen=True)
class Search:
    """How hyperparameters are searched for."""

    max_iter: int = _FIRST  # the largest number of iterations
    has_shared_noise: bool = False  # whether all outputs have the same noise


def schedule_for(n_draws: int, n_rows: int) -> Schedule:
    """Chains that keep at least `n_draws` tables, or fewer if there are many rows."""
    if n_rows <= _FEW_ROWS:
        most_chains, n_between = 4, 2
    elif n_rows <= _VERY_MANY_ROWS:
        most_chains, n_between, n_draws = 2, 1, min(n_draws, 10)
    else:
        most_chains, n_between, n_draws = 1, 1, min(n_draws, 5)
    n_chains = min(most_chains, n_draws)
    n_kept = -(-n_draws // n_chains)
    return Schedule(n_chains, _BURN_IN + 1 + n_between * (n_kept - 1), n_kept, n_between)


def draw_particles(
    schedule: Schedule,
    search: Search,
    start: Start,
    targets: np.ndarray,
    relations: Relations,
    random: np.random.Generator,
    is_stopped: IsStopped = lambda chain, sweep, evidence: False,
) -> tuple[list[Particle], bool]:
    """The tables that are kept of all chains, and whether the chains were stopped. There is at least one table.

    The hyperparameters of a first table are where those of all chains start.
    """
    guess = start(random)
    first = _fit(search, guess, targets, relations, None, _FIRST)
    numbers = random.spawn(schedule.n_chains)
    starts = [lambda _: guess.copy(), *[start] * (schedule.n_chains - 1)]
    chains = [
        partial(_draw_chain, schedule, search, chain, starts[chain], targets, relations, first, numbers[chain])
        for chain in range(schedule.n_chains)
    ]
    # Steps with small tables are so short that threads would only wait for each other.
    found, was_stopped = run_chains(chains, is_stopped, 1 if len(targets) <= _SMALL else None)
    return [particle for particles in found for particle in particles], was_stopped


def latest(particles: list[Particle], count: int) -> list[Particle]:
    """So many particles, of all chains the last ones."""
    chains = [particle.chain for particle in particles]
    ages = [chains[place + 1 :].count(chain) for place, chain in enumerate(chains)]
    return [particles[place] for place in sorted(np.argsort(ages, kind="stable")[:count])]


def _draw_chain(
    schedule: Schedule,
    search: Search,
    chain: int,
    start: Start,
    targets: np.ndarray,
    relations: Relations,
    parameters: Hyperparameters,
    random: np.random.Generator,
    tell: Tell,
) -> list[Particle]:
    """The tables that are kept of one chain. If it is told to stop before there is one, that is its present one."""
    table = start(random)
    parameters = _fit(search, table, targets, relations, parameters, _START)
    particles: list[Particle] = []
    for number in range(schedule.n_sweeps):
        sweep(table, targets, relations, partial(OutputDensity.given, parameters), random)
        stop = tell(number, parameters.log_evidence)
        is_kept = schedule.is_kept(number) or (stop and not particles)
        most_rows = _ROWS_AT_END if is_kept else _ROWS_TO_FIT
        # The better the table, the less noise: the next sweep should know.
        parameters = _fit(search, table, targets, relations, parameters, _LATER, most_rows)
        if is_kept:
            particles.append(Particle(table.copy(), parameters, chain))
        if stop:
            break
    return particles


def _fit(
    search: Search,
    table: np.ndarray,
    targets: np.ndarray,
    relations: Relations,
    start: Hyperparameters | None,
    iterations: int,
    most_rows: int = _ROWS_TO_FIT,
) -> Hyperparameters:
    """Hyperparameters of the GP of the outputs, from some rows of a table."""
    rows = np.flatnonzero(~np.isnan(targets).all(axis=1))
    if len(rows) > most_rows:  # rows are sorted by content, so that every so-many-th is a fair sample
        rows = rows[np.linspace(0, len(rows) - 1, most_rows).astype(int)]
    most, groups = min(iterations, search.max_iter), relations.layout.group_of
    return fit_hyperparameters(table[rows], targets[rows], groups, start, most, search.has_shared_noise)


def sweep(
    table: np.ndarray,
    targets: np.ndarray,
    relations: Relations,
    density_given: DensityGiven,
    random: np.random.Generator,
) -> None:
    """Choose the inputs of all rows with holes anew, in place, by the density of outputs given other rows."""
    columns = random.permutation(list(relations.with_holes()))[:_COLUMNS_AT_ONCE]
    given = [relations.conditional(int(group), table, _TREES, random, is_quick=True) for group in columns]
    order, is_many = random.permutation(len(table)), len(table) > _MANY_ROWS
    rows = order[relations.missing[order].any(axis=1)]
    options = _all_candidates(table, rows, relations, given, random)
    inducing = table[order[:_INDUCING]].copy() if is_many else None
    for fold in np.array_split(np.arange(len(rows)), _n_parts(len(table), len(rows))):
        others = order[~np.isin(order, rows[fold])][: _MOST_TO_WEIGH if is_many else _ROWS_TO_WEIGH]
        density = density_given(table[others], targets[others], inducing)
        logs = _in_blocks(fold, lambda some: density.log_densities(options[some], targets[rows[some]]))  # noqa: B023
        table[rows[fold]] = options[fold, choose(logs, random.random(len(fold)))]


def _n_parts(n_rows: int, n_with_holes: int) -> int:
    """In how many parts rows are weighed. The fewer rows there are, the more each of them is needed by the others."""
    return min(10 if n_rows <= _FEW_ROWS else 6 if n_rows <= _MANY_ROWS else 2, n_with_holes)


def _in_blocks(rows: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The values of a function of many rows, in blocks of rows side by side."""
    blocks = np.array_split(rows, -(-len(rows) // _ROWS_AT_ONCE) or 1)
    return function(rows) if len(blocks) == 1 else np.concatenate(map_side_by_side(function, blocks))


def _all_candidates(
    table: np.ndarray, rows: np.ndarray, relations: Relations, given: Sequence[Conditional], random: np.random.Generator
) -> np.ndarray:
    """`candidates`, with random numbers that do not depend on which block of rows comes first."""
    seed = int(random.integers(2**31))
    return _in_blocks(
        rows, lambda some: candidates(table, some, relations, given, np.random.default_rng((seed, int(some[0]))))
    )


def candidates(
    table: np.ndarray,
    rows: np.ndarray,
    relations: Relations,
    given: Sequence[Conditional],
    random: np.random.Generator,
) -> np.ndarray:
    """Candidates for the inputs of rows, (rows, candidates, d), from some columns given the others.

    The first is what the row has now.
    """
    missing = np.zeros((len(rows), relations.missing.shape[1]), bool)
    for column in given:
        missing[:, column.group] = relations.missing[rows, column.group]
    flat = np.repeat(table[rows], _CANDIDATES, axis=0)
    chance = np.minimum(1.0, _MOVED / np.maximum(missing.sum(axis=1), 1))
    moved = np.repeat(missing, _CANDIDATES, axis=0)
    moved &= random.random(moved.shape) < np.repeat(chance, _CANDIDATES)[:, None]
    moved[::_CANDIDATES] = False
    for column in given:
        here = np.flatnonzero(moved[:, column.group])
        if len(here):
            numbers = random_numbers(len(here), random)
            flat[relations.layout.at(here, column.group)] = column.draw(flat[here], *numbers)
    return flat.reshape(len(rows), _CANDIDATES, -1)


def choose(logs: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """For every row, a candidate with a probability in proportion to its density."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.argmax(np.cumsum(weights, axis=1) >= (uniform * weights.sum(axis=1))[:, None], axis=1)
