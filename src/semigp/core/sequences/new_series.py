"""q(X) of a new series with holes, given a fitted model. q(U) is improved by what the new series shows.

Kernel, noise, inducing inputs and the q(X) of the training series stay as they are. So the training rows enter the
bound through their statistics alone, and these are added to the statistics of the new rows:

    ⟨F̂⟩(training + new rows) - KL(q(X*) ‖ p(X*)) + log p(κ).

A new series may be noisier than the training series, or follow their functions less closely. So its noise variances are
κ = 1 + exp(a) times those of the model, where a ~ N(-2, 1) is searched for too. Rows with such noise are rows of weight
1/κ.

All steps of the series are searched for together, because they depend on each other.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from .fit import from_free_precision, smooth, start_paths, to_free_precision
from .model import Marginals, Paths, SequenceData, SequenceModel, make_data, marginals, statistics_of

# Iterations from each start, and from the best of them.
_TRIAL, _ITERATIONS, _TOLERANCE = 30, 300, 1e-8
# Values of a start count as seen with this precision when they are smoothed over time.
_START_PRECISION = 20.0
_MORE_NOISE = -2.0  # the mean of a
# Where nothing is known, λ starts here: q(x) is what the prior says, given the steps around. From a larger λ the search
# would hardly get there, and q(x) would stay too narrow.
NOTHING = 1e-6


@dataclass(frozen=True)
class Completed:
    """All outputs of a series with holes."""

    mean: Float[np.ndarray, "T p"]
    variance: Float[np.ndarray, "T p"]  # noise included
    inflation: float  # κ


@pytree
class Free:
    """What is searched for. `paths` has the numbers that the search moves in place of λ."""

    paths: Paths
    more_noise: Float[Array, ""]  # a, with κ = 1 + exp(a)

    @property
    def inflation(self) -> Float[Array, ""]:
        """κ, the noise variances of the new series relative to those of the training series."""
        return 1.0 + jnp.exp(self.more_noise)


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
) -> Completed:
    """All outputs of a series with holes.

    Every start gives the latent paths, and whether each of their steps is known. The search goes on from the start that
    reaches the highest bound in a few iterations. `precision` is the λ at the start.
    """
    data = make_data([series], jitter=jitter, length=nearly(len(series), share=8))
    known = _joined(model, statistics, data)
    precision = np.where(np.isnan(series).all(axis=1)[:, None], NOTHING, precision)
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
    inflation = float(best.inflation)
    return Completed(np.asarray(mean), np.asarray(variance) + inflation * np.asarray(model.noise_variance), inflation)


def _start(model: SequenceModel, mean, is_known, precision, length: int) -> Free:
    """A start: the given path, smoothed over time."""
    shape = (length, 1, mean.shape[1])
    observed, weight, filled = np.zeros(shape), np.zeros(shape), np.ones(shape)
    observed[: len(mean), 0], filled[: len(mean), 0] = mean, precision
    weight[: len(mean), 0] = _START_PRECISION * is_known[:, None]
    smoothed, *_ = smooth(observed, weight, model.time_lengthscale)
    paths = start_paths(smoothed, filled, model.time_lengthscale)
    return Free(replace(paths, precision=to_free_precision(paths.precision)), np.asarray(_MORE_NOISE))


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


def _belief(free: Free, known: Known) -> tuple[Marginals, Statistics]:
    """q(X) of the new series, and the statistics of all rows, where those of the new rows have weight 1/κ."""
    paths = Paths(free.paths.noise, from_free_precision(free.paths.precision))
    belief = marginals(known.model.time_lengthscale, paths, known.data)
    new, weight = statistics_of(known.model, belief, known.data), 1.0 / free.inflation
    weighted = replace(jax.tree.map(lambda sums: weight * sums, new), counts=new.counts, group=new.group)
    return belief, known.statistics + weighted


@jax.jit
def _loss_and_gradient(free: Free, known: Known):
    n_values = jnp.sum(known.data.targets.counts)

    def loss(free):
        belief, statistics = _belief(free, known)
        value = _bound(known.model, statistics, known.data.jitter) - 0.5 * n_values * jnp.log(free.inflation)
        return jnp.sum(belief.divergence) + known.before - value + 0.5 * (free.more_noise - _MORE_NOISE) ** 2

    return jax.value_and_grad(loss)(free)


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def _solve(free: Free, known: Known):
    belief, statistics = _belief(free, known)
    model = known.model
    return belief, posterior_from_statistics(
        model.kernel, statistics, model.inducing_inputs, model.noise_variance, model.output_scale, known.data.jitter
    )
