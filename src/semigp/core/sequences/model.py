"""Series as noisy functions of a few latent paths, where every path is a GP over time: parameters, data and objective.

For latent input j of series s (Damianou et al. 2011), with times 1, …, T_s,

    x_j ~ N(0, K_j),   q(x_j) = N(m, (K_j⁻¹ + diag λ)⁻¹),   λ > 0.

The ψ statistics need only the means and variances of single steps. So the bound is that of the Bayesian GP-LVM, and
only the divergence of q(X) from its prior is another. The covariance K_j is a Matérn 3/2 of variance 1 with its own
lengthscale, shared by all series.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from ..hyperpriors import LogNormal, log_hyperprior
from ..kernels import Kernel
from ..numerics.padding import nearly, pad_rows
from ..numerics.paths import by_path
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..sparse.bound import Likelihood, bound_from_statistics
from ..sparse.statistics import Block, Statistics, collect
from ..sparse.targets import Targets
from .chain import Entry, Gains, Symmetric, Transition, given_precisions


@pytree
class Paths:
    """q(X) of s series, filled up to a common length T."""

    noise: Float[Array, "T s q"]  # u, of which the mean is made: m = L u with L Lᵀ = K
    precision: Float[Array, "T s q"]  # λ


@pytree
class SequenceModel:
    """The parameters that a fit may change."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    noise_variance: Float[Array, " p"]
    output_scale: Float[Array, " p"]
    time_lengthscale: Float[Array, " q"]  # of the latent paths, in steps
    paths: Paths


@pytree
class SequenceData:
    """What is known of the series."""

    is_real: Bool[Array, "T s"]  # False for steps that fill a series up
    rows: Int[Array, " n"]  # place of every row in an array (T·s, …); rows that are padding have weight 0
    targets: Targets  # outputs of these rows
    hyperpriors: dict[str, LogNormal]
    jitter: Float[Array, ""]


def make_data(
    series: Sequence[Float[np.ndarray, "T p"]],
    hyperpriors: dict[str, LogNormal] | None = None,
    jitter: float = 1e-6,
    length: int | None = None,
) -> SequenceData:
    """Series, with NaN for what is missing, as rows in the order of `rows_of`. All are filled up to the same length."""
    lengths = np.array([len(each) for each in series])
    length = max(lengths) if length is None else length
    is_real = np.arange(length)[:, None] < lengths
    rows = np.flatnonzero(is_real.T.ravel())  # series by series
    places = (rows % length) * len(series) + rows // length
    targets, count = Targets.of(np.concatenate(series)), nearly(len(rows), share=32)
    filled = Targets(pad_rows(targets.values, count), pad_rows(targets.weights, count), targets.group)
    return SequenceData(is_real, pad_rows(places, count), filled, hyperpriors or {}, np.asarray(jitter, float))


@pytree
class Marginals:
    """What q(X) says about single steps, and how far it is from the prior."""

    mean: Float[Array, "T s q"]
    variance: Float[Array, "T s q"]
    divergence: Float[Array, "s q"]  # KL(q(x_j) ‖ p(x_j))
    last_mean: tuple[Entry, Entry]  # of the state (x, x′/r) at the end
    last_covariance: Symmetric


def marginals(time_lengthscale: Float[Array, " q"], paths: Paths, data: SequenceData) -> Marginals:
    """Means, variances and KL(q ‖ p) = ½ [log|I + KΛ| - Σ_t λ_t S_tt + uᵀu], for every path."""
    prior, real = Transition.of(time_lengthscale[None]), data.is_real[:, :, None]
    noise, precision = (jnp.where(real, each, 0.0) for each in (paths.noise, paths.precision))
    chain = given_precisions(prior, precision)
    variance, last_covariance = chain.variances()
    mean, last_mean = _factor(time_lengthscale, len(noise)).paths(noise)
    square = jnp.sum(noise**2 - precision * variance, axis=0)
    return Marginals(mean, variance, 0.5 * (chain.log_determinant + square), last_mean, last_covariance)


def _factor(time_lengthscale: Float[Array, " q"], length: int) -> Gains:
    """L, the Cholesky factor of K, for every latent input."""
    prior = Transition.of(time_lengthscale[None])
    return given_precisions(prior, jnp.zeros((length, *prior.matrix[0].shape))).gains()


def whitened(mean: Float[Array, "T s q"], time_lengthscale: Float[Array, " q"]) -> Float[Array, "T s q"]:
    """U = L⁻¹ m."""
    return _factor(time_lengthscale, len(mean)).innovations(mean)[0]


def block(belief: Marginals, data: SequenceData) -> Block:
    """The rows of the series with their q(x)."""

    def rows(paths: Float[Array, "T s q"]) -> Float[Array, "n q"]:
        return paths.reshape(-1, paths.shape[2])[data.rows]

    return Block(rows(belief.mean), rows(belief.variance), data.targets)


def statistics_of(model: SequenceModel, belief: Marginals, data: SequenceData) -> Statistics:
    """The ψ statistics of the series."""
    return collect(model.kernel, model.inducing_inputs, (block(belief, data),))


def objective(model: SequenceModel, data: SequenceData) -> Float[Array, ""]:
    """⟨F̂⟩ - KL(q(X) ‖ p(X)) + log p(θ)."""
    belief = marginals(model.time_lengthscale, model.paths, data)
    likelihood = Likelihood(model.noise_variance, model.output_scale)
    statistics = statistics_of(model, belief, data)
    value = bound_from_statistics(model.kernel, model.inducing_inputs, statistics, likelihood, data.jitter)
    return value - jnp.sum(belief.divergence) + log_hyperprior(hyperparameters(model), data.hyperpriors)


def hyperparameters(model: SequenceModel) -> list[tuple[str, Array]]:
    """Path and value of every parameter but q(X) and the inducing inputs. All are positive."""
    names = [field.name for field in dataclasses.fields(model) if field.name not in ("inducing_inputs", "paths")]
    return by_path({name: getattr(model, name) for name in names})
