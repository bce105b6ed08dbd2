"""The fit of a state-space model: L-BFGS raises the bound over the chain and all parameters at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.compiler import QUICK_TO_COMPILE, WIDE_VECTORS
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport, with_signal_to_noise
from ..search.stages import Stage
from ..sparse.posterior import Posterior
from ..sparse.statistics import Statistics
from ..sparse.targets import Targets
from .chain import Chain, ChainMoves, reference_of
from .model import StateData, StateFunction, StateModel, objective, statistics_of

# The RBF parts of f and g have variance 1: the output scales are their units.
_IDLE = ("*.kernel.kernels.0.variance",)
_SIGNAL_AND_NOISE = ("*noise_variance", "*output_scale", "*variances")
_PROCESS_NOISE = ("transition.noise_variance",)
_FUNCTIONS = ("transition*", "observation*")
_HELD_ITERATIONS, _STATE_ITERATIONS = 50, 100
_TOLERANCE = 1e-7


def fit(
    model: StateModel, data: StateData, max_iter: int, callback: Callback | None = None
) -> tuple[list[tuple[StateModel, StateData]], FitReport]:
    """Raise the bound in four rounds. Returns what was found by the end of the third and of the fourth.

    Signal and noise are held in the first round, and the process noise in the first three, at the small value at which
    it starts. The functions must then carry states over long stretches. Released at once, the process noise would
    explain what they cannot explain yet, and they would learn to predict one step only. After each round, the chain
    becomes its own reference (see `ChainMoves`).
    """
    each = -(-max_iter // 4)
    rounds = (
        Stage("held signal-to-noise", min(_HELD_ITERATIONS, max_iter), (*_IDLE, *_SIGNAL_AND_NOISE)),
        Stage("held process noise", each, (*_IDLE, *_PROCESS_NOISE)),
        Stage("held process noise, again", each, (*_IDLE, *_PROCESS_NOISE)),
        Stage("all", each, _IDLE),
    )
    reports: list[FitReport] = []
    found: list[tuple[StateModel, StateData]] = []
    for stage in rounds:
        model, report = raise_bound(model, data, stage, callback)
        model, data = rebased(model, data)
        reports.append(report)
        found.append((model, data))
        if report.status in ("interrupted", "failed"):
            break
    return found[-2:], _joined(reports, model)


def _joined(reports: Sequence[FitReport], model: StateModel) -> FitReport:
    """One report of several rounds."""
    whole = replace(
        reports[-1],
        trace=np.concatenate([report.trace for report in reports]),
        evaluations=sum(report.evaluations for report in reports),
        seconds=sum(report.seconds for report in reports),
        stages=tuple(stage for report in reports for stage in report.stages),
    )
    function = model.observation
    return with_signal_to_noise(whole, np.asarray(function.output_scale**2 / function.noise_variance))


def raise_bound(
    model: StateModel,
    data: StateData,
    stage: Stage,
    callback: Callback | None = None,
    extra: tuple[Statistics, Statistics] | None = None,
) -> tuple[StateModel, FitReport]:
    """Raise the bound by L-BFGS in one stage. `extra` are statistics of other series (see `objective`)."""
    with jax.enable_x64(True):
        free, *known = jax.tree.map(jnp.asarray, (_map_positive(jnp.log, model), data, extra))
        best, report = maximise(lambda f: _loss_and_gradient(f, *known), free, [stage], _TOLERANCE, callback)
        return in_float64(functools.partial(_map_positive, jnp.exp))(best), report


@functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
def _loss_and_gradient(free: StateModel, data: StateData, extra: Any):
    return jax.value_and_grad(lambda f: -objective(_map_positive(jnp.exp, f), data, extra))(free)


def _map_positive(function: Callable, model: StateModel) -> StateModel:
    """The model with a function applied to its positive parameters."""

    def mapped(part: StateFunction) -> StateFunction:
        names = ("kernel", "noise_variance", "output_scale")
        return replace(part, **{name: jax.tree.map(function, getattr(part, name)) for name in names})

    return replace(model, transition=mapped(model.transition), observation=mapped(model.observation))


def rebased(model: StateModel, data: StateData) -> tuple[StateModel, StateData]:
    """The same chain as its own reference, with all coordinates 0."""
    chain, covariances = _chain(model.states, data)
    reference = reference_of(chain, covariances, np.asarray(data.is_first))
    return replace(model, states=ChainMoves.none(*np.shape(model.states.mean))), replace(data, reference=reference)


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def _chain(moves, data):
    chain = data.reference.moved(moves)
    return chain, chain.covariances()


@pytree
class StateAnswer:
    """What was learned: q(U) of f and of g, and q(X)."""

    transition: Posterior
    observation: Posterior
    chain: Chain
    covariances: Float[Array, "n q q"]


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def answer(model: StateModel, data: StateData, extra: tuple[Statistics, Statistics] | None = None) -> StateAnswer:
    """q(X), and q(U) at its best given the series and `extra` statistics."""
    chain = data.reference.moved(model.states)
    covariances = chain.covariances()
    found = statistics_of(model, chain, covariances, data, extra)
    functions = model.transition, model.observation
    one, other = (part.posterior(own, data.jitter) for part, own in zip(functions, found, strict=True))
    return StateAnswer(one, other, chain, covariances)


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def statistics(model: StateModel, data: StateData) -> tuple[Statistics, Statistics]:
    """The statistics of f and of g, with a group for every output."""
    chain = data.reference.moved(model.states)
    data = replace(data, targets=in_own_groups(data.targets))
    return statistics_of(model, chain, chain.covariances(), data)


def infer(model: StateModel, data: StateData, extra: tuple[Statistics, Statistics] | None = None) -> StateAnswer:
    """The answer for new series, given the statistics of the series that a model was fitted to, if these still count.

    The parameters are held. q(U) rests on all series, and the q(X) of the old ones does not change.
    """
    if extra is not None:
        data = replace(data, targets=in_own_groups(data.targets))
    model, _ = raise_bound(model, data, Stage("states", _STATE_ITERATIONS, _FUNCTIONS), extra=extra)
    return answer(model, data, extra)


def in_own_groups(targets: Targets) -> Targets:
    """The same targets, with a group for every output."""
    p = targets.values.shape[1]
    return Targets(targets.values, targets.weights[:, targets.group], np.arange(p, dtype=np.int32))
