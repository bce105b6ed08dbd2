"""L-BFGS (SciPy's) on a tree of unconstrained parameters, in stages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import scipy.optimize

from ..numerics.paths import is_held
from .report import MESSAGES, Callback, FitReport, Progress, Status
from .stages import Stage, run_stages


def maximise(
    loss_and_gradient: Callable[[Any], tuple[Any, Any]],
    free: Any,
    stages: Sequence[Stage],
    tolerance: float,
    callback: Callback | None = None,
) -> tuple[Any, FitReport]:
    """The unconstrained parameters (a pytree) with the lowest loss that was found, and a report of the search."""
    start = time.perf_counter()
    search = _Search(free, loss_and_gradient, callback, start)
    results = run_stages(search, stages, tolerance)
    status = results[-1][1]
    return search.best(), FitReport(
        status, MESSAGES[status], search.best_bound, np.array(search.trace), search.evaluations,
        time.perf_counter() - start, tuple(results), np.array([np.inf]), method="L-BFGS-B, SciPy's",
    )  # fmt: skip


class _Interrupt(Exception):
    """Raised to end SciPy's loop from inside a callback."""


class _Search:
    """The state of one search: a flat vector of all parameters. Every stage moves some of them."""

    def __init__(self, free: Any, loss_and_gradient: Callable, callback, start: float) -> None:
        leaves, self.structure = jax.tree.flatten(free)
        self.free = free
        self.shapes = [np.shape(leaf) for leaf in leaves]
        self.vector = np.concatenate([np.ravel(leaf) for leaf in leaves])
        self.loss_and_gradient, self.callback, self.start = loss_and_gradient, callback, start
        self.best_vector, self.best_bound = self.vector.copy(), -np.inf
        self.trace: list[float] = []
        self.results: list[tuple[str, Status, int]] = []
        self.evaluations = 0

    def run(self, stage: Stage, tolerance: float) -> Status:
        """Move the parameters that the stage does not hold, until the stage ends, and return how it ended."""
        moves = self._is_moved(stage)
        self.vector = self.best_vector.copy()
        bound, _ = self._evaluate(self.vector)
        if not np.isfinite(bound):
            return "failed"
        # The loss where the bound is not finite. It is worse than anything so far, so that a line search turns back.
        wall = abs(bound) * 1e3 + 1e6
        iterations = 0

        def loss(moved):
            self.vector[moves] = moved
            value, gradient = self._evaluate(self.vector)
            if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
                return wall, np.zeros_like(moved)
            return -value, gradient[moves]

        def after_iteration(_):
            nonlocal iterations
            iterations += 1
            self.trace.append(self.best_bound)
            elapsed = time.perf_counter() - self.start
            progress = Progress(stage.name, iterations, stage.max_iterations, self.best_bound, elapsed)
            if self.callback is not None and self.callback(progress):
                raise _Interrupt

        try:
            result = scipy.optimize.minimize(
                loss, self.vector[moves], jac=True, method="L-BFGS-B", callback=after_iteration,
                options={"maxiter": stage.max_iterations, "maxfun": 10 * stage.max_iterations, "ftol": tolerance,
                         "gtol": 1e-6, "maxcor": 20},
            )  # fmt: skip
        except (_Interrupt, KeyboardInterrupt):
            return "interrupted"
        return {0: "converged", 1: "iteration limit"}.get(result.status, "stalled")  # type: ignore[return-value]

    def best(self) -> Any:
        """The best parameters so far, unconstrained."""
        return self._unflatten(self.best_vector)

    def _is_moved(self, stage: Stage) -> np.ndarray:
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        return ~np.repeat(is_held(self.free, stage.hold), sizes)

    def _evaluate(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """The bound, and the gradient of minus the bound."""
        loss, gradient = self.loss_and_gradient(self._unflatten(vector))
        self.evaluations += 1
        bound = -float(loss)
        if bound > self.best_bound:
            self.best_bound, self.best_vector = bound, vector.copy()
        return bound, np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(gradient)])

    def _unflatten(self, vector: np.ndarray) -> Any:
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        leaves = [part.reshape(shape) for part, shape in zip(np.split(vector, ends[:-1]), self.shapes, strict=True)]
        return jax.tree.unflatten(self.structure, leaves)
