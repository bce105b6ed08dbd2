"""L-BFGS on unconstrained parameters, in stages, with a report that says why it stopped."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize

from .checks import check_count
from .model import Data, Model, objective
from .parallel import WIDE_VECTORS, ParallelLoss, is_worthwhile
from .precision import in_float64

Status = Literal["converged", "iteration limit", "stalled", "interrupted", "failed"]

MESSAGES: dict[str, str] = {
    "converged": "The bound stopped rising.",
    "iteration limit": "The iteration limit was reached before the bound stopped rising; allow more iterations.",
    "stalled": "The line search found no better point; the bound is flat or rough here. Check the scale of the data.",
    "interrupted": "Stopped on request; the parameters are the best found so far.",
    "failed": "The bound is not a number at the start: jitter or noise variance are too small for float64 (1e-6 suits "
    "most data), or the starting values are not finite.",
}

# Below this ratio of variances, in every output, a fit has found nothing but noise.
_LOW_SIGNAL = 0.1
_ALL_NOISE = " Nearly everything is explained as noise: start with less noise, or hold signal and noise for longer."

# Paths of the parameters that set the signal-to-noise ratio.
SIGNAL_AND_NOISE = ("noise_variance", "output_scale", "kernel*.variance", "kernel*.variances")


@dataclass(frozen=True)
class Stage:
    """A number of iterations with some parameters held, by path (wildcards allowed), such as "kernel.variance"."""

    name: str
    max_iterations: int
    hold: tuple[str, ...] = ()


# Noise and signal variance stay fixed while q(X) and the lengthscales find their place: without that, the first steps
# often explain everything as noise.
DEFAULT_STAGES = (Stage("held signal-to-noise", 50, SIGNAL_AND_NOISE), Stage("all", 2000))


@dataclass(frozen=True)
class Progress:
    """What a progress bar needs to know, after every iteration."""

    stage: str
    iteration: int
    max_iterations: int
    bound: float
    seconds: float
    phase: str = "fit"  # or "trial", where several ways are compared first
    part: int = 1  # of the optimisations of this phase, and how many there are
    parts: int = 1


Callback = Callable[[Progress], bool | None]


def labelled(callback: Callback | None, **labels: Any) -> Callback | None:
    """A callback that is told `phase`, or `part` and `parts`, of an optimisation that does not know them itself."""
    return None if callback is None else lambda progress: callback(replace(progress, **labels))


@dataclass(frozen=True)
class FitReport:
    """How a fit went."""

    status: Status
    message: str
    bound: float
    trace: np.ndarray = field(repr=False)  # the bound after every iteration, all stages
    evaluations: int
    seconds: float
    stages: tuple[tuple[str, Status, int], ...]  # name, status and iterations of each stage
    signal_to_noise: np.ndarray  # signal variance over noise variance, per output
    restart_bounds: tuple[float, ...] = ()  # final bound of every restart, in order


def unconstrain(model: Model) -> Model:
    """Logarithms of the positive parameters."""
    return _map_positive(jnp.log, model)


def constrain(model: Model) -> Model:
    """Back to natural units."""
    return _map_positive(jnp.exp, model)


def _map_positive(function, model: Model) -> Model:
    names = ("kernel", "noise_variance", "output_scale", "variance")
    return replace(model, **{name: jax.tree.map(function, getattr(model, name)) for name in names})


@functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
def _loss_and_gradient(free: Model, data: Data):
    return jax.value_and_grad(lambda f: -objective(constrain(f), data))(free)


def fit(
    model: Model,
    data: Data,
    stages: Sequence[Stage] = DEFAULT_STAGES,
    tolerance: float = 1e-8,
    callback: Callback | None = None,
) -> tuple[Model, FitReport]:
    """Raise the bound by L-BFGS, stage by stage; `tolerance` is the relative gain at which it counts as converged.

    `callback` is called after every iteration; returning True ends the fit with the best parameters so far, and so
    does an interrupt from the keyboard.
    """
    check_stages(model, stages)
    with jax.enable_x64(True):
        free, known = jax.tree.map(jnp.asarray, (unconstrain(model), data))
        with _loss_of(free, known) as loss_and_gradient:
            best, report = maximise(loss_and_gradient, free, stages, tolerance, callback)
        fitted = in_float64(constrain)(best)
    return fitted, with_ratio(report, signal_to_noise(fitted))


@contextlib.contextmanager
def _loss_of(free: Model, data: Data) -> Iterator[Callable[[Model], tuple[Any, Model]]]:
    """What `maximise` asks for: one program for small problems, all cores for large ones."""
    if not is_worthwhile(free, data):
        yield lambda f: _loss_and_gradient(f, data)
        return
    loss = ParallelLoss(free, data, constrain)
    try:
        yield loss
    finally:
        loss.close()


def maximise(
    loss_and_gradient: Callable[[Any], tuple[Any, Any]],
    free: Any,
    stages: Sequence[Stage],
    tolerance: float,
    callback: Callback | None = None,
) -> tuple[Any, FitReport]:
    """The unconstrained parameters, a pytree, of the lowest loss, and how they were found."""
    start = time.perf_counter()
    search = _Search(free, loss_and_gradient, callback, start)
    results = run_stages(search, stages, tolerance)
    status = results[-1][1]
    return search.best(), FitReport(
        status, MESSAGES[status], search.best_bound, np.array(search.trace), search.evaluations,
        time.perf_counter() - start, tuple(results), np.array([np.inf]),
    )  # fmt: skip


def run_stages(search: Any, stages: Sequence[Stage], tolerance: float) -> list[tuple[str, Status, int]]:
    """Name, status and iterations of the stages that a search, by its `run`, has begun."""
    for stage in stages[len(search.results) :]:  # a search that is resumed has some behind it
        before = sum(count for *_, count in search.results)
        status = search.run(stage, tolerance)
        search.results.append((stage.name, status, len(search.trace) - before))
        if status in ("interrupted", "failed"):
            break
    return search.results


def with_ratio(report: FitReport, ratio: np.ndarray) -> FitReport:
    """The report with signal-to-noise ratios, and a word where there is no signal to speak of."""
    message = report.message + (_ALL_NOISE if np.all(ratio < _LOW_SIGNAL) else "")
    return replace(report, signal_to_noise=ratio, message=message)


def signal_to_noise(model: Model) -> np.ndarray:
    """Signal variance over noise variance, per output or shared."""
    return np.atleast_1d(_signal_to_noise(model))


@in_float64
@jax.jit
def _signal_to_noise(model: Model):
    signal = jnp.mean(model.kernel.diag(model.inducing_inputs)) * model.output_scale**2
    return signal / model.noise_variance


def check_stages(model: Model, stages: Sequence[Stage]) -> None:
    """Raise ValueError where there is nothing to do, or a stage holds what is not there."""
    paths = parameter_paths(model)
    if not stages:
        raise ValueError("stages is empty; give at least one Stage.")
    for stage in stages:
        check_count(f"max_iterations of stage {stage.name!r}", stage.max_iterations)
        for pattern in set(stage.hold) - set(SIGNAL_AND_NOISE):  # those are a menu for any kernel
            if not any(fnmatch.fnmatch(path, pattern) for path in paths):
                raise ValueError(f"Stage {stage.name!r} holds {pattern!r}, which is none of {', '.join(paths)}.")
        if all(any(fnmatch.fnmatch(path, pattern) for pattern in stage.hold) for path in paths):
            raise ValueError(f"Stage {stage.name!r} holds everything; nothing is left to fit.")


def parameter_paths(model: Any) -> list[str]:
    """Where each parameter of a model is, such as "kernel.lengthscale"."""
    leaves = jax.tree_util.tree_leaves_with_path(model)
    return [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in leaves]


def fit_restarts(
    models: Sequence[Model],
    data: Data,
    stages: Sequence[Stage] = DEFAULT_STAGES,
    tolerance: float = 1e-8,
    callback: Callback | None = None,
) -> tuple[Model, FitReport]:
    """Fit from several starting models and keep the one with the highest bound."""
    if not models:
        raise ValueError("models is empty; give at least one starting model.")
    fits: list[tuple[Model, FitReport]] = []
    for model in models:
        fits.append(fit(model, data, stages, tolerance, callback))
        if fits[-1][1].status == "interrupted":
            break
    bounds = tuple(report.bound for _, report in fits)
    model, report = fits[int(np.argmax(np.where(np.isfinite(bounds), bounds, -np.inf)))]
    return model, replace(report, restart_bounds=bounds)


class _Interrupt(Exception):
    """Ends SciPy's loop from inside."""


class _Search:
    """The state of one fit: a flat vector of all parameters, of which a stage moves some."""

    def __init__(self, free: Any, loss_and_gradient: Callable, callback, start: float) -> None:
        leaves, self.structure = jax.tree.flatten(free)
        self.paths = parameter_paths(free)
        self.shapes = [np.shape(leaf) for leaf in leaves]
        self.vector = np.concatenate([np.ravel(leaf) for leaf in leaves])
        self.loss_and_gradient, self.callback, self.start = loss_and_gradient, callback, start
        self.best_vector, self.best_bound = self.vector.copy(), -np.inf
        self.trace: list[float] = []
        self.results: list[tuple[str, Status, int]] = []
        self.evaluations = 0

    def run(self, stage: Stage, tolerance: float) -> Status:
        """Move the parameters that the stage does not hold, until it ends."""
        moves = self._is_moved(stage)
        self.vector = self.best_vector.copy()
        bound, _ = self._evaluate(self.vector)
        if not np.isfinite(bound):
            return "failed"
        # What a line search meets outside of the region where the bound is finite: worse than anything so far.
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
        """The best parameters so far, still unconstrained."""
        return self._unflatten(self.best_vector)

    def _is_moved(self, stage: Stage) -> np.ndarray:
        held = [any(fnmatch.fnmatch(path, pattern) for pattern in stage.hold) for path in self.paths]
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        return ~np.repeat(held, sizes)

    def _evaluate(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Bound, and gradient of minus the bound."""
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
