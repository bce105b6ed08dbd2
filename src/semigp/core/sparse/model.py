"""The variationally constrained GP: its data, its parameters, and the objective that a fit raises."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from ..hyperpriors import LogNormal, log_hyperprior
from ..inputs.beliefs import InputBelief
from ..inputs.priors import InputPrior, RowPrior, StandardPrior, error_bar_prior, kl_to_rows
from ..kernels import Kernel
from ..numerics import checks
from ..numerics.compiler import QUICK_TO_COMPILE
from ..numerics.padding import nearly, pad_rows
from ..numerics.paths import by_path
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .bound import Likelihood, bound_from_statistics
from .posterior import Posterior, posterior_from_blocks, resolved_posterior
from .statistics import Block, Statistics, collect
from .targets import Targets


@pytree
class Model:
    """The parameters that a fit may change."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    noise_variance: Float[Array, ""] | Float[Array, " p"]  # shared, or one per output
    output_scale: Float[Array, ""] | Float[Array, " p"]  # signal std on top of the kernel's own variance
    mean: Float[Array, "u q"]  # mean of q(x) of the u rows that are not fully observed
    variance: Float[Array, "u q"]  # variance of q(x) of the same rows


@pytree
class Data:
    """What is known: the fully observed rows, the u other rows, and the priors."""

    observed: Block | None
    values: Float[Array, "u q"]  # inputs of the other rows; 0 where missing
    unknown: Bool[Array, "u q"]  # entries that are missing or have an error bar
    mean_is_free: Bool[Array, "u q"]  # entries whose mean moves; the others stay at the observation
    targets: Targets  # outputs of the other rows
    prior: RowPrior
    hyperpriors: dict[str, LogNormal]  # parameter name → prior
    jitter: Float[Array, ""]
    rows: Int[Array, " u"]  # numbers of the other rows in the data set; -1 for rows that are padding

    def blocks(self, model: Model) -> tuple[Block, ...]:
        """q(X | Z), eq:posteriorSemiSupervised: the observed rows, and the other rows with the model's q(x)."""
        blocks = () if self.observed is None else (self.observed,)
        if not self.values.shape[0]:
            return blocks
        return (*blocks, Block(*self.belief(model), self.targets))

    def belief(self, model: Model) -> tuple[Float[Array, "u q"], Float[Array, "u q"]]:
        """Mean and variance of q(x) for the rows that are not fully observed."""
        mean = jnp.where(self.mean_is_free, model.mean, self.values)
        return mean, jnp.where(self.unknown, model.variance, 0.0)


def make_data(
    inputs: Any,
    targets: Any,
    error: Any = None,
    prior: InputPrior | None = None,
    constrain_means: bool = False,
    hyperpriors: dict[str, LogNormal] | None = None,
    jitter: float = 1e-6,
) -> Data:
    """Split a data set with holes into fully observed rows and others, with the priors of their unknown entries.

    Parameters
    ----------
    inputs : (n, q)
        NaN where missing.
    targets : (n, p)
        NaN where missing.
    error : (n, q), optional
        Error bars (standard deviations) of the inputs, 0 where an input is exact.
    prior : InputPrior, optional
        The prior of the unknown entries. By default it is N(0, 1) for a missing entry, and N(z, error²) for an
        observation z with an error bar: figure 1(a) of the paper. A given prior is multiplied by N(z, error²) for
        entries with an error bar.
    constrain_means : bool
        Whether to use the variational constraint, figure 1(b): for an observation with an error bar, the mean of q(x)
        stays at the observation. The prior is then N(0, I) by default, and does not depend on error bars.
    hyperpriors : {path: LogNormal}, optional
        Hyperpriors of parameters by path, wildcards allowed: "kernel.lengthscale", "kernel*.variance", …
    jitter : number
        As in `collapsed_bound`.
    """
    checks.check_matrix("inputs", inputs, allow_nan=True)
    checks.check_matrix("targets", targets, allow_nan=True)
    inputs, targets = np.asarray(inputs, float), np.asarray(targets, float)
    if len(inputs) != len(targets):
        raise ValueError(f"inputs has {len(inputs)} rows but targets has {len(targets)}.")
    error = np.zeros(inputs.shape) if error is None else np.asarray(error)
    checks.check_error_bars(error, inputs.shape)
    checks.check_jitter(jitter)
    missing = np.isnan(inputs)
    unknown = missing | (error > 0)
    rows = unknown.any(axis=1)
    sorted_targets, values = Targets.of(targets), np.where(missing, 0.0, inputs)
    free = missing if constrain_means else unknown
    row_prior = _row_prior(prior, inputs, values, unknown, error, constrain_means)
    certain, uncertain = (_fill_up(np.flatnonzero(which)) for which in (~rows, rows))
    observed = None if rows.all() else Block(certain(values), None, certain(sorted_targets))
    return Data(
        observed, uncertain(values), uncertain(unknown), uncertain(free), uncertain(sorted_targets),
        uncertain(row_prior), hyperpriors or {}, np.asarray(jitter, float), uncertain(np.arange(1, len(rows) + 1)) - 1,
    )  # fmt: skip


def _row_prior(
    prior: InputPrior | None,
    inputs: np.ndarray,
    values: np.ndarray,
    unknown: np.ndarray,
    error: np.ndarray,
    constrain_means: bool,
) -> RowPrior:
    """p(x) of the unknown entries of every row. It includes error bars, unless the means are constrained."""
    multiply_bars = prior is not None and not constrain_means  # the default prior already includes error bars
    if prior is None:
        prior = StandardPrior() if constrain_means else error_bar_prior(inputs, error)
    prior.check(*inputs.shape)
    return _build_row_prior(prior, inputs, values, unknown, error if multiply_bars else None)


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def _build_row_prior(prior, inputs, values, unknown, error):
    rows = prior.for_rows(values, unknown)
    return rows if error is None else rows.with_error_bars(inputs, error)


def _fill_up(rows: np.ndarray) -> Callable[[Any], Any]:
    """A function that takes `rows` of arrays, and adds rows of zeros up to a round number.

    Added rows have weight 0 and change nothing. Data sets of nearly the same size then share one compiled program. This
    costs at most three percent more rows, or eight, and never more than 4096.
    """
    count = nearly(len(rows), share=32, most=4096)

    def take(leaf: Any) -> Any:
        return pad_rows(leaf[rows], count)

    def take_all(tree: Any) -> Any:
        if isinstance(tree, Targets):
            return Targets(take(tree.values), take(tree.weights), tree.group)
        return jax.tree.map(take, tree)

    return take_all


def start(
    data: Data,
    kernel: Kernel,
    inducing_inputs: Any,
    noise_variance: Any,
    output_scale: Any = 1.0,
    variance: float = 0.5,
) -> Model:
    """A model from which a fit can start.

    q(x) has the mean of the prior, or the observation as its mean if the mean is not free. Its variance is `variance`.
    """
    n_inputs, n_outputs = data.values.shape[1], data.targets.values.shape[1]
    inducing_inputs, noise_variance, output_scale = checks.as_arrays(inducing_inputs, noise_variance, output_scale)
    checks.check_matrix("inducing_inputs", inducing_inputs, n_inputs, "inputs")
    checks.check_positive("noise_variance", noise_variance, n_outputs)
    checks.check_positive("output_scale", output_scale, n_outputs)
    checks.check_positive("variance", variance, 1)
    kernel.check(n_inputs)
    mean = np.where(data.mean_is_free, data.prior.mean, data.values)
    model = Model(kernel, inducing_inputs, noise_variance, output_scale, mean, np.full(mean.shape, variance))
    return in_float64(lambda leaves: leaves)(model)


def objective(model: Model, data: Data, total: Callable[[Any], Any] = lambda sums: sums) -> Float[Array, ""]:
    """F₂ of eq:boundFinalFinal, plus the hyperpriors: ⟨F̂⟩ - KL(q(X|Z) ‖ p(X)) + log p(θ).

    `total` turns sums over the rows of this device into sums over the rows of all devices. Nothing else has to be
    exchanged between devices.
    """
    return objective_from_sums(model, total(row_sums(model, data)), data)


def row_sums(model: Model, data: Data) -> dict[str, Array]:
    """All that the objective needs from the rows: the statistics and the KL divergence, summed over rows."""
    sums = collect(model.kernel, model.inducing_inputs, data.blocks(model)).sums()
    if data.values.shape[0]:
        sums["divergence"] = kl_to_rows(*data.belief(model), data.prior, data.unknown)
    return sums


def objective_from_sums(model: Model, sums: dict[str, Array], data: Data) -> Float[Array, ""]:
    """The objective, from sums over the rows. The rows in `data` are not used."""
    sums = dict(sums)
    divergence = sums.pop("divergence", jnp.zeros(()))
    statistics = Statistics(**sums, group=data.targets.group)
    likelihood = Likelihood.of(model.noise_variance, model.output_scale, statistics.counts.shape[0])
    value = bound_from_statistics(model.kernel, model.inducing_inputs, statistics, likelihood, data.jitter)
    return value - divergence + log_hyperprior(hyperparameters(model), data.hyperpriors)


def hyperparameters(model: Model) -> list[tuple[str, Array]]:
    """Path and value of every parameter of kernel and likelihood. All are positive."""
    own = {"kernel": model.kernel, "noise_variance": model.noise_variance, "output_scale": model.output_scale}
    return by_path(own)


def input_belief(model: Model, data: Data) -> InputBelief:
    """q(x) of the rows that are not fully observed, in the order of the data set."""
    mean = np.where(data.mean_is_free, model.mean, data.values)
    variance = np.where(data.unknown, model.variance, 0.0)
    is_real = np.asarray(data.rows) >= 0
    return InputBelief(mean[is_real], variance[is_real])


def posterior(model: Model, data: Data) -> Posterior:
    """q(U) of a fitted model."""
    return resolved_posterior(*_posterior(model, data))


@in_float64
@functools.partial(jax.jit, compiler_options=QUICK_TO_COMPILE)
def _posterior(model, data):
    return posterior_from_blocks(
        model.kernel, data.blocks(model), model.inducing_inputs, model.noise_variance, model.output_scale, data.jitter
    )
