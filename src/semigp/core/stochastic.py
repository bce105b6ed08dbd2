"""The bound in batches: q(U) explicit, natural-gradient steps for it, Adam for the rest.

With L Lᵀ = K_uu and v = L⁻¹u, p(v) = N(0, I), the best q(v_d) has the natural parameters

    β_d a_d/s_d   and   I + β_d C,      C = L⁻¹ Ψ2 L⁻ᵀ,      a = L⁻¹ Ψ1ᵀ Y,

which are linear in sums over rows. A natural-gradient step of length ρ is C ← (1-ρ) C + ρ Ĉ, with Ĉ of a batch scaled
up to all rows, and the same for a (Hensman et al. 2013). C and a are what is kept: they stay meaningful while kernel,
inducing inputs and noise move. Given q(v), the objective of a batch of B rows out of n is

    n/B [E log p(Y_B | X_B, U) - KL(q(X_B) ‖ p(X_B))] - KL(q(v) ‖ N(0, I)) + log p(θ),

unbiased, and with all rows and C and a of these, the collapsed bound. q(x) of a row comes from `local_step`; it is at
its optimum there, so that nothing is differentiated through it.
"""

from __future__ import annotations

import fnmatch
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from .bound import Likelihood, bound_from_statistics
from .factors import Factors, rotate
from .kernels import Kernel
from .linalg import jittered_cholesky, solve_lower
from .local_step import Incomplete, KnownRows, infer_inputs
from .model import LogNormal, Model, by_path, log_hyperprior
from .optimise import MESSAGES, Callback, FitReport, Progress, Status, parameter_paths, with_ratio
from .posterior import Posterior, expected_log_likelihood, posterior_from_statistics, resolved_posterior
from .precision import as_float64, as_numpy, in_float64
from .priors import GaussianPrior, RowPrior, kl_to_rows
from .pytrees import pytree
from .statistics import Block, Statistics, collect
from .types import Array

# ρ = (t + t₀)^-κ, Robbins and Monro's steps; t₀ are the batches that q(U) has seen before. Nothing is gained by
# remembering more than a pass, and a q(U) of old parameters holds the new ones back: ρ is at least a batch's share of
# all rows, or a tenth.
_FORGETTING, _LARGEST_FLOOR = 0.6, 0.1
# Adam's rate rises for a twentieth of the steps: at first it knows no scale, and spoils what it is given.
_LEARNING_RATE, _WARM_UP = 0.03, 0.05
_ADAM_DECAYS, _ADAM_FLOOR = (0.9, 0.99), 1e-8
# Estimates of the bound are told as means over so many parts of a fit.
_TRACE_LENGTH = 100


@pytree
class Parameters:
    """What Adam moves. Unconstrained, these are logarithms but for the inducing inputs."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    noise_variance: Float[Array, ""] | Float[Array, " p"]
    output_scale: Float[Array, ""] | Float[Array, " p"]

    @classmethod
    def of(cls, model: Model) -> Parameters:
        """Those of a fitted model."""
        return cls(model.kernel, model.inducing_inputs, model.noise_variance, model.output_scale)

    def map_positive(self, function: Callable) -> Parameters:
        """With a function of every positive parameter."""
        changed = jax.tree.map(function, self)
        return replace(changed, inducing_inputs=self.inducing_inputs)


@pytree
class Whitened:
    """q(v), by the sums that its natural parameters are made of."""

    moment: Float[Array, "g m m"]  # C
    projected: Float[Array, "m p"]  # a
    group: Int[Array, " p"]

    @classmethod
    def of(cls, cholesky: Float[Array, "m m"], statistics: Statistics, scale: Any = 1.0) -> Whitened:
        """The best q(v) for statistics that are a `scale`-th of all."""

        def both_sides(psi2):
            return solve_lower(cholesky, solve_lower(cholesky, psi2).T)

        moment = jax.lax.map(both_sides, scale * statistics.psi2)
        return cls(moment, solve_lower(cholesky, scale * statistics.psi1_y), statistics.group)

    def towards(self, other: Whitened, step: Any) -> Whitened:
        """A natural-gradient step."""
        mix = jax.tree.map(lambda old, new: (1.0 - step) * old + step * new, self, other)
        return replace(mix, group=self.group)


@pytree
class Batch:
    """Rows that stand for all: complete ones, incomplete ones, and how many rows of all there are for each of them."""

    observed: Block | None
    incomplete: Incomplete | None
    scale: Float[Array, ""] | float


@pytree
class Setting:
    """What a fit takes for granted."""

    prior: GaussianPrior
    known: KnownRows
    hyperpriors: dict[str, LogNormal]
    jitter: Float[Array, ""] | float = 1e-6


def posterior_of(parameters: Parameters, q: Whitened, setting: Setting) -> Posterior:
    """q(U), differentiable in the parameters; C and a are given."""
    gram = parameters.kernel.gram(parameters.inducing_inputs)
    cholesky, jitter = _cholesky(gram, setting.jitter)
    # One after the other, and not to be differentiated: see `factorise`.
    eigenvalues, basis = jax.lax.map(lambda moment: tuple(jnp.linalg.eigh(moment)), jax.lax.stop_gradient(q.moment))
    directions = jnp.stack([solve_lower(cholesky, each, transpose=True) for each in basis])  # T = L⁻ᵀ U
    likelihood = Likelihood.of(parameters.noise_variance, parameters.output_scale, q.projected.shape[1])
    projected = rotate(jnp.swapaxes(basis, 1, 2), q.projected, q.group) / likelihood.output_scale
    factors = Factors(cholesky, jitter, jnp.maximum(eigenvalues, 0.0), directions, projected, q.group)
    return Posterior(parameters.kernel, parameters.inducing_inputs, likelihood, factors)


def _cholesky(gram: Float[Array, "m m"], jitter: Any) -> tuple[Float[Array, "m m"], Float[Array, ""]]:
    """L with as much jitter as it needs, differentiable."""
    _, needed = jittered_cholesky(jax.lax.stop_gradient(gram), jnp.asarray(jitter))
    nugget = needed * jnp.mean(jnp.diagonal(gram))
    return jnp.linalg.cholesky(gram + nugget * jnp.eye(len(gram))), needed


@pytree
class Inferred:
    """q(x) of a batch's incomplete rows, and the prior it is held against."""

    mean: Float[Array, "n q"]
    variance: Float[Array, "n q"]
    prior: RowPrior


def infer(parameters: Parameters, q: Whitened, rows: Incomplete | None, setting: Setting) -> Inferred | None:
    """q(x) by q(U), or None where no row lacks anything."""
    if rows is None:
        return None
    prior = setting.prior.for_rows(rows.values, rows.unknown)
    return Inferred(*infer_inputs(posterior_of(parameters, q, setting), rows, prior, setting.known), prior)


def batch_objective(
    parameters: Parameters, q: Whitened, batch: Batch, inferred: Inferred | None, setting: Setting
) -> tuple[Float[Array, ""], Whitened]:
    """The estimate of the bound, and the q(v) that would be best if all rows were like the batch."""
    posterior = posterior_of(parameters, q, setting)
    statistics, apart = batch_sums(parameters, batch, inferred)
    value = batch.scale * (expected_log_likelihood(posterior, statistics) - apart) - _kl_inducing(posterior)
    value += log_hyperprior(by_path(_as_dict(parameters)), setting.hyperpriors)
    return value, Whitened.of(posterior.factors.cholesky, statistics, batch.scale)


def batch_sums(parameters: Parameters, batch: Batch, inferred: Inferred | None) -> tuple[Statistics, Float[Array, ""]]:
    """The statistics of the batch's own rows, and their KL(q(X) ‖ p(X))."""
    blocks: list[Block] = [] if batch.observed is None else [batch.observed]
    apart: Any = 0.0
    if batch.incomplete is not None and inferred is not None:
        apart = kl_to_rows(inferred.mean, inferred.variance, inferred.prior, batch.incomplete.unknown)
        blocks.append(Block(inferred.mean, inferred.variance, batch.incomplete.targets))
    return collect(parameters.kernel, parameters.inducing_inputs, tuple(blocks)), apart


def _kl_inducing(posterior: Posterior) -> Float[Array, ""]:
    """KL(q(v) ‖ N(0, I)), in the coordinates in which q(v) has variances 1/(1 + βλ)."""
    variance, mean = posterior.shrinkage, posterior.coefficients
    return 0.5 * jnp.sum(variance + mean**2 - 1.0 - jnp.log(variance))


def _as_dict(parameters: Parameters) -> dict[str, Any]:
    names = ("kernel", "noise_variance", "output_scale")
    return {name: getattr(parameters, name) for name in names}


# ---- steps


@pytree
class _State:
    """Parameters, still unconstrained, q(v), and Adam's moments of the gradient."""

    free: Parameters
    q: Whitened
    first: Parameters
    second: Parameters
    count: Int[Array, ""]


# A program of its own: steps and the last pass share it.
_infer = jax.jit(infer)


@jax.jit
def _step(
    state: _State, batch: Batch, inferred: Inferred | None, setting: Setting, moves: Parameters, rate: Any, step: Any
):
    """One batch: a step of Adam and one of the natural gradient. Where the estimate is not finite, none."""

    def loss(free):
        value, best = batch_objective(free.map_positive(jnp.exp), state.q, batch, inferred, setting)
        return -value, best

    (negative, best), gradient = jax.value_and_grad(loss, has_aux=True)(state.free)
    count, (slow, slower) = state.count + 1, _ADAM_DECAYS
    first = jax.tree.map(lambda m, g: slow * m + (1.0 - slow) * g, state.first, gradient)
    second = jax.tree.map(lambda v, g: slower * v + (1.0 - slower) * g**2, state.second, gradient)

    def move(value, m, v, factor):
        return value - rate * factor * (m / (1.0 - slow**count)) / (jnp.sqrt(v / (1.0 - slower**count)) + _ADAM_FLOOR)

    new = _State(
        jax.tree.map(move, state.free, first, second, moves), state.q.towards(best, step), first, second, count
    )
    is_finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves((negative, new))]))
    return jax.tree.map(lambda a, b: jnp.where(is_finite, a, b), new, state), -negative


_batch_sums = jax.jit(batch_sums)
_natural_units = jax.jit(lambda free: free.map_positive(jnp.exp))


# ---- a fit


@dataclass(frozen=True)
class Schedule:
    """How long a fit takes."""

    n_steps: int
    seen_before: float  # batches that the first q(U) is worth
    share: float  # of all rows, that a batch has

    def rate(self, step: int) -> float:
        """Adam's: up in a straight line, then down to nothing along half a cosine."""
        done = step / self.n_steps
        return 0.5 * _LEARNING_RATE * (1.0 + math.cos(math.pi * done)) * min(1.0, done / _WARM_UP)

    def natural_step(self, step: int) -> float:
        """ρ."""
        return max((1.0 + self.seen_before + step) ** -_FORGETTING, min(self.share, _LARGEST_FLOOR))


@jax.jit
def whitened_from_blocks(parameters: Parameters, blocks: tuple[Block, ...], setting: Setting, scale: Any) -> Whitened:
    """The best q(v) for rows whose q(x) is known, a `scale`-th of all."""
    cholesky, _ = _cholesky(parameters.kernel.gram(parameters.inducing_inputs), setting.jitter)
    return Whitened.of(cholesky, collect(parameters.kernel, parameters.inducing_inputs, blocks), scale)


def fit_stream(
    parameters: Parameters,
    q: Whitened,
    setting: Setting,
    batches: Iterable[Batch],
    everything: Iterable[Batch],
    schedule: Schedule,
    hold: Sequence[str] = (),
    callback: Callback | None = None,
) -> tuple[Posterior, FitReport]:
    """Go through `batches`, as many as the schedule has steps, then once through all rows for the exact q(U) and bound.

    Parameters
    ----------
    parameters, q
        To start from, in natural units; `q` is in the coordinates of `parameters`.
    batches, everything
        For the steps; and every row once. All of them must have the same shapes: they share a compiled program.
    hold
        Parameters that stay, by path, such as "kernel.variance".
    """
    with jax.enable_x64(True):
        parameters, q, setting = jax.tree.map(as_float64, (parameters, q, setting))
        fit = _Fit(parameters, q, setting, schedule, callback)
        status = fit.run(batches, hold)
        found = fit.state.free.map_positive(jnp.exp)
        posterior, bound = _finish(found, fit.state.q, setting, everything)
        posterior = jax.tree.map(as_numpy, posterior)
    stages = (("stream", status, fit.done),)
    ratio = posterior.likelihood.output_scale**2 * np.mean(_diagonal(posterior)) / posterior.likelihood.noise_variance
    report = FitReport(
        status, MESSAGES[status], bound, np.array(fit.trace), fit.done, time.perf_counter() - fit.started, stages, ratio
    )
    return posterior, with_ratio(report, ratio)


@in_float64
def _diagonal(posterior: Posterior):
    return posterior.kernel.diag(posterior.inducing_inputs)


def _finish(
    parameters: Parameters, q: Whitened, setting: Setting, everything: Iterable[Batch]
) -> tuple[Posterior, float]:
    """One exact pass: the optimal q(U), and the collapsed bound with q(x) of every row as the stream's q(U) has it."""
    statistics, apart = _sum_all(parameters, q, setting, everything)
    kernel, inducing, jitter = parameters.kernel, parameters.inducing_inputs, jnp.asarray(setting.jitter)
    likelihood = Likelihood.of(parameters.noise_variance, parameters.output_scale, statistics.counts.shape[0])
    bound = bound_from_statistics(kernel, inducing, statistics, likelihood, jitter) - apart
    bound += log_hyperprior(by_path(_as_dict(parameters)), setting.hyperpriors)
    found = posterior_from_statistics(
        kernel, statistics, inducing, likelihood.noise_variance, likelihood.output_scale, jitter
    )
    return resolved_posterior(*found), float(bound)


def _sum_all(parameters, q, setting, batches: Iterable[Batch]) -> tuple[Statistics, Float[Array, ""]]:
    """Statistics and KL(q(X) ‖ p(X)) of all rows."""
    total: Any = None
    for batch in batches:
        sums = _batch_sums(parameters, batch, _infer(parameters, q, batch.incomplete, setting))
        total = sums if total is None else (total[0] + sums[0], total[1] + sums[1])
    return total


class _Fit:
    """The state of one fit, and what it tells."""

    def __init__(self, parameters, q, setting, schedule: Schedule, callback: Callback | None) -> None:
        free = parameters.map_positive(jnp.log)
        nothing = jax.tree.map(jnp.zeros_like, free)
        self.state = _State(free, q, nothing, nothing, jnp.zeros((), jnp.int32))
        self.setting, self.schedule, self.callback = setting, schedule, callback
        self.trace: list[float] = []
        self.done, self.started = 0, time.perf_counter()

    def run(self, batches: Iterable[Batch], hold: Sequence[str]) -> Status:
        """All steps, or until a callback or a person ends them."""
        moves = self._moves(hold)
        every, estimates = max(1, self.schedule.n_steps // _TRACE_LENGTH), []
        try:
            for batch in _first(batches, self.schedule.n_steps):
                rate, step = self.schedule.rate(self.done), self.schedule.natural_step(self.done)
                parameters = _natural_units(self.state.free)
                inferred = _infer(parameters, self.state.q, batch.incomplete, self.setting)
                self.state, estimate = _step(self.state, batch, inferred, self.setting, moves, rate, step)
                self.done += 1
                estimates.append(estimate)  # not looked at yet: the next batch is read while this one is computed
                if len(estimates) == every:
                    self.trace.append(float(np.mean(estimates)))
                    estimates = []
                    if self._is_stopped():
                        return "interrupted"
        except KeyboardInterrupt:
            return "interrupted"
        return _status(self.trace)

    def _is_stopped(self) -> bool:
        elapsed = time.perf_counter() - self.started
        progress = Progress("stream", self.done, self.schedule.n_steps, self.trace[-1], elapsed)
        return self.callback is not None and bool(self.callback(progress))

    def _moves(self, hold: Sequence[str]) -> Parameters:
        leaves, structure = jax.tree.flatten(self.state.free)
        held = [any(fnmatch.fnmatch(path, each) for each in hold) for path in parameter_paths(self.state.free)]
        return jax.tree.unflatten(
            structure, [jnp.full(leaf.shape, float(not is_held)) for leaf, is_held in zip(leaves, held, strict=True)]
        )


def _first(items: Iterable[Batch], count: int) -> Iterator[Batch]:
    for i, item in enumerate(items):
        if i >= count:
            return
        yield item


def _status(trace: Sequence[float]) -> Status:
    """Converged, if the last tenth of the estimates is no higher than the tenth before, but for their own spread."""
    if not trace:
        return "interrupted"
    tenth = len(trace) // 10
    if tenth < 2:
        return "iteration limit"
    before, last = np.array(trace[-2 * tenth : -tenth]), np.array(trace[-tenth:])
    spread = np.sqrt((before.var(ddof=1) + last.var(ddof=1)) / tenth)
    is_flat = last.mean() - before.mean() < 2.0 * spread + 1e-3 * abs(last.mean())
    return "converged" if is_flat else "iteration limit"
