"""A fit in batches: steps of Adam and of the natural gradient, then passes over all rows."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from ..numerics.paths import is_held
from ..numerics.precision import as_float64, as_numpy, in_float64
from ..search.report import MESSAGES, Callback, FitReport, Progress, Status, with_signal_to_noise
from ..search.stages import Stage
from ..sparse.posterior import Posterior
from .adam import State, adam_step
from .all_rows import AllRows, ascend
from .objective import Batch, Parameters, Setting, Whitened, infer, natural_units

# ρ = (t + t₀)^-κ, the step lengths of Robbins and Monro. t₀ is the number of batches that the first q(U) is worth. To
# remember more than one pass gains nothing, and a q(U) from old parameters slows the new ones down. So ρ has a floor:
# a batch's share of all rows, but no more than a tenth.
_FORGETTING, _LARGEST_FLOOR = 0.6, 0.1
# Adam's rate rises during the first twentieth of the steps: early on, Adam does not know the scale of the gradient, and
# large steps would spoil the start.
_LEARNING_RATE, _WARM_UP = 0.03, 0.05
# The trace of the bound has this many entries, each the mean of the estimates in one part of the fit.
_TRACE_LENGTH = 100
# Passes over all rows come in rounds; each round holds q(x) fixed. They end after this many rounds, or when a round
# gains less than this share of the bound.
_MOST_ROUNDS, _LITTLE = 4, 1e-3


@dataclass(frozen=True)
class Schedule:
    """How many steps a fit takes, and how long they are."""

    n_steps: int  # steps of Adam, one batch each
    n_ascents: int  # iterations of L-BFGS in each round after the steps
    seen_before: float  # number of batches that the first q(U) is worth
    share: float  # a batch's share of all rows

    def rate(self, step: int) -> float:
        """Adam's learning rate: it rises linearly, then falls to 0 along half a cosine."""
        done = step / self.n_steps
        return 0.5 * _LEARNING_RATE * (1.0 + math.cos(math.pi * done)) * min(1.0, done / _WARM_UP)

    def natural_step(self, step: int) -> float:
        """ρ, the length of the natural-gradient step."""
        return max((1.0 + self.seen_before + step) ** -_FORGETTING, min(self.share, _LARGEST_FLOOR))


def fit_in_batches(
    parameters: Parameters,
    q: Whitened,
    setting: Setting,
    batches: Iterable[Batch],
    everything: Callable[[], Iterable[Batch]],
    schedule: Schedule,
    hold: Sequence[str] = (),
    callback: Callback | None = None,
) -> tuple[Posterior, FitReport]:
    """Take one step per batch, as many as the schedule says, then pass over all rows for the exact q(U) and bound.

    Parameters
    ----------
    parameters, q
        The start, in natural units; `q` is in the coordinates of `parameters`.
    batches
        The batches for the steps.
    everything
        Returns batches that hold every row once. All batches must have the same shapes, because they share a compiled
        program.
    hold
        Paths of parameters that are held fixed, such as "kernel.variance".
    """
    with jax.enable_x64(True):
        parameters, q, setting = jax.tree.map(as_float64, (parameters, q, setting))
        fit = _Fit(parameters, q, setting, schedule, callback)
        fit.take_steps(batches, hold)
        fit.ascend(everything, hold)
        found = natural_units(fit.state.free)
        with AllRows(found, fit.state.q, setting, everything) as rows:
            posterior, bound = rows.posterior(found)
        posterior = jax.tree.map(as_numpy, posterior)
    status = fit.stages[-1][1]
    ratio = posterior.likelihood.output_scale**2 * np.mean(_diagonal(posterior)) / posterior.likelihood.noise_variance
    report = FitReport(
        status, MESSAGES[status], bound, np.array(fit.trace), fit.evaluations, time.perf_counter() - fit.started,
        tuple(fit.stages), ratio, method="Adam and natural gradients in batches, then L-BFGS-B",
    )  # fmt: skip
    return posterior, with_signal_to_noise(report, ratio)


@in_float64
def _diagonal(posterior: Posterior):
    return posterior.kernel.diag(posterior.inducing_inputs)


class _Fit:
    """The state of one fit, and its trace and stages for the report."""

    def __init__(self, parameters, q, setting, schedule: Schedule, callback: Callback | None) -> None:
        free = parameters.map_positive(jnp.log)
        nothing = jax.tree.map(jnp.zeros_like, free)
        self.state = State(free, q, nothing, nothing, jnp.zeros((), jnp.int32))
        self.setting, self.schedule, self.callback = setting, schedule, callback
        self.trace: list[float] = []
        self.stages: list[tuple[str, Status, int]] = []
        self.evaluations, self.started = 0, time.perf_counter()

    def take_steps(self, batches: Iterable[Batch], hold: Sequence[str]) -> None:
        """Take all steps, or stop early if a callback or the user asks for it."""
        try:
            status = self._take_steps(batches, self._moves(hold))
        except KeyboardInterrupt:
            status = "interrupted"
        self.stages.append(("stream", status, self.evaluations))

    def _take_steps(self, batches: Iterable[Batch], moves: Parameters) -> Status:
        every, estimates = max(1, self.schedule.n_steps // _TRACE_LENGTH), []
        for batch in itertools.islice(batches, self.schedule.n_steps):
            done = self.evaluations
            inferred = infer(natural_units(self.state.free), self.state.q, batch.incomplete, self.setting)
            rate, step = self.schedule.rate(done), self.schedule.natural_step(done)
            self.state, estimate = adam_step(self.state, batch, inferred, self.setting, moves, rate, step)
            self.evaluations += 1
            estimates.append(estimate)  # not read yet: the next batch is loaded while this one is computed
            if len(estimates) == every:
                self.trace.append(float(np.mean(estimates)))
                estimates = []
                if self._is_stopped():
                    return "interrupted"
        return _status(self.trace)

    def ascend(self, everything: Callable[[], Iterable[Batch]], hold: Sequence[str]) -> None:
        """Pass over all rows in rounds, until a round gains little, or a callback or the user asks to stop."""
        stage, bound = Stage("whole passes", self.schedule.n_ascents, tuple(hold)), -np.inf
        for _ in range(_MOST_ROUNDS if stage.max_iterations else 0):
            if self.stages[-1][1] == "interrupted":
                return
            try:
                free, q, report = ascend(self.state.free, self.state.q, self.setting, everything, stage, self.callback)
            except KeyboardInterrupt:
                self.stages.append((stage.name, "interrupted", 0))
                return
            is_flat = report.bound - bound < _LITTLE * abs(bound)
            status = "converged" if is_flat and report.status != "interrupted" else report.status
            self.state, bound = replace(self.state, free=free, q=q), report.bound
            self.stages.append((stage.name, status, report.stages[0][2]))
            self.trace.extend(report.trace)
            self.evaluations += report.evaluations
            if is_flat:
                return

    def _is_stopped(self) -> bool:
        elapsed = time.perf_counter() - self.started
        done, steps = self.evaluations, self.schedule.n_steps
        progress = Progress("stream", done, steps, self.trace[-1], elapsed, has_fixed_length=True)
        return self.callback is not None and bool(self.callback(progress))

    def _moves(self, hold: Sequence[str]) -> Parameters:
        leaves, structure = jax.tree.flatten(self.state.free)
        pairs = zip(leaves, is_held(self.state.free, hold), strict=True)
        return jax.tree.unflatten(structure, [jnp.full(leaf.shape, float(not held)) for leaf, held in pairs])


def _status(trace: Sequence[float]) -> Status:
    """Converged, if the last tenth of the estimates is not higher than the tenth before by more than their spread."""
    if not trace:
        return "interrupted"
    tenth = len(trace) // 10
    if tenth < 2:
        return "iteration limit"
    before, last = np.array(trace[-2 * tenth : -tenth]), np.array(trace[-tenth:])
    spread = np.sqrt((before.var(ddof=1) + last.var(ddof=1)) / tenth)
    is_flat = last.mean() - before.mean() < 2.0 * spread + _LITTLE * abs(last.mean())
    return "converged" if is_flat else "iteration limit"
