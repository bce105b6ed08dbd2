"""L-BFGS for parameters that are spread over devices: no process ever holds all of them.

Steps and changes of the gradient stay where the parameters are. What comes to the host are their inner products, three
rows of a small matrix per iteration, from which the two loops of L-BFGS find the coefficients of the next direction
(vector-free L-BFGS, Chen, Wang and Zhou 2014); and the loss and its slope along that direction. These numbers are the
same in every process, and so all of them decide alike. The line search is SciPy's, for strong Wolfe conditions.
"""

from __future__ import annotations

import fnmatch
import functools
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jax.sharding import Mesh, NamedSharding, PartitionSpec

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
from .processes import Processes, on_devices, own_part
from .sharding import model_layout, spread, spread_objective

# Pairs of steps and changes of the gradient that are kept; trials along a direction.
_PAIRS, _TRIALS = 20, 20


class Keeper(Protocol):
    """Where the state of a search is kept, so that it can be taken up again: plain values, and arrays of own rows."""

    def load(self) -> dict[str, Any] | None:
        """The state to go on from, if there is one."""

    def is_due(self) -> bool:
        """Whether it is time to keep the state."""

    def store(self, state: dict[str, Any], is_finished: bool) -> None:
        """Keep a state; the last one of a search is its result."""


def fit_spread(
    model: Model,
    data: Data,
    mesh: Mesh,
    stages: Sequence[Stage] = DEFAULT_STAGES,
    tolerance: float = 1e-8,
    callback: Callback | None = None,
    keeper: Keeper | None = None,
) -> tuple[Model, Data, FitReport]:
    """What `optimise.fit` does, over the devices of a mesh. The fitted model and the data stay there.

    In a run of several processes all call this, each with its own rows. A search whose keeper has a state goes on from
    there, digit for digit as if it had never ended. The callback of any process ends the fit in all.
    """
    check_stages(model, stages)
    with jax.enable_x64(True):
        free, known = spread(unconstrain(model), data, mesh)
        search = _Search(mesh, free, known, callback, keeper)
        if not search.is_finished:
            run_stages(search, stages, tolerance)
            search.finish()
        fitted = search.programs.constrain(search.free)
    status = search.results[-1][1]
    report = FitReport(
        status, MESSAGES[status], search.bound, np.array(search.trace), search.evaluations,
        search.seconds, tuple(search.results), np.array([np.inf]),
    )  # fmt: skip
    return fitted, known, with_ratio(report, signal_to_noise(fitted))


class _Search:
    """The state of one fit: parameters on their devices, the bound, and what has been done."""

    def __init__(self, mesh: Mesh, free: Model, known: Data, callback: Callback | None, keeper: Keeper | None) -> None:
        self.free, self.known, self.callback, self.keeper = free, known, callback, keeper
        self.programs = _programs(mesh, jax.tree.structure(free), jax.tree.structure(known))
        self._processes = Processes(mesh)
        self.started, self.evaluations, self.bound = time.perf_counter(), 0, -np.inf
        self.trace: list[float] = []
        self.results: list[tuple[str, Status, int]] = []
        self.iteration = 0  # of the current stage
        self.is_finished = False
        state = None if keeper is None else keeper.load()
        if state is not None:
            self._restore(state)

    @property
    def seconds(self) -> float:
        """That the fit has taken, those before it was taken up again included."""
        return time.perf_counter() - self.started

    def run(self, stage: Stage, tolerance: float) -> Status:
        """Move the parameters that the stage does not hold, until it ends."""
        moves = _moved(self.free, stage)
        if not self.iteration:
            loss, _, self.gradient = self.evaluate(self.free, self.free, moves)
            self.bound = -loss
            if not np.isfinite(loss):
                return "failed"
            self.memory = _Memory(self.programs, self.gradient)
        status: Status | None = None
        while status is None and self.iteration < stage.max_iterations:
            status = self._step(stage, moves, tolerance)
        self.iteration = 0
        return status or "iteration limit"

    def _step(self, stage: Stage, moves: Model, tolerance: float) -> Status | None:
        """One iteration; why it was the last one, if it was."""
        loss = -self.bound
        direction, slope = self.memory.direction(self.gradient)
        if slope >= 0:  # the gradient is zero
            return "converged"
        line = _Line(self, direction, moves, (self.free, loss, slope, self.gradient))
        length = line.search(1.0 if self.memory.pairs else min(1.0, 1.0 / np.sqrt(-slope)))
        if length is None:
            return "stalled"
        self.free, after, _, gradient = line.at(length)
        self.memory.add(length, direction, self.gradient, gradient)
        self.gradient, self.bound = gradient, -after
        self.trace.append(self.bound)
        self.iteration += 1
        is_converged = loss - after <= tolerance * max(abs(loss), abs(after), 1.0)
        is_stopped, is_due = self._requests(stage)
        if self.keeper is not None and (is_due or is_stopped) and not is_converged:
            self.keeper.store(self._state(), is_finished=False)
        return "interrupted" if is_stopped else "converged" if is_converged else None

    def _requests(self, stage: Stage) -> list[bool]:
        """Whether any process wants to stop, or to keep the state."""
        progress = Progress(stage.name, self.iteration, stage.max_iterations, self.bound, self.seconds)
        is_stopped = self.callback is not None and bool(self.callback(progress))
        return self._processes.any(is_stopped, self.keeper is not None and self.keeper.is_due())

    def evaluate(self, free: Model, direction: Model, moves: Model) -> tuple[float, float, Model]:
        """Loss, slope along a direction, and gradient in what is moved."""
        loss, slope, gradient = self.programs.evaluate(free, direction, moves, self.known)
        self.evaluations += 1
        return float(loss), float(slope), gradient

    def finish(self) -> None:
        """Keep the result, unless someone has ended the fit early: then it can be taken up where it was."""
        if self.keeper is not None and self.results[-1][1] != "interrupted":
            self.keeper.store(self._state(with_memory=False), is_finished=True)

    def _state(self, with_memory: bool = True) -> dict[str, Any]:
        """All that decides how the search goes on."""
        state: dict[str, Any] = {
            "free": _own_leaves(self.free), "bound": self.bound, "trace": np.array(self.trace),
            "results": list(self.results), "iteration": self.iteration, "evaluations": self.evaluations,
            "seconds": self.seconds, "memory": None,
        }  # fmt: skip
        if with_memory:
            state["gradient"], state["memory"] = _own_leaves(self.gradient), self.memory.state()
        return state

    def _restore(self, state: dict[str, Any]) -> None:
        self.free, self.bound, self.trace = self.programs.place(state["free"]), state["bound"], list(state["trace"])
        self.results, self.iteration, self.evaluations = state["results"], state["iteration"], state["evaluations"]
        self.started = time.perf_counter() - state["seconds"]
        self.is_finished = state["memory"] is None
        if not self.is_finished:
            self.gradient = self.programs.place(state["gradient"])
            self.memory = _Memory(self.programs, self.gradient, state["memory"])


_Place = tuple[Model, float, float, Model]


class _Line:
    """The loss along a direction, every place evaluated once: parameters, loss, slope, gradient."""

    def __init__(self, search: _Search, direction: Model, moves: Model, start: _Place) -> None:
        self._search, self._direction, self._moves = search, direction, moves
        self._places = {0.0: start}

    def at(self, length: float) -> _Place:
        """What is there."""
        if length not in self._places:
            free = self._search.programs.go(self._search.free, length, self._direction)
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

    def __init__(self, programs: _Programs, gradient: Model, state: dict[str, Any] | None = None) -> None:
        self._programs = programs
        self.pairs: list[int] = []  # where they are, the oldest first
        if state is not None:
            self._steps, self._changes = (programs.place(state[name], stacked=True) for name in ("steps", "changes"))
            self._products, self.pairs = state["products"], state["pairs"]
            return
        self._steps, self._changes = programs.empty(gradient), programs.empty(gradient)
        self._products = np.zeros((2 * _PAIRS + 1, 2 * _PAIRS + 1))  # of steps, changes and the gradient
        self._products[-1, -1] = float(programs.norm(gradient))

    def state(self) -> dict[str, Any]:
        """For another memory to go on from."""
        stacks = {"steps": _own_leaves(self._steps), "changes": _own_leaves(self._changes)}
        return stacks | {"products": self._products, "pairs": self.pairs}

    def direction(self, gradient: Model) -> tuple[Model, float]:
        """-H g, and the slope along it."""
        weights = self._coefficients()
        slope = float(self._products[-1] @ weights)
        if slope >= 0:  # rounding: begin anew
            self.pairs = []
            weights = self._coefficients()
            slope = float(self._products[-1] @ weights)
        parts = np.split(weights, [_PAIRS, 2 * _PAIRS])
        return self._programs.combine(self._steps, self._changes, gradient, *parts), slope

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
        self._steps, self._changes, rows = self._programs.remember(
            self._steps, self._changes, slot, length, direction, before, after
        )
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


def _own_leaves(tree: Model) -> list[np.ndarray]:
    return [own_part(leaf) for leaf in jax.tree.leaves(tree)]


@dataclass(frozen=True)
class _Programs:
    """What is computed on the devices, with results laid out there as the parameters are.

    Left to itself the compiler might put them elsewhere, and a search that is taken up again would round differently.
    """

    mesh: Mesh
    layout: Model
    evaluate: Callable
    constrain: Callable
    norm: Callable
    empty: Callable
    go: Callable
    combine: Callable
    remember: Callable

    def place(self, leaves: list[np.ndarray], stacked: bool = False) -> Model:
        """Parameters, or stacks of them, of which this process has `leaves`, on the devices."""
        layout = _stacked(self.layout) if stacked else self.layout
        tree = jax.tree.unflatten(jax.tree.structure(layout), leaves)
        return jax.tree.map(functools.partial(on_devices, self.mesh), tree, layout)


@functools.lru_cache(maxsize=16)
def _programs(mesh: Mesh, model: Any, data: Any) -> _Programs:
    """For models and data of these structures: they are compiled once for all fits of one shape."""
    some_model, some_data = (jax.tree.unflatten(tree, range(tree.num_leaves)) for tree in (model, data))
    layout = model_layout(some_model)
    bound = spread_objective(mesh, some_model, some_data)

    def evaluate(free, direction, moves, known):
        value, gradient = jax.value_and_grad(lambda f: -bound(constrain(f), known))(free)
        gradient = jax.tree.map(jnp.multiply, gradient, moves)
        return value, _dot(gradient, direction), gradient

    alike, stacks = (jax.tree.map(functools.partial(NamedSharding, mesh), tree) for tree in (layout, _stacked(layout)))
    everywhere = NamedSharding(mesh, PartitionSpec())
    return _Programs(
        mesh, layout,
        evaluate=jax.jit(evaluate, out_shardings=(everywhere, everywhere, alike)),
        constrain=jax.jit(constrain, out_shardings=alike),
        norm=jax.jit(lambda tree: _dot(tree, tree), out_shardings=everywhere),
        empty=jax.jit(_empty, out_shardings=stacks),
        go=jax.jit(_go, out_shardings=alike),
        combine=jax.jit(_combine, out_shardings=alike),
        remember=jax.jit(_remember, out_shardings=(stacks, stacks, everywhere)),
    )  # fmt: skip


def _stacked(layout: Model) -> Model:
    return jax.tree.map(lambda cut: PartitionSpec(None, *cut), layout)


def _empty(tree):
    return jax.tree.map(lambda leaf: jnp.zeros((_PAIRS, *leaf.shape), leaf.dtype), tree)


def _go(start, length, direction):
    return jax.tree.map(lambda a, b: a + length * b, start, direction)


def _combine(steps, changes, gradient, of_steps, of_changes, of_gradient):
    def leaf(s, y, g):
        return jnp.tensordot(of_steps, s, 1) + jnp.tensordot(of_changes, y, 1) + of_gradient[0] * g

    return jax.tree.map(leaf, steps, changes, gradient)


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
