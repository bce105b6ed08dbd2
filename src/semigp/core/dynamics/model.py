"""The state-space model: its data, its parameters, and the bound that a fit raises.

    x_t = x_{t-1} + f(x_{t-1}, u_t) + N(0, diag σ_f²),    y_t = g(x_t) + N(0, diag σ_g²),    x_1 ~ N(0, I)

f and g are sparse GPs. Under the chain q(X), both have the ordinary collapsed bound: g with uncertain inputs, and f
with uncertain inputs *and* outputs. As q(x_t | x_{t-1}) is linear in x_{t-1}, the increments d_t = x_t - x_{t-1} enter
by

    Ψ1ᵀD = Σ_t E[k(Z, x_{t-1})] E[d_t]ᵀ + E[k(Z, x_{t-1}) (x_{t-1} - m_{t-1})ᵀ] (A_t - I)ᵀ
    E[d_t²] = E[d_t]² + diag((A_t - I) P_{t-1} (A_t - I)ᵀ + Q_t)

and everything else in the bound is as if the increments were known.
"""

from __future__ import annotations

import math
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..hyperpriors import LogNormal, log_hyperprior
from ..kernels import Kernel
from ..numerics.padding import pad_rows
from ..numerics.paths import by_path
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..sparse.bound import Likelihood, bound_from_statistics
from ..sparse.posterior import Posterior, posterior_from_statistics
from ..sparse.statistics import Block, Statistics, collect
from ..sparse.targets import Targets
from .chain import Chain, ChainMoves, ChainReference


@pytree
class StateFunction:
    """A sparse GP for several outputs, and the variance of the noise on each."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m i"]
    noise_variance: Float[Array, " o"]
    output_scale: Float[Array, " o"]

    def bound(self, statistics: Statistics, jitter: Float[Array, ""]) -> Float[Array, ""]:
        """The collapsed bound of this function."""
        likelihood = Likelihood(self.noise_variance, self.output_scale)
        return bound_from_statistics(self.kernel, self.inducing_inputs, statistics, likelihood, jitter)

    def posterior(self, statistics: Statistics, jitter: Float[Array, ""]) -> Posterior:
        """q(U) of this function at its best."""
        own = self.inducing_inputs, self.noise_variance, self.output_scale
        return posterior_from_statistics(self.kernel, statistics, *own, jitter)[0]


@pytree
class StateModel:
    """The parameters that a fit may change."""

    transition: StateFunction  # f
    observation: StateFunction  # g
    states: ChainMoves  # q(X), relative to the reference


@pytree
class StateData:
    """What is known: n steps of all series, one series behind the other, and steps of weight 0 at the end."""

    inputs: Float[Array, "n c"]
    targets: Targets  # outputs (n, p)
    is_first: Bool[Array, " n"]  # whether a series begins here; padding begins a series at every step
    is_real: Bool[Array, " n"]
    reference: ChainReference
    hyperpriors: dict[str, LogNormal]
    jitter: Float[Array, ""]

    def without(self, is_hidden: Bool[np.ndarray, " k"]) -> StateData:
        """The same data, in which the last steps of some series are padding. NumPy."""
        is_hidden = pad_rows(is_hidden, len(self.is_real))
        seen, known = ~is_hidden[:, None], self.targets
        targets = Targets(known.values * seen, known.weights * seen, known.group)
        return replace(self, targets=targets, is_first=self.is_first | is_hidden, is_real=self.is_real & ~is_hidden)


def transition_statistics(
    function: StateFunction, chain: Chain, covariances: Float[Array, "n q q"], data: StateData
) -> Statistics:
    """The statistics of f: inputs [x_{t-1}, u_t], outputs d_t, both uncertain (see the top of this file)."""
    weights = (~data.is_first).astype(chain.mean.dtype)[:, None]
    before = jnp.roll(covariances, 1, axis=0)
    earlier = jnp.roll(chain.mean, 1, axis=0)
    q = earlier.shape[1]
    c = data.inputs.shape[1]
    mean = jnp.concatenate([earlier, data.inputs], axis=1)
    variance = jnp.pad(before, ((0, 0), (0, c), (0, c)))
    increments = weights * (chain.mean - earlier)
    targets = Targets(increments, weights, jnp.zeros(q, jnp.int32))
    found = collect(function.kernel, function.inducing_inputs, (Block(mean, variance, targets),))
    slope = (chain.transition - jnp.eye(q)) * weights[:, :, None]  # A_t - I
    tilt = function.kernel.psi1_centred(mean, variance, function.inducing_inputs)[:, :, :q]
    spread = jnp.einsum("tij,tjk,tik->i", slope, before, slope) + jnp.sum(weights[:, :, None] * chain.factor**2, (0, 2))
    return replace(
        found, psi1_y=found.psi1_y + jnp.einsum("tmi,tji->mj", tilt, slope), y_square=found.y_square + spread
    )


def observation_statistics(
    function: StateFunction, chain: Chain, covariances: Float[Array, "n q q"], targets: Targets
) -> Statistics:
    """The statistics of g: inputs x_t, outputs y_t."""
    return collect(function.kernel, function.inducing_inputs, (Block(chain.mean, covariances, targets),))


def statistics_of(
    model: StateModel,
    chain: Chain,
    covariances: Float[Array, "n q q"],
    data: StateData,
    extra: tuple[Statistics, Statistics] | None = None,
) -> tuple[Statistics, Statistics]:
    """The statistics of f and of g. `extra` are those of other series, whose states are not moved."""
    own = (
        transition_statistics(model.transition, chain, covariances, data),
        observation_statistics(model.observation, chain, covariances, data.targets),
    )
    return own if extra is None else (own[0] + extra[0], own[1] + extra[1])


def first_density(chain: Chain, covariances: Float[Array, "n q q"], data: StateData) -> Float[Array, ""]:
    """Σ E[log N(x_1 | 0, I)] over the series."""
    q = chain.mean.shape[1]
    square = jnp.sum(chain.mean**2, axis=1) + jnp.trace(covariances, axis1=1, axis2=2)
    is_start = data.is_first & data.is_real
    return -0.5 * jnp.sum(jnp.where(is_start, square + q * math.log(2.0 * math.pi), 0.0))


def objective(
    model: StateModel, data: StateData, extra: tuple[Statistics, Statistics] | None = None
) -> Float[Array, ""]:
    """F_f + F_g + E[log p(x_1)] + H[q(X)] + log p(θ). `extra` is as in `statistics_of`."""
    chain = data.reference.moved(model.states)
    covariances = chain.covariances()
    found = statistics_of(model, chain, covariances, data, extra)
    value = model.transition.bound(found[0], data.jitter) + model.observation.bound(found[1], data.jitter)
    value = value + first_density(chain, covariances, data) + chain.entropy(data.is_real)
    return value + log_hyperprior(hyperparameters(model), data.hyperpriors)


def hyperparameters(model: StateModel) -> list[tuple[str, Array]]:
    """Path and value of every positive parameter of the two functions."""
    return [
        (path, value)
        for path, value in by_path({"transition": model.transition, "observation": model.observation})
        if not path.endswith("inducing_inputs")
    ]
