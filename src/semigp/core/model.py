"""The variationally constrained GP: what is known, what is free, and the objective that ties them together."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from . import checks
from .beliefs import InputBelief
from .bound import Likelihood, bound_from_statistics
from .kernels import Kernel
from .posterior import Posterior, posterior_from_blocks
from .precision import in_float64
from .priors import InputPrior, RowPrior, StandardPrior, kl_to_rows
from .pytrees import pytree
from .statistics import Block, collect
from .targets import Targets
from .types import Array


@pytree
class LogNormal:
    """A hyperprior: log θ ~ N(log median, spread²)."""

    median: Float[Array, ""] | float
    spread: Float[Array, ""] | float = 1.0

    def log_density(self, value: Float[Array, ...]) -> Float[Array, ""]:
        """Log density of log θ, summed over the entries, up to a constant."""
        return -0.5 * jnp.sum((jnp.log(value / self.median) / self.spread) ** 2)


@pytree
class Model:
    """All that a fit may change."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    noise_variance: Float[Array, ""] | Float[Array, " p"]  # shared, or one per output
    output_scale: Float[Array, ""] | Float[Array, " p"]  # signal std on top of the kernel's own variance
    mean: Float[Array, "u q"]  # q(x) of the u rows that are not fully observed
    variance: Float[Array, "u q"]


@pytree
class Data:
    """What is known: the observed rows, the others, and the priors."""

    observed: Block | None
    values: Float[Array, "u q"]  # of the other rows; 0 where missing
    unknown: Bool[Array, "u q"]  # entries with a variance: missing ones and those with an error bar
    mean_is_free: Bool[Array, "u q"]  # entries whose mean moves; the variational constraint pins the others
    targets: Targets  # of the other rows
    prior: RowPrior
    hyperpriors: dict[str, LogNormal]  # parameter name → prior
    jitter: Float[Array, ""]

    def blocks(self, model: Model) -> tuple[Block, ...]:
        """q(X | Z) of equation (9): observed rows as they are, the others with the model's belief about them."""
        blocks = () if self.observed is None else (self.observed,)
        if not self.values.shape[0]:
            return blocks
        return (*blocks, Block(*self.belief(model), self.targets))

    def belief(self, model: Model) -> tuple[Float[Array, "u q"], Float[Array, "u q"]]:
        """Mean and variance of q(x) for the rows that are not fully observed."""
        mean = jnp.where(self.mean_is_free, model.mean, self.values)
        return mean, jnp.where(self.unknown, model.variance, 0.0)


def describe(
    inputs: Any,
    targets: Any,
    error: Any = None,
    prior: InputPrior | None = None,
    constrain_means: bool = False,
    hyperpriors: dict[str, LogNormal] | None = None,
    jitter: float = 1e-6,
) -> Data:
    """Sort a data set with holes into what is known and what is not.

    Parameters
    ----------
    inputs : (n, q)
        NaN where missing.
    targets : (n, p)
        NaN where missing.
    error : (n, q), optional
        Error bars (standard deviations) on the inputs; 0 = exact.
    prior : InputPrior, optional
        Of the unknown entries; N(0, I) by default. `error_bar_prior(inputs, error)` is figure 1(a) of the paper.
    constrain_means : bool
        The variational constraint, figure 1(b): where there is an error bar, q's mean stays at the observation.
    hyperpriors : {name: LogNormal}, optional
        For parameters by name: "lengthscale", "noise_variance", …
    """
    checks.check_matrix("inputs", inputs, allow_nan=True)
    checks.check_matrix("targets", targets, allow_nan=True)
    inputs, targets = np.asarray(inputs, float), np.asarray(targets, float)
    if len(inputs) != len(targets):
        raise ValueError(f"inputs has {len(inputs)} rows but targets has {len(targets)}.")
    if error is None:
        error = np.zeros(inputs.shape)
    checks.check_matrix("error", error, inputs.shape[1], "inputs")
    checks.check_nonnegative("error", error, "Error bars are standard deviations; use 0 for exact entries.")
    prior = StandardPrior() if prior is None else prior
    prior.check(*inputs.shape)
    missing = np.isnan(inputs)
    unknown = missing | (np.asarray(error) > 0)
    rows = unknown.any(axis=1)
    sorted_targets, values = Targets.of(targets), np.where(missing, 0.0, inputs)
    free = missing if constrain_means else unknown
    row_prior = in_float64(lambda p: p.for_rows(jnp.asarray(values), jnp.asarray(unknown)))(prior)
    observed = None if rows.all() else Block(inputs[~rows], None, sorted_targets.take(~rows))
    return Data(
        observed, values[rows], unknown[rows], free[rows], sorted_targets.take(rows),
        jax.tree.map(lambda leaf: leaf[rows], row_prior), hyperpriors or {}, np.asarray(jitter, float),
    )  # fmt: skip


def start(
    data: Data,
    kernel: Kernel,
    inducing_inputs: Any,
    noise_variance: Any,
    output_scale: Any = 1.0,
    variance: float = 0.5,
) -> Model:
    """A model to begin with: q(x) at the prior's mean, or at the observation where there is one, with `variance`."""
    n_inputs = data.values.shape[1]
    checks.check_matrix("inducing_inputs", inducing_inputs, n_inputs, "inputs")
    kernel.check(n_inputs)
    mean = np.where(data.mean_is_free, data.prior.mean, data.values)
    model = Model(kernel, inducing_inputs, noise_variance, output_scale, mean, np.full(mean.shape, variance))
    return in_float64(lambda leaves: leaves)(model)


def objective(model: Model, data: Data) -> Float[Array, ""]:
    """F₂ of equation (14), plus the hyperpriors: ⟨F̂⟩ - KL(q(X|Z) ‖ p(X)) + log p(θ)."""
    statistics = collect(model.kernel, model.inducing_inputs, data.blocks(model))
    likelihood = Likelihood.of(model.noise_variance, model.output_scale, statistics.counts.shape[0])
    value = bound_from_statistics(model.kernel, model.inducing_inputs, statistics, likelihood, data.jitter)
    if data.values.shape[0]:
        value = value - kl_to_rows(*data.belief(model), data.prior)
    return value + _log_hyperprior(model, data.hyperpriors)


def _log_hyperprior(model: Model, hyperpriors: dict[str, LogNormal]) -> Float[Array, ""]:
    total = jnp.zeros(())
    for path, leaf in jax.tree_util.tree_leaves_with_path(model):
        name = jax.tree_util.keystr(path[-1:], simple=True)
        if name in hyperpriors:
            total = total + hyperpriors[name].log_density(leaf)
    return total


def input_belief(model: Model, data: Data) -> InputBelief:
    """q(x) of the rows that are not fully observed, in their order."""
    mean = np.where(data.mean_is_free, model.mean, data.values)
    return InputBelief(mean, np.where(data.unknown, model.variance, 0.0))


def posterior(model: Model, data: Data) -> Posterior:
    """q(U) of a fitted model."""
    return _posterior(model, data)


@in_float64
@jax.jit
def _posterior(model, data):
    return posterior_from_blocks(
        model.kernel, data.blocks(model), model.inducing_inputs, model.noise_variance, model.output_scale, data.jitter
    )
