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

import numpy as np

from ...core.exact.certain import Hyperparameters, OutputDensity, fit_hyperparameters
from .relations import Relations, random_numbers

# Only so many rows take part in the GP that weighs candidates, and in the fit of its hyperparameters.
_ROWS_TO_WEIGH, _ROWS_TO_FIT, _MANY_ROWS = 1000, 500, 1000
_SWEEPS, _CANDIDATES, _FOLDS, _TREES = 10, 12, 10, 3
_MOVED = 3.0  # about how many holes of a row a candidate fills anew
# Iterations of the fit of hyperparameters: at the very first, at the start of another chain, and later.
_FIRST, _START, _LATER, _FIT_EVERY = 40, 15, 10, 4


@dataclass(frozen=True)
class Particle:
    """A table without holes, and the hyperparameters of the GP of the outputs given it."""

    table: np.ndarray
    parameters: Hyperparameters
    chain: int  # the number of the chain that it comes from


@dataclass(frozen=True)
class Plan:
    """How many chains there are, how long they are, and how many tables are kept of each."""

    n_chains: int
    n_sweeps: int
    n_kept: int
    max_iter: int = _FIRST  # the largest number of iterations of a fit of hyperparameters
    has_shared_noise: bool = False  # whether all outputs have the same noise
    n_between: int = 2  # sweeps from one kept table to the next

    @classmethod
    def of(cls, n_draws: int, n_rows: int, max_iter: int = _FIRST, has_shared_noise: bool = False) -> Plan:
        """A plan that keeps at least `n_draws` tables. Of many rows it has fewer chains, and keeps more of each."""
        most, n_between = (3, 2) if n_rows <= _MANY_ROWS else (5, 1)
        n_kept = min(most, n_draws)
        return cls(-(-n_draws // n_kept), _SWEEPS, n_kept, max_iter, has_shared_noise, n_between)

    def is_kept(self, sweep: int) -> bool:
        """Whether the table after this sweep is kept."""
        left = self.n_sweeps - 1 - sweep
        return left % self.n_between == 0 and left // self.n_between < self.n_kept


# (chain, sweep, log evidence) → whether to stop.
IsStopped = Callable[[int, int, float], bool]


def draw_particles(
    plan: Plan,
    starts: Sequence[np.ndarray],
    targets: np.ndarray,
    relations: Relations,
    random: np.random.Generator,
    is_stopped: IsStopped = lambda chain, sweep, evidence: False,
) -> tuple[list[Particle], bool]:
    """The tables that are kept of all chains, and whether the chains were stopped. There is at least one table.

    The hyperparameters of the first chain are where those of the others start.
    """
    particles: list[Particle] = []
    first = _fit(plan, starts[0], targets, relations, None, _FIRST)
    for chain in range(plan.n_chains):
        table, parameters = starts[chain].copy(), first
        for sweep in range(plan.n_sweeps):
            if sweep % _FIT_EVERY == 0 and (sweep or chain):
                parameters = _fit(plan, table, targets, relations, parameters, _LATER if sweep else _START)
            _sweep(table, targets, relations, parameters, random)
            stop = is_stopped(chain, sweep, parameters.log_evidence)
            if plan.is_kept(sweep) or (stop and not particles):
                parameters = _fit(plan, table, targets, relations, parameters, _LATER)
                particles.append(Particle(table.copy(), parameters, chain))
            if stop:
                return particles, True
        first = parameters if chain == 0 else first
    return particles, False


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
    rows = random.permutation(np.flatnonzero(relations.missing.any(axis=1)))
    others = random.permutation(len(table))[:_ROWS_TO_WEIGH]
    place = np.full(len(table), -1)
    place[others] = np.arange(len(others))
    density = OutputDensity(parameters, table[others], targets[others])
    options = candidates(table, rows, relations, random)
    for fold in np.array_split(np.arange(len(rows)), min(_FOLDS, len(rows)) or 1):
        here = place[rows[fold]]
        logs = density.log_densities(options[fold], targets[rows[fold]], here[here >= 0])
        table[rows[fold]] = options[fold, choose(logs, random.random(len(fold)))]
        density.replace(here[here >= 0], table[rows[fold]][here >= 0])


def candidates(table: np.ndarray, rows: np.ndarray, relations: Relations, random: np.random.Generator) -> np.ndarray:
    """Candidates for the inputs of rows, (rows, candidates, d). The first is what the row has now."""
    missing = relations.missing[rows]
    flat = np.repeat(table[rows], _CANDIDATES, axis=0)
    chance = np.minimum(1.0, _MOVED / np.maximum(missing.sum(axis=1), 1))
    moved = np.repeat(missing, _CANDIDATES, axis=0)
    moved &= random.random(moved.shape) < np.repeat(chance, _CANDIDATES)[:, None]
    moved[::_CANDIDATES] = False
    for group in random.permutation(list(relations.with_holes())):
        here = np.flatnonzero(moved[:, group])
        if len(here):
            given = relations.conditional(int(group), table, _TREES, random)
            flat[relations.layout.at(here, int(group))] = given.draw(flat[here], *random_numbers(len(here), random))
    return flat.reshape(len(rows), _CANDIDATES, -1)


def choose(logs: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """For every row, a candidate with a probability in proportion to its density."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.argmax(np.cumsum(weights, axis=1) >= (uniform * weights.sum(axis=1))[:, None], axis=1)
