"""L-BFGS for parameters that are spread over devices: no process ever holds all of them.

Steps and changes of the gradient stay where the parameters are. What comes to the host are their inner products, three
rows of a small matrix per iteration, from which the two loops of L-BFGS find the coefficients of the next direction
(vector-free L-BFGS, Chen, Wang and Zhou 2014); and the loss and its slope along that direction. These numbers are the
same in every process, and so all of them decide alike. The line search is SciPy's, for strong Wolfe conditions.
"""

from __future__ import annotations

import fnmatch
import time
import warnings
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jax.sharding import Mesh

from .model import Data, Model
from .optimise import (
    DEFAULT_STAGES,
    MESSAGES,
    Callback,
    FitReport,
    Progress,
    Stage,
    Status,
    check_stages,
    constrain,
    parameter_paths,
    run_stages,
    signal_to_noise,
    unconstrain,
    with_ratio,
)  # fmt: skip
from .sharding import spread, spread_objective

# Pairs of steps and changes of the gradient that are kept; trials along a direction.
_PAIRS, _TRIALS = 20, 20


def fit_spread(
    model: Model,
    data: Data,
    mesh: Mesh,
    stages: Sequence[Stage] = DEFAULT_STAGES,
    tolerance: float = 1e-8,
    callback: Callback | None = None,
) -> tuple[Model, Data, FitReport]:
    """What `optimise.fit` does, over the devices of a mesh. The fitted model and the data stay there.

    In a run of several processes all call this with the same arguments; each holds its devices' rows only.
    """
    check_stages(model, stages)
    with jax.enable_x64(True):
        free, known = spread(unconstrain(model), data, mesh)
        bound = spread_objective(mesh, model, data)
        search = _Search(free, known, lambda f, d: -bound(constrain(f), d), callback)
        results = run_stages(search, stages, tolerance)
        fitted = jax.jit(constrain)(search.free)
    status = results[-1][1]
    report = FitReport(
        status, MESSAGES[status], search.bound, np.array(search.trace), search.evaluations,
        time.perf_counter() - search.started, tuple(results), np.array([np.inf]),
    )  # fmt: skip
    return fitted, known, with_ratio(report, signal_to_noise(fitted))


class _Search:
    """The state of one fit: parameters on their devices, the bound, and what has been done."""

    def __init__(self, free: Model, known: Data, loss: Callable, callback: Callback | None) -> None:
        self.free, self.known, self.callback = free, known, callback
        self.started, self.evaluations, self.bound = time.perf_counter(), 0, -np.inf
        self.trace: list[float] = []

        @jax.jit
        def evaluate(free, direction, moves, known):
            """Loss, slope along a direction, and gradient in what is moved."""
            value, gradient = jax.value_and_grad(loss)(free, known)
            gradient = jax.tree.map(jnp.multiply, gradient, moves)
            return value, _dot(gradient, direction), gradient

        self._evaluate = evaluate

    def run(self, stage: Stage, tolerance: float) -> Status:
        """Move the parameters that the stage does not hold, until it ends."""
        moves = _moved(self.free, stage)
        loss, _, gradient = self.evaluate(self.free, self.free, moves)
        self.bound = -loss
        if not np.isfinite(loss):
            return "failed"
        memory = _Memory(gradient)
        for iteration in range(1, stage.max_iterations + 1):
            direction, slope = memory.direction(gradient)
            line = _Line(self, direction, moves, (self.free, loss, slope, gradient))
            length = line.search(1.0 if memory.pairs else min(1.0, 1.0 / np.sqrt(-slope)))
            if length is None:
                return "stalled"
            before = loss
            self.free, loss, _, after = line.at(length)
            memory.add(length, direction, gradient, after)
            gradient, self.bound = after, -loss
            self.trace.append(self.bound)
            elapsed = time.perf_counter() - self.started
            progress = Progress(stage.name, iteration, stage.max_iterations, self.bound, elapsed)
            if self.callback is not None and self.callback(progress):
                return "interrupted"
            if before - loss <= tolerance * max(abs(before), abs(loss), 1.0):
                return "converged"
        return "iteration limit"

    def evaluate(self, free: Model, direction: Model, moves: Model) -> tuple[float, float, Model]:
        """Loss, slope along a direction, and gradient in what is moved."""
        loss, slope, gradient = self._evaluate(free, direction, moves, self.known)
        self.evaluations += 1
        return float(loss), float(slope), gradient


_Place = tuple[Model, float, float, Model]


class _Line:
    """The loss along a direction, every place evaluated once: parameters, loss, slope, gradient."""

    def __init__(
        self, search: _Search, direction: Model, moves: Model, start: tuple[Model, float, float, Model]
    ) -> None:
        self._search, self._direction, self._moves = search, direction, moves
        self._places = {0.0: start}

    def at(self, length: float) -> _Place:
        """What is there."""
        if length not in self._places:
            free = _go(self._search.free, length, self._direction)
            self._places[length] = (free, *self._search.evaluate(free, self._direction, self._moves))
        return self._places[length]

    def search(self, first: float) -> float | None:
        """How far to go, `first` being tried first; None where nothing is gained."""
        start = self.at(0.0)[1]
        wall = 1e3 * abs(start) + 1e6  # what a search meets where the bound is not a number

        def look(length: np.ndarray) -> tuple[float, float]:
            _, loss, slope, _ = self.at(float(length[0]) * first)
            return (loss, first * slope) if np.isfinite(loss) else (wall, 0.0)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the conditions were not met
            found = scipy.optimize.line_search(
                lambda x: look(x)[0], lambda x: np.array([look(x)[1]]), np.zeros(1), np.ones(1),
                np.array([look(np.zeros(1))[1]]), start, maxiter=_TRIALS,
            )[0]  # fmt: skip
        if found is not None:
            return float(found) * first
        best = min(self._places, key=lambda length: look(np.array([length / first]))[0])
        return best if best > 0 else None


class _Memory:
    """The latest steps and changes of the gradient, stacked, on the devices; their inner products here."""

    def __init__(self, gradient: Model) -> None:
        self._steps, self._changes = _empty(gradient), _empty(gradient)
        self._products = np.zeros((2 * _PAIRS + 1, 2 * _PAIRS + 1))  # of steps, changes and the gradient
        self._products[-1, -1] = float(_norm(gradient))
        self.pairs: list[int] = []  # where they are, the oldest first

    def direction(self, gradient: Model) -> tuple[Model, float]:
        """-H g, and the slope along it."""
        weights = self._coefficients()
        slope = float(self._products[-1] @ weights)
        if slope >= 0:  # rounding: begin anew
            self.pairs = []
            weights = self._coefficients()
            slope = float(self._products[-1] @ weights)
        return _combine(self._steps, self._changes, gradient, *np.split(weights, [_PAIRS, 2 * _PAIRS])), slope

    def _coefficients(self) -> np.ndarray:
        """Of steps, changes and gradient in the next direction: the two loops, in inner products."""
        products, weights = self._products, np.zeros(2 * _PAIRS + 1)
        weights[-1] = -1.0
        pulls = {}
        for pair in reversed(self.pairs):
            pulls[pair] = products[pair] @ weights / products[pair, _PAIRS + pair]
            weights[_PAIRS + pair] -= pulls[pair]
        if self.pairs:
            latest = self.pairs[-1]
            weights *= products[latest, _PAIRS + latest] / products[_PAIRS + latest, _PAIRS + latest]
        for pair in self.pairs:
            weights[pair] += pulls[pair] - products[_PAIRS + pair] @ weights / products[pair, _PAIRS + pair]
        return weights

    def add(self, length: float, direction: Model, before: Model, after: Model) -> None:
        """Keep a step, if the gradient changed along it as that of a convex function does."""
        unused = [place for place in range(_PAIRS) if place not in self.pairs]
        slot = unused[0] if unused else self.pairs[0]
        self._steps, self._changes, rows = _remember(self._steps, self._changes, slot, length, direction, before, after)
        rows = np.asarray(rows)
        for place, row in zip((slot, _PAIRS + slot, 2 * _PAIRS), rows, strict=True):
            self._products[place], self._products[:, place] = row, row
        self.pairs = [pair for pair in self.pairs if pair != slot]
        if self._products[slot, _PAIRS + slot] > 1e-16 * self._products[_PAIRS + slot, _PAIRS + slot]:
            self.pairs.append(slot)


def _moved(free: Model, stage: Stage) -> Model:
    """1 for parameters that a stage moves, 0 for those that it holds."""
    structure = jax.tree.structure(free)
    held = [any(fnmatch.fnmatch(path, hold) for hold in stage.hold) for path in parameter_paths(free)]
    return jax.tree.unflatten(structure, [0.0 if is_held else 1.0 for is_held in held])


def _dot(one, other):
    return sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


@jax.jit
def _norm(tree):
    return _dot(tree, tree)


@jax.jit
def _empty(tree):
    return jax.tree.map(lambda leaf: jnp.zeros((_PAIRS, *leaf.shape), leaf.dtype), tree)


@jax.jit
def _go(start, length, direction):
    return jax.tree.map(lambda a, b: a + length * b, start, direction)


@jax.jit
def _combine(steps, changes, gradient, of_steps, of_changes, of_gradient):
    def leaf(s, y, g):
        return jnp.tensordot(of_steps, s, 1) + jnp.tensordot(of_changes, y, 1) + of_gradient[0] * g

    return jax.tree.map(leaf, steps, changes, gradient)


@jax.jit
def _remember(steps, changes, slot, length, direction, before, after):
    """The memory with a new pair, and the products of step, change and gradient with everything in it."""
    step = jax.tree.map(lambda d: length * d, direction)
    change = jax.tree.map(jnp.subtract, after, before)
    steps = jax.tree.map(lambda all_, one: all_.at[slot].set(one), steps, step)
    changes = jax.tree.map(lambda all_, one: all_.at[slot].set(one), changes, change)

    def products(one):
        def with_all(stack):
            pairs = zip(jax.tree.leaves(stack), jax.tree.leaves(one), strict=True)
            return sum(jnp.tensordot(s, o, o.ndim) if o.ndim else s * o for s, o in pairs)

        return jnp.concatenate([with_all(steps), with_all(changes), _dot(one, after)[None]])

    return steps, changes, jnp.stack([products(step), products(change), products(after)])
