"""q(X) of a new series with holes, given a fitted model. q(U) is improved by what the new series shows.

Kernel, noise, inducing inputs and the q(X) of the training series stay as they are. So the training rows enter the
bound through their statistics alone, and these are added to the statistics of the new rows:

    ⟨F̂⟩(training + new rows) - KL(q(X*) ‖ p(X*)).

All steps of the series are searched for together, because they depend on each other.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..inputs.beliefs import InputBelief
from ..numerics.compiler import QUICK_TO_COMPILE
from ..numerics.padding import nearly
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..search.lbfgs import maximise
from ..search.stages import Stage
from ..sparse.bound import Likelihood, bound_from_statistics
from ..sparse.posterior import posterior_from_statistics, resolved_posterior
from ..sparse.statistics import Statistics
from ..sparse.targets import Targets
from .fit import from_free_precision, smooth, to_free_precision
from .model import Marginals, Paths, SequenceData, SequenceModel, make_data, marginals, noise_for, statistics_of

# Iterations from each start, and from the best of them.
_TRIAL, _ITERATIONS, _TOLERANCE = 30, 300, 1e-8
# Values of a start count as seen with this precision when they are smoothed over time.
_START_PRECISION = 20.0

Moments = tuple[Float[np.ndarray, "T p"], Float[np.ndarray, "T p"]]


@pytree
class Known:
    """What is given while q(X) of a new series is searched for."""

    model: SequenceModel  # its paths are not used
    statistics: Statistics  # of the training rows
    data: SequenceData  # the new series
    before: Float[Array, ""]  # bound of the training rows alone: the search counts what is gained, not what was there


def complete_series(
    model: SequenceModel,
    statistics: Statistics,
    series: Float[np.ndarray, "T p"],
    starts: Sequence[tuple[Float[np.ndarray, "T q"], Float[np.ndarray, " T"]]],
    precision: Float[np.ndarray, " q"],
    jitter: float,
) -> Moments:
    """Mean and variance of all functions along a series with holes, without noise.

    Every start gives the latent paths, and whether each of their steps is known. The search goes on from the start that
    reaches the highest bound in a few iterations. `precision` is the λ at the start.
    """
    data = make_data([series], jitter=jitter, length=nearly(len(series), share=8))
    known = _joined(model, statistics, data)
    with jax.enable_x64(True):
        known = jax.tree.map(jnp.asarray, known)
        loss = functools.partial(_loss_and_gradient, known=known)
        trials = [
            maximise(loss, _start(model, *start, precision, len(data.is_real)), [Stage("trial", _TRIAL)], _TOLERANCE)
            for start in starts
        ]
        best = max(trials, key=lambda trial: trial[1].bound)[0]
        best, _ = maximise(loss, best, [Stage("new series", _ITERATIONS)], _TOLERANCE)
    belief, q_u = _solve(best, known)
    rows = InputBelief(*(np.asarray(each)[: len(series), 0] for each in (belief.mean, belief.variance)))
    mean, variance = resolved_posterior(*q_u).predict(rows)
    return np.asarray(mean), np.asarray(variance)


def _start(model: SequenceModel, mean, is_known, precision, length: int) -> Paths:
    """A start: the given path, smoothed over time."""
    shape = (length, 1, mean.shape[1])
    observed, weight = np.zeros(shape), np.zeros(shape)
    observed[: len(mean), 0] = mean
    weight[: len(mean), 0] = _START_PRECISION * is_known[:, None]
    smoothed, *_ = smooth(observed, weight, model.time_lengthscale)
    noise = in_float64(noise_for)(smoothed, model.time_lengthscale)
    return Paths(noise, to_free_precision(np.broadcast_to(precision, shape)))


def _joined(model: SequenceModel, statistics: Statistics, data: SequenceData) -> Known:
    """The training statistics and the new rows, with outputs in groups that are observed in the same rows of both."""
    both = np.stack([np.asarray(statistics.group), np.asarray(data.targets.group)])
    pairs, group = np.unique(both, axis=1, return_inverse=True)
    group = group.reshape(-1).astype(np.int32)
    old, new = pairs
    trained = replace(statistics, psi0=statistics.psi0[old], psi2=statistics.psi2[old], group=group)
    targets = Targets(data.targets.values, data.targets.weights[:, new], group)
    before = in_float64(jax.jit(_bound))(model, trained, data.jitter)
    return Known(model, trained, replace(data, targets=targets), before)


def _bound(model: SequenceModel, statistics: Statistics, jitter: Float[Array, ""]) -> Float[Array, ""]:
    likelihood = Likelihood(model.noise_variance, model.output_scale)
    return bound_from_statistics(model.kernel, model.inducing_inputs, statistics, likelihood, jitter)


def _belief(free: Paths, known: Known) -> tuple[Marginals, Statistics]:
    paths = Paths(free.noise, from_free_precision(free.precision))
    belief = marginals(known.model.time_lengthscale, paths, known.data)
    return belief, known.statistics + statistics_of(known.model, belief, known.data)


@jax.jit
def _loss_and_gradient(free: Paths, known: Known):
    def loss(free):
        belief, statistics = _belief(free, known)
        return jnp.sum(belief.divergence) + known.before - _bound(known.model, statistics, known.data.jitter)

    return jax.value_and_grad(loss)(free)


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def _solve(free: Paths, known: Known):
    belief, statistics = _belief(free, known)
    model = known.model
    return belief, posterior_from_statistics(
        model.kernel, statistics, model.inducing_inputs, model.noise_variance, model.output_scale, known.data.jitter
    )
