"""Draws of stacked GPs by several chains, each of which first predicts rows that were held back from it.

A chain has random features of its own. It begins with a part of the rows held back: the hidden layers start near the
identity, under the GP with one layer that fits the other rows best, and Hamiltonian Monte Carlo moves everything. What
its draws say of the rows that were held back is noted, together with what the GP with one layer says. Then all rows
take part. If inputs are missing, there are several tables, and the chain goes from one to the next. What was missing is
drawn anew before each draw of the layers, by how well candidates explain the outputs through the present layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...core.exact.certain import Hyperparameters, OutputDensity, fit_hyperparameters, with_noise
from ...core.layers.density import StackDensity
from ...core.layers.hamiltonian import Hamiltonian
from ...core.layers.hidden import through
from ...core.layers.stack import Stack
from ..particles.chains import sweep
from ..particles.relations import Relations
from ..particles.side_by_side import IsStopped, Tell, run_chains
from .complete_tables import CompleteTable
from .depths import log_mean
from .stacked_component import BentDensity, StackedComponent

# Rows are held back in so many parts, one for each chain in turn.
_PARTS = 5
# At most so many rows take part in the search for layers. All of them take part in predictions.
_MOST_ROWS = 400
# Iterations until the first draw, between draws that predict what was held back, until the first draw that is kept,
# and between those.
_BURN_IN, _BETWEEN_TRIALS, _ALL_ROWS, _BETWEEN = 50, 4, 20, 5
# Draws of a chain that predict what was held back, and draws that are kept.
_TRIALS, _KEPT = 5, 6
# Iterations of a chain.
ITERATIONS = _BURN_IN + _TRIALS * _BETWEEN_TRIALS + _ALL_ROWS + (_KEPT - 1) * _BETWEEN
_SEARCH = 60  # iterations of the search for the hyperparameters of one layer
_SMALL = 150  # rows up to which one thread is faster than several


@dataclass(frozen=True)
class Plan:
    """What all chains share."""

    tables: Sequence[CompleteTable]
    groups: np.ndarray  # the number of the column of every input
    relations: Relations | None  # by which missing inputs are drawn anew; None if nothing is
    inducing: np.ndarray | None  # for the GPs on top, if they are not exact
    n_chains: int
    has_shared_noise: bool
    seed: int

    @property
    def rows(self) -> np.ndarray:
        """The rows that take part in the search. They are sorted by content: every so-many-th is a fair sample."""
        n = len(self.tables[0].targets)
        return np.arange(n) if n <= _MOST_ROWS else np.linspace(0, n - 1, _MOST_ROWS).astype(int)

    def is_held_back(self, chain: int) -> np.ndarray:
        """Which of these rows are first held back from a chain."""
        parts = np.random.default_rng(self.seed).permutation(len(self.rows)) % _PARTS
        return parts == chain % _PARTS

    def tables_of(self, chain: int) -> list[CompleteTable]:
        """The tables that a chain goes through. The first is the one whose rows are held back."""
        return list(self.tables[chain :: self.n_chains]) or [self.tables[chain % len(self.tables)]]


@dataclass(frozen=True)
class Chain:
    """What a chain has found."""

    n_layers: int
    number: int  # of the chain among those of this depth, on which depends what is held back
    one_layer: np.ndarray  # the log density of the rows that were held back, under one layer
    stacked: np.ndarray  # and under the stack
    draws: tuple[StackedComponent, ...]


class _Stopped(Exception):
    """Raised when a chain has been told to stop."""


def draw_chains(plan: Plan, depths: Sequence[int], is_stopped: IsStopped) -> tuple[list[Chain], bool]:
    """All chains that have kept a draw, `n_chains` for each depth, and whether they were stopped."""
    chains = [partial(_draw_chain, plan, n_layers, chain) for n_layers in depths for chain in range(plan.n_chains)]
    found, was_stopped = run_chains(chains, is_stopped, 1 if len(plan.rows) <= _SMALL else None)
    return [chain for chain in found if chain is not None], was_stopped


def _draw_chain(plan: Plan, n_layers: int, number: int, tell: Tell) -> Chain | None:
    """One chain. If it is told to stop before it has a draw of all rows, there is nothing to keep."""
    random = np.random.default_rng((plan.seed, n_layers, number))
    walk = _Walk(plan, Stack.drawn(plan.groups, n_layers, random), random, tell)
    tables, is_held_back = plan.tables_of(number), plan.is_held_back(number)
    draws: list[StackedComponent] = []
    try:
        one_layer, stacked = walk.predict_held_back(tables[0], is_held_back)
        for draw in range(_KEPT):
            draws.append(walk.next_of(tables[draw * len(tables) // _KEPT], is_first=not draw))
    except _Stopped:
        if not draws:
            return None
    return Chain(n_layers, number, one_layer, stacked, tuple(draws))


class _Walk:
    """A chain on its way: its position, and what follows from it."""

    def __init__(self, plan: Plan, stack: Stack, random: np.random.Generator, tell: Tell) -> None:
        self.plan, self.stack, self.random, self.tell, self.iteration = plan, stack, random, tell, 0

    def predict_held_back(self, table: CompleteTable, is_held_back: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The log density of the rows that are held back, under one layer and under the stack, given the other rows."""
        plan, rows = self.plan, self.plan.rows
        known, asked = rows[~is_held_back], rows[is_held_back]
        inputs, targets = table.inputs[known], table.targets[known]
        one = fit_hyperparameters(inputs, targets, plan.groups, None, _SEARCH, plan.has_shared_noise)
        density = StackDensity(self.stack, inputs, targets, plan.has_shared_noise)
        self.sampler = Hamiltonian(density, self.stack.start(one.free, self.random), self.random)
        self._advance(_BURN_IN, is_adapting=True)
        new, truth = table.inputs[asked], table.targets[asked]
        alone = OutputDensity.given(one, inputs, targets, precision=float).log_densities(new[:, None], truth)[:, 0]
        return alone, log_mean(np.stack([self._trial(inputs, targets, new, truth) for _ in range(_TRIALS)]))

    def _trial(self, inputs: np.ndarray, targets: np.ndarray, new: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The log density of new rows under the next draw."""
        self._advance(_BETWEEN_TRIALS)
        layers = self.stack.layers(self.sampler.position)
        density = BentDensity.given(layers, self._on_top(through(layers, inputs), targets), inputs, targets)
        return density.log_densities(new[:, None], truth)[:, 0]

    def next_of(self, table: CompleteTable, is_first: bool) -> StackedComponent:
        """The next draw given a table, in which what is missing is first drawn anew."""
        rows, table = self.plan.rows, self._drawn_anew(table)
        inputs, targets = table.inputs[rows], table.targets[rows]
        self.sampler.move_to(StackDensity(self.stack, inputs, targets, self.plan.has_shared_noise))
        self._advance(_ALL_ROWS if is_first else _BETWEEN, is_adapting=is_first)
        layers = self.stack.layers(self.sampler.position)
        parameters = self._on_top(through(layers, inputs), targets)
        return StackedComponent(layers, table.inputs, table.targets, parameters, self.plan.inducing)

    def _drawn_anew(self, table: CompleteTable) -> CompleteTable:
        relations, rows = self.plan.relations, self.plan.rows
        if relations is None:
            return table
        layers, inputs = self.stack.layers(self.sampler.position), table.inputs.copy()
        parameters = self._on_top(through(layers, inputs[rows]), table.targets[rows])
        sweep(inputs, table.targets, relations, partial(BentDensity.given, layers, parameters), self.random)
        return replace(table, inputs=inputs)

    def _on_top(self, bent: np.ndarray, targets: np.ndarray) -> Hyperparameters:
        """The hyperparameters of the GP on top."""
        free, groups = self.stack.of_last(self.sampler.position)
        evidence = self.sampler.value + 0.5 * float(self.sampler.position @ self.sampler.position)
        return with_noise(free, evidence, bent, targets, groups, self.plan.has_shared_noise)

    def _advance(self, iterations: int, is_adapting: bool = False) -> None:
        for _ in range(iterations):
            self.sampler.advance(is_adapting)
            self.iteration += 1
            if self.tell(self.iteration, self.sampler.value):
                raise _Stopped
