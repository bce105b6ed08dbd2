"""L-BFGS for parameters that are spread over devices: no process ever holds all of them.

Steps and changes of the gradient stay on the devices of the parameters. The host receives the loss, its slope along the
direction, and three rows per iteration of a small matrix of inner products. From these the two loops of L-BFGS find the
coefficients of the next direction (vector-free L-BFGS, Chen, Wang and Zhou 2014). The numbers are the same in every
process, so all processes take the same decisions. The line search is SciPy's, for strong Wolfe conditions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import jax
import numpy as np
import scipy.optimize
from jax.sharding import Mesh

from ..numerics.paths import is_held
from ..search.report import MESSAGES, Callback, FitReport, Progress, Status, with_signal_to_noise
from ..search.stages import Stage, run_stages
from ..sparse.fit import DEFAULT_STAGES, check_stages, signal_to_noise, unconstrain
from ..sparse.model import Data, Model
from .processes import Processes, own_part
from .programs import PAIRS, TRIALS, Programs, programs_for
from .row_mesh import spread


class Keeper(Protocol):
    """Where the state of a search is kept, so that it can be resumed.

    A state consists of plain values and of arrays with the rows of this process.
    """

    def load(self) -> dict[str, Any] | None:
        """The state to resume from, or None if there is none."""

    def is_due(self) -> bool:
        """Whether it is time to store the state."""

    def store(self, state: dict[str, Any], is_finished: bool) -> None:
        """Store a state. The last state of a search is its result."""


def fit_spread(
    model: Model,
    data: Data,
    mesh: Mesh,
    stages: Sequence[Stage] = DEFAULT_STAGES,
    tolerance: float = 1e-8,
    callback: Callback | None = None,
    keeper: Keeper | None = None,
) -> tuple[Model, Data, FitReport]:
    """Fit a model as `sparse.fit` does, over the devices of a mesh. The fitted model and the data stay there.

    In a run of several processes, each process calls this function with its own rows. If the keeper has a state, the
    search resumes from it, and the result is the same to the last digit as without the interruption. The callback of
    any process ends the fit in all processes.
    """
    check_stages(model, stages)
    with jax.enable_x64(True):
        free, known = spread(unconstrain(model), data, mesh)
        search = _SpreadSearch(mesh, free, known, callback, keeper)
        if not search.is_finished:
            run_stages(search, stages, tolerance)
            search.finish()
        fitted = search.programs.constrain(search.free)
    status = search.results[-1][1]
    report = FitReport(
        status, MESSAGES[status], search.bound, np.array(search.trace), search.evaluations,
        search.seconds, tuple(search.results), np.array([np.inf]),
        method="L-BFGS over devices, which can be resumed",
    )  # fmt: skip
    return fitted, known, with_signal_to_noise(report, signal_to_noise(fitted))


class _SpreadSearch:
    """The state of one fit: parameters on their devices, the bound, and the stages done so far."""

    def __init__(self, mesh: Mesh, free: Model, known: Data, callback: Callback | None, keeper: Keeper | None) -> None:
        self.free, self.known, self.callback, self.keeper = free, known, callback, keeper
        self.programs = programs_for(mesh, jax.tree.structure(free), jax.tree.structure(known))
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
        """Seconds that the fit has taken, including those before it was resumed."""
        return time.perf_counter() - self.started

    def run(self, stage: Stage, tolerance: float) -> Status:
        """Optimise the parameters that the stage does not hold fixed, and return why the stage ended."""
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
        """Take one iteration. Return why the stage ends, or None if it goes on."""
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
        """Two facts: whether any process asks to stop, and whether any asks to store the state."""
        progress = Progress(stage.name, self.iteration, stage.max_iterations, self.bound, self.seconds)
        is_stopped = self.callback is not None and bool(self.callback(progress))
        return self._processes.any(is_stopped, self.keeper is not None and self.keeper.is_due())

    def evaluate(self, free: Model, direction: Model, moves: Model) -> tuple[float, float, Model]:
        """Loss, slope along a direction, and gradient, which is 0 for parameters that are held fixed."""
        loss, slope, gradient = self.programs.evaluate(free, direction, moves, self.known)
        self.evaluations += 1
        return float(loss), float(slope), gradient

    def finish(self) -> None:
        """Store the result, unless the fit was ended early: then the stored state can be resumed."""
        if self.keeper is not None and self.results[-1][1] != "interrupted":
            self.keeper.store(self._state(with_memory=False), is_finished=True)

    def _state(self, with_memory: bool = True) -> dict[str, Any]:
        """Everything that is needed to resume the search."""
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
    """The loss along a direction. Every place (parameters, loss, slope, gradient) is evaluated once."""

    def __init__(self, search: _SpreadSearch, direction: Model, moves: Model, start: _Place) -> None:
        self._search, self._direction, self._moves = search, direction, moves
        self._places = {0.0: start}

    def at(self, length: float) -> _Place:
        """Parameters, loss, slope and gradient after a step of this length."""
        if length not in self._places:
            free = self._search.programs.go(self._search.free, length, self._direction)
            self._places[length] = (free, *self._search.evaluate(free, self._direction, self._moves))
        return self._places[length]

    def search(self, first: float) -> float | None:
        """The length of the step, or None if no length improves the loss. `first` is tried first."""
        start = self.at(0.0)[1]
        wall = 1e3 * abs(start) + 1e6  # stands for the loss where it is not finite

        def look(length: np.ndarray) -> tuple[float, float]:
            _, loss, slope, _ = self.at(float(length[0]) * first)
            return (loss, first * slope) if np.isfinite(loss) else (wall, 0.0)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy warns if the conditions were not met
            found = scipy.optimize.line_search(
                lambda x: look(x)[0], lambda x: np.array([look(x)[1]]), np.zeros(1), np.ones(1),
                np.array([look(np.zeros(1))[1]]), start, maxiter=TRIALS,
            )[0]  # fmt: skip
        if found is not None:
            return float(found) * first
        best = min(self._places, key=lambda length: look(np.array([length / first]))[0])
        return best if best > 0 else None


class _Memory:
    """The latest steps and changes of the gradient, stacked, on the devices; their inner products on the host."""

    def __init__(self, programs: Programs, gradient: Model, state: dict[str, Any] | None = None) -> None:
        self._programs = programs
        self.pairs: list[int] = []  # the places in use, the oldest first
        if state is not None:
            self._steps, self._changes = (programs.place(state[name], stacked=True) for name in ("steps", "changes"))
            self._products, self.pairs = state["products"], state["pairs"]
            return
        self._steps, self._changes = programs.empty(gradient), programs.empty(gradient)
        self._products = np.zeros((2 * PAIRS + 1, 2 * PAIRS + 1))  # of steps, changes and the gradient
        self._products[-1, -1] = float(programs.norm(gradient))

    def state(self) -> dict[str, Any]:
        """The state from which another memory can resume."""
        stacks = {"steps": _own_leaves(self._steps), "changes": _own_leaves(self._changes)}
        return stacks | {"products": self._products, "pairs": self.pairs}

    def direction(self, gradient: Model) -> tuple[Model, float]:
        """-H g with the approximate inverse Hessian H, and the slope along this direction."""
        weights = self._coefficients()
        slope = float(self._products[-1] @ weights)
        if slope >= 0:  # because of rounding errors: start again without memory
            self.pairs = []
            weights = self._coefficients()
            slope = float(self._products[-1] @ weights)
        parts = np.split(weights, [PAIRS, 2 * PAIRS])
        return self._programs.combine(self._steps, self._changes, gradient, *parts), slope

    def _coefficients(self) -> np.ndarray:
        """Coefficients of steps, changes and gradient in the next direction: the two loops of L-BFGS."""
        products, weights = self._products, np.zeros(2 * PAIRS + 1)
        weights[-1] = -1.0
        pulls = {}
        for pair in reversed(self.pairs):
            pulls[pair] = products[pair] @ weights / products[pair, PAIRS + pair]
            weights[PAIRS + pair] -= pulls[pair]
        if self.pairs:
            latest = self.pairs[-1]
            weights *= products[latest, PAIRS + latest] / products[PAIRS + latest, PAIRS + latest]
        for pair in self.pairs:
            weights[pair] += pulls[pair] - products[PAIRS + pair] @ weights / products[pair, PAIRS + pair]
        return weights

    def add(self, length: float, direction: Model, before: Model, after: Model) -> None:
        """Keep a step if the slope increased along it, as it does for a convex function."""
        unused = [place for place in range(PAIRS) if place not in self.pairs]
        slot = unused[0] if unused else self.pairs[0]
        self._steps, self._changes, rows = self._programs.remember(
            self._steps, self._changes, slot, length, direction, before, after
        )
        rows = np.asarray(rows)
        for place, row in zip((slot, PAIRS + slot, 2 * PAIRS), rows, strict=True):
            self._products[place], self._products[:, place] = row, row
        self.pairs = [pair for pair in self.pairs if pair != slot]
        if self._products[slot, PAIRS + slot] > 1e-16 * self._products[PAIRS + slot, PAIRS + slot]:
            self.pairs.append(slot)


def _moved(free: Model, stage: Stage) -> Model:
    """1 for parameters that a stage optimises, 0 for parameters that it holds fixed."""
    structure = jax.tree.structure(free)
    return jax.tree.unflatten(structure, [0.0 if held else 1.0 for held in is_held(free, stage.hold)])


def _own_leaves(tree: Model) -> list[np.ndarray]:
    return [own_part(leaf) for leaf in jax.tree.leaves(tree)]
