"""Draws of missing inputs given the outputs, through the GP of the outputs itself.

A chain starts at a filled table. Every sweep gives each row with holes several candidates: its current inputs, and
draws of some of its missing inputs given the others, without the outputs. One of them is chosen with a probability in
proportion to the density of the row's outputs under the GP of other rows. If the candidates were independent draws
from p(x missing | x known), this would be a step of a Markov chain whose stationary distribution is p(x missing | x
known, y): iterated sampling importance resampling (Andrieu, Lee and Vihola 2018). They are that where one entry is
drawn anew. Several are drawn one after the other, given the current values of the rest. From time to time the
hyperparameters of the GP are fitted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.exact.certain import Hyperparameters, OutputDensity, fit_hyperparameters
from .given_others import Conditional
from .relations import Relations, random_numbers
from .side_by_side import IsStopped, Tell, run_chains

# Up to `_MANY_ROWS`, candidates are weighed by an exact GP of up to `_ROWS_TO_WEIGH` rows, all but a tenth of them.
# Beyond, by a GP with inducing points, of up to `_MOST_TO_WEIGH` rows of the half to which the candidates do not belong.
_ROWS_TO_WEIGH, _FOLDS, _MANY_ROWS, _INDUCING, _MOST_TO_WEIGH = 1000, 10, 2000, 500, 10_000
_ROWS_TO_FIT = 500  # only so many take part in the fit of hyperparameters
_CANDIDATES, _TREES = 12, 3
# Of few rows there are more chains, with two sweeps from one kept table to the next. Of very many, fewer tables are kept:
# what each row does not say, the others do.
_FEW_ROWS, _VERY_MANY_ROWS, _FEWER_KEPT, _BURN_IN = 500, 50_000, 5, 4
_MOVED = 3.0  # about how many holes of a row a candidate fills anew
# Iterations of the fit of hyperparameters: at the very first, at the start of a chain, and later.
_FIRST, _START, _LATER, _FIT_AFTER = 40, 15, 5, 2
_ROWS_AT_ONCE = 5000  # so that memory does not grow with the number of rows


# A first guess of the table, in which every hole is filled.
Start = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Particle:
    """A table without holes, and the hyperparameters of the GP of the outputs given it."""

    table: np.ndarray
    parameters: Hyperparameters
    chain: int  # the number of the chain that it comes from


@dataclass(frozen=True)
class Plan:
    """How many chains there are, how long they are, and how many tables are kept of each, the last ones."""

    n_chains: int
    n_sweeps: int
    n_kept: int
    max_iter: int = _FIRST  # the largest number of iterations of a fit of hyperparameters
    has_shared_noise: bool = False  # whether all outputs have the same noise
    n_between: int = 1  # sweeps from one kept table to the next

    @classmethod
    def of(cls, n_draws: int, n_rows: int, max_iter: int = _FIRST, has_shared_noise: bool = False) -> Plan:
        """A plan that keeps at least `n_draws` tables, unless there are very many rows."""
        is_few, is_very_many = n_rows <= _FEW_ROWS, n_rows > _VERY_MANY_ROWS
        n_draws = min(n_draws, _FEWER_KEPT) if is_very_many else n_draws
        n_chains = min(4 if is_few else 2 - is_very_many, n_draws)
        n_kept, n_between = -(-n_draws // n_chains), 1 + is_few
        n_sweeps = _BURN_IN + 1 + n_between * (n_kept - 1)
        return cls(n_chains, n_sweeps, n_kept, max_iter, has_shared_noise, n_between)

    def is_kept(self, sweep: int) -> bool:
        """Whether the table after this sweep is kept."""
        left = self.n_sweeps - 1 - sweep
        return left % self.n_between == 0 and left // self.n_between < self.n_kept


def draw_particles(
    plan: Plan,
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
    first = _fit(plan, guess, targets, relations, None, _FIRST)
    numbers = random.spawn(plan.n_chains)
    chains = [
        partial(_draw_chain, plan, chain, start, targets, relations, first, numbers[chain])
        for chain in range(plan.n_chains)
    ]
    found, was_stopped = run_chains(chains, is_stopped)
    kept = [particle for particles in found for particle in particles]
    return kept or [Particle(guess, first, 0)], was_stopped


def _draw_chain(
    plan: Plan,
    chain: int,
    start: Start,
    targets: np.ndarray,
    relations: Relations,
    parameters: Hyperparameters,
    random: np.random.Generator,
    tell: Tell,
) -> list[Particle]:
    """The tables that are kept of one chain. If it is told to stop before there is one, that is its present one."""
    table, particles = start(random), []
    for sweep in range(plan.n_sweeps):
        if sweep in (0, _FIT_AFTER):
            parameters = _fit(plan, table, targets, relations, parameters, _LATER if sweep else _START)
        _sweep(table, targets, relations, parameters, random)
        stop = tell(sweep, parameters.log_evidence)
        if plan.is_kept(sweep) or (stop and not particles):
            parameters = _fit(plan, table, targets, relations, parameters, _LATER)
            particles.append(Particle(table.copy(), parameters, chain))
        if stop:
            break
    return particles


def _fit(
    plan: Plan,
    table: np.ndarray,
    targets: np.ndarray,
    relations: Relations,
    start: Hyperparameters | None,
    iterations: int,
) -> Hyperparameters:
    rows = np.flatnonzero(~np.isnan(targets).all(axis=1))
    if len(rows) > _ROWS_TO_FIT:  # rows are sorted by content, so that every so-many-th is a fair sample
        rows = rows[np.linspace(0, len(rows) - 1, _ROWS_TO_FIT).astype(int)]
    most, groups = min(iterations, plan.max_iter), relations.layout.group_of
    return fit_hyperparameters(table[rows], targets[rows], groups, start, most, plan.has_shared_noise)


def _sweep(
    table: np.ndarray,
    targets: np.ndarray,
    relations: Relations,
    parameters: Hyperparameters,
    random: np.random.Generator,
) -> None:
    """Choose the inputs of all rows with holes anew, in place."""
    given = [relations.conditional(group, table, _TREES, random, is_quick=True) for group in relations.with_holes()]
    has_holes, order = relations.missing.any(axis=1), random.permutation(len(table))
    is_many = len(table) > _MANY_ROWS
    inducing = table[order[:_INDUCING]].copy() if is_many else None
    for fold in np.array_split(np.arange(len(order)), 2 if is_many else min(_FOLDS, len(order))):
        rows = order[fold][has_holes[order[fold]]]
        if len(rows):
            others = np.delete(order, fold)[: _MOST_TO_WEIGH if is_many else _ROWS_TO_WEIGH]
            density = OutputDensity.given(parameters, table[others], targets[others], inducing)
            for some in np.array_split(rows, -(-len(rows) // _ROWS_AT_ONCE)):
                options = candidates(table, some, relations, given, random)
                logs = density.log_densities(options, targets[some])
                table[some] = options[np.arange(len(some)), choose(logs, random.random(len(some)))]


def candidates(
    table: np.ndarray,
    rows: np.ndarray,
    relations: Relations,
    given: Sequence[Conditional],
    random: np.random.Generator,
) -> np.ndarray:
    """Candidates for the inputs of rows, (rows, candidates, d), from columns given the others.

    The first is what the row has now.
    """
    missing = relations.missing[rows]
    flat = np.repeat(table[rows], _CANDIDATES, axis=0)
    chance = np.minimum(1.0, _MOVED / np.maximum(missing.sum(axis=1), 1))
    moved = np.repeat(missing, _CANDIDATES, axis=0)
    moved &= random.random(moved.shape) < np.repeat(chance, _CANDIDATES)[:, None]
    moved[::_CANDIDATES] = False
    for place in random.permutation(len(given)):
        column = given[place]
        here = np.flatnonzero(moved[:, column.group])
        if len(here):
            numbers = random_numbers(len(here), random)
            flat[relations.layout.at(here, column.group)] = column.draw(flat[here], *numbers)
    return flat.reshape(len(rows), _CANDIDATES, -1)


def choose(logs: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """For every row, a candidate with a probability in proportion to its density."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.argmax(np.cumsum(weights, axis=1) >= (uniform * weights.sum(axis=1))[:, None], axis=1)
