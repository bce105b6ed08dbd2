"""The bound in batches: q(U) explicit, natural-gradient steps for it, Adam for the rest (`stream` has the fit).

With L Lᵀ = K_uu and v = L⁻¹u, p(v) = N(0, I), the best q(v_d) has the natural parameters

    β_d a_d/s_d   and   I + β_d C,      C = L⁻¹ Ψ2 L⁻ᵀ,      a = L⁻¹ Ψ1ᵀ Y,

which are linear in sums over rows. A natural-gradient step of length ρ is C ← (1-ρ) C + ρ Ĉ, with Ĉ of a batch scaled
up to all rows, and the same for a (Hensman et al. 2013). C and a are what is kept: they stay meaningful while kernel,
inducing inputs and noise move. Given q(v), the objective of a batch of B rows out of n is

    n/B [E log p(Y_B | X_B, U) - KL(q(X_B) ‖ p(X_B))] - KL(q(v) ‖ N(0, I)) + log p(θ),

unbiased, and with all rows and C and a of these, the collapsed bound. q(x) of a row comes from `rows.few_steps`; it is
at its optimum there, so that nothing is differentiated through it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Float, Int

from ..hyperpriors import LogNormal, log_hyperprior
from ..inputs.priors import GaussianPrior, kl_to_rows
from ..kernels import Kernel
from ..numerics.linalg import jittered_cholesky, solve_lower
from ..numerics.paths import by_path
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..rows.few_steps import KnownRows, infer_inputs
from ..rows.losses import IncompleteRows
from ..sparse.bound import Likelihood
from ..sparse.expected_likelihood import expected_log_likelihood
from ..sparse.factors import Factors, rotate
from ..sparse.model import Model
from ..sparse.posterior import Posterior
from ..sparse.statistics import Block, Statistics, collect


@pytree
class Parameters:
    """What Adam and L-BFGS move. Unconstrained, these are logarithms but for the inducing inputs."""

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


# From logarithms.
natural_units = jax.jit(lambda free: free.map_positive(jnp.exp))


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
class Inferred:
    """q(x) of a batch's incomplete rows, and how far it is from the prior."""

    mean: Float[Array, "n q"]
    variance: Float[Array, "n q"]
    kl: Float[Array, ""]  # KL(q(X) ‖ p(X))


@pytree
class Batch:
    """Rows that stand for all: complete ones, incomplete ones, and how many rows of all there are for each of them."""

    observed: Block | None
    incomplete: IncompleteRows | None
    scale: Float[Array, ""] | float

    def blocks(self, inferred: Inferred | None) -> tuple[Block, ...]:
        """The rows as beliefs."""
        blocks = () if self.observed is None else (self.observed,)
        if self.incomplete is None or inferred is None:
            return blocks
        return (*blocks, Block(inferred.mean, inferred.variance, self.incomplete.targets))


@pytree
class Setting:
    """What a fit takes for granted."""

    prior: GaussianPrior
    known: KnownRows
    hyperpriors: dict[str, LogNormal]
    jitter: Float[Array, ""] | float = 1e-6


@jax.jit
def best_whitened(parameters: Parameters, statistics: Statistics, setting: Setting, scale: Any = 1.0) -> Whitened:
    """The best q(v) for the statistics of a `scale`-th of all rows."""
    cholesky, _ = _cholesky(parameters.kernel.gram(parameters.inducing_inputs), setting.jitter)
    return Whitened.of(cholesky, statistics, scale)


@jax.jit
def whitened_from_blocks(parameters: Parameters, blocks: tuple[Block, ...], setting: Setting, scale: Any) -> Whitened:
    """The best q(v) for rows whose q(x) is known, a `scale`-th of all."""
    return best_whitened(parameters, collect(parameters.kernel, parameters.inducing_inputs, blocks), setting, scale)


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


@jax.jit  # a program of its own: steps and whole passes share it
def infer(parameters: Parameters, q: Whitened, rows: IncompleteRows | None, setting: Setting) -> Inferred | None:
    """q(x) by q(U), or None where no row lacks anything."""
    if rows is None:
        return None
    prior = setting.prior.for_rows(rows.values, rows.unknown)
    mean, variance = infer_inputs(posterior_of(parameters, q, setting), rows, prior, setting.known)
    return Inferred(mean, variance, kl_to_rows(mean, variance, prior, rows.unknown))


def batch_objective(
    parameters: Parameters, q: Whitened, batch: Batch, inferred: Inferred | None, setting: Setting
) -> tuple[Float[Array, ""], Whitened]:
    """The estimate of the bound, and the q(v) that would be best if all rows were like the batch."""
    posterior = posterior_of(parameters, q, setting)
    statistics = collect(parameters.kernel, parameters.inducing_inputs, batch.blocks(inferred))
    apart = 0.0 if inferred is None else inferred.kl
    value = batch.scale * (expected_log_likelihood(posterior, statistics) - apart) - _kl_inducing(posterior)
    value += log_prior(parameters, setting)
    return value, Whitened.of(posterior.factors.cholesky, statistics, batch.scale)


def log_prior(parameters: Parameters, setting: Setting) -> Float[Array, ""]:
    """Of the hyperparameters: log p(θ)."""
    names = ("kernel", "noise_variance", "output_scale")
    return log_hyperprior(by_path({name: getattr(parameters, name) for name in names}), setting.hyperpriors)


def _kl_inducing(posterior: Posterior) -> Float[Array, ""]:
    """KL(q(v) ‖ N(0, I)), in the coordinates in which q(v) has variances 1/(1 + βλ)."""
    variance, mean = posterior.shrinkage, posterior.coefficients
    return 0.5 * jnp.sum(variance + mean**2 - 1.0 - jnp.log(variance))
