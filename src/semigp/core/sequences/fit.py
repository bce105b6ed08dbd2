"""The fit of latent paths and of the functions of them: L-BFGS raises the bound over unconstrained parameters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.compiler import QUICK_TO_COMPILE, WIDE_VECTORS
from ..numerics.precision import in_float64
from ..numerics.types import Array
from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport, with_signal_to_noise
from ..search.stages import Stage
from ..sparse.fit import signal_to_noise
from ..sparse.posterior import Posterior, posterior_from_statistics, resolved_posterior
from ..sparse.statistics import Statistics
from .chain import Transition, given_precisions
from .model import Marginals, Paths, SequenceData, SequenceModel, marginals, objective, statistics_of, whitened

_POSITIVE = ("kernel", "noise_variance", "output_scale", "time_lengthscale")
# The search moves (log λ)/_STRETCH. The curvature of the bound in log λ_t is about ½ (λ_t S_tt)², which is small if the
# steps around t say more about x_t than step t itself. Without the factor, the λ hardly move in a hundred iterations.
_STRETCH = 10.0
# Lengthscales over time, in steps, among which the start of a path is chosen.
_LENGTHSCALES = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0])


def _map_positive(function, model: SequenceModel) -> SequenceModel:
    changed = {name: jax.tree.map(function, getattr(model, name)) for name in _POSITIVE}
    return replace(model, **changed)


def constrain(free: SequenceModel) -> SequenceModel:
    """The model with its positive parameters in natural units, from their logarithms."""
    return _with_precision(_map_positive(jnp.exp, free), from_free_precision(free.paths.precision))


def unconstrain(model: SequenceModel) -> SequenceModel:
    """The model with the logarithms of its positive parameters."""
    return _with_precision(_map_positive(jnp.log, model), to_free_precision(model.paths.precision))


def from_free_precision(free: Float[Array, "T s q"]) -> Float[Array, "T s q"]:
    """λ from the number that the search moves."""
    return jnp.exp(_STRETCH * free)


def to_free_precision(precision: Float[Array, "T s q"]) -> Float[Array, "T s q"]:
    """The number that the search moves, from λ."""
    return jnp.log(precision) / _STRETCH


def _with_precision(model: SequenceModel, precision) -> SequenceModel:
    return replace(model, paths=replace(model.paths, precision=precision))


@functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
def _loss_and_gradient(free: SequenceModel, data: SequenceData):
    return jax.value_and_grad(lambda f: -objective(constrain(f), data))(free)


def fit(
    model: SequenceModel,
    data: SequenceData,
    stages: Sequence[Stage],
    tolerance: float,
    callback: Callback | None = None,
) -> tuple[SequenceModel, FitReport]:
    """Raise the bound by L-BFGS, stage by stage, from a starting model."""
    with jax.enable_x64(True):
        free, known = jax.tree.map(jnp.asarray, (unconstrain(model), data))
        best, report = maximise(lambda f: _loss_and_gradient(f, known), free, stages, tolerance, callback)
        fitted = in_float64(constrain)(best)
    return fitted, with_signal_to_noise(report, signal_to_noise(fitted))  # type: ignore[arg-type]


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def _solve(model: SequenceModel, data: SequenceData):
    belief = marginals(model.time_lengthscale, model.paths, data)
    statistics = statistics_of(model, belief, data)
    q_u = posterior_from_statistics(
        model.kernel, statistics, model.inducing_inputs, model.noise_variance, model.output_scale, data.jitter
    )
    return belief, statistics, q_u


def solve(model: SequenceModel, data: SequenceData) -> tuple[Marginals, Statistics, Posterior]:
    """q(X) step by step, the statistics of all rows, and q(U) at its optimum."""
    belief, statistics, q_u = _solve(model, data)
    return belief, statistics, resolved_posterior(*q_u)


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def smooth(
    paths: Float[np.ndarray, "T s q"], precision: Float[np.ndarray, "T s q"], lengthscale: Float[np.ndarray, " q"]
) -> tuple[Float[Array, "T s q"], Float[Array, "T s q"], Float[Array, " q"]]:
    """Mean and variance of paths that were seen with noise of variance 1/precision, and the evidence of each column.

    With S = (K⁻¹ + Λ)⁻¹ the mean is S Λ y, and log p(y) = -½ [log|I + KΛ| - log|Λ| + yᵀ Λ (y - S Λ y)] + constant.
    Steps of precision 0 were not seen.
    """
    chain = given_precisions(Transition.of(lengthscale[None]), precision)
    gains = chain.gains()
    weighted = precision * paths
    # S = C Cᵀ, and Cᵀ is the transpose of a linear recursion.
    _, transpose = jax.vjp(lambda noise: gains.paths(noise)[0], jnp.zeros_like(paths))
    mean = gains.paths(transpose(weighted)[0])[0]
    logs = jnp.sum(jnp.log(jnp.where(precision > 0, precision, 1.0)), axis=0)
    evidence = -0.5 * (chain.log_determinant - logs + jnp.sum(weighted * (paths - mean), axis=0))
    return mean, chain.variances()[0], jnp.sum(evidence, axis=0)


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def start_paths(
    mean: Float[np.ndarray, "T s q"], precision: Float[np.ndarray, "T s q"], lengthscale: Float[np.ndarray, " q"]
) -> Paths:
    """Paths with this mean, and with these λ."""
    return Paths(whitened(mean, lengthscale), precision)


def best_lengthscales(paths: Float[np.ndarray, "T s q"], precision: Float[np.ndarray, "T s q"]) -> np.ndarray:
    """For every latent input, the lengthscale over time under which these noisy paths are likeliest."""
    q = paths.shape[2]
    evidence = [smooth(paths, precision, np.full(q, each))[2] for each in _LENGTHSCALES]
    return _LENGTHSCALES[np.argmax(evidence, axis=0)]
