"""The bound in batches. q(U) is a parameter that moves by natural-gradient steps; Adam moves the rest (`stream.fit`).

With L Lᵀ = K_uu and v = L⁻¹u, p(v) is N(0, I), and the best q(v_d) has the natural parameters

    β_d a_d/s_d   and   I + β_d C,      C = L⁻¹ Ψ2 L⁻ᵀ,      a = L⁻¹ Ψ1ᵀ Y,

which are linear in sums over rows. A natural-gradient step of length ρ is C ← (1-ρ) C + ρ Ĉ, where Ĉ is C of a batch,
scaled up to all rows. The same step is taken for a (Hensman et al. 2013). The fit stores C and a, because they stay
meaningful while kernel, inducing inputs and noise move. Given q(v), the objective of a batch of B rows out of n is

    n/B [E log p(Y_B | X_B, U) - KL(q(X_B) ‖ p(X_B))] - KL(q(v) ‖ N(0, I)) + log p(θ),

which is an unbiased estimate of the objective of all rows. If the batch is all rows, and C and a are computed from
them, it is the collapsed bound. q(x) of a row comes from `rows.few_steps`. It is at its optimum there, so that nothing
has to be differentiated through it.
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
    """The parameters that Adam and L-BFGS optimise. Unconstrained, all but the inducing inputs are logarithms."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    noise_variance: Float[Array, ""] | Float[Array, " p"]
    output_scale: Float[Array, ""] | Float[Array, " p"]

    @classmethod
    def of(cls, model: Model) -> Parameters:
        """The parameters of a fitted model."""
        return cls(model.kernel, model.inducing_inputs, model.noise_variance, model.output_scale)

    def map_positive(self, function: Callable) -> Parameters:
        """The parameters with `function` applied to every positive one."""
        changed = jax.tree.map(function, self)
        return replace(changed, inducing_inputs=self.inducing_inputs)


# Parameters in natural units, from logarithms.
natural_units = jax.jit(lambda free: free.map_positive(jnp.exp))


@pytree
class Whitened:
    """q(v), stored as the sums C and a that determine its natural parameters."""

    moment: Float[Array, "g m m"]  # C
    projected: Float[Array, "m p"]  # a
    group: Int[Array, " p"]

    @classmethod
    def of(cls, cholesky: Float[Array, "m m"], statistics: Statistics, scale: Any = 1.0) -> Whitened:
        """The best q(v) for all rows, if their statistics are `scale` times those given."""

        def both_sides(psi2):
            return solve_lower(cholesky, solve_lower(cholesky, psi2).T)

        moment = jax.lax.map(both_sides, scale * statistics.psi2)
        return cls(moment, solve_lower(cholesky, scale * statistics.psi1_y), statistics.group)

    def towards(self, other: Whitened, step: Any) -> Whitened:
        """The mixture (1 - step) · self + step · other: a natural-gradient step."""
        mix = jax.tree.map(lambda old, new: (1.0 - step) * old + step * new, self, other)
        return replace(mix, group=self.group)


@pytree
class Inferred:
    """q(x) of the incomplete rows of a batch, and its KL divergence from the prior."""

    mean: Float[Array, "n q"]
    variance: Float[Array, "n q"]
    kl: Float[Array, ""]  # KL(q(X) ‖ p(X))


@pytree
class Batch:
    """A sample of all rows: complete rows, incomplete rows, and how many rows of the data each one stands for."""

    observed: Block | None
    incomplete: IncompleteRows | None
    scale: Float[Array, ""] | float

    def blocks(self, inferred: Inferred | None) -> tuple[Block, ...]:
        """The complete rows, and the incomplete rows with their inferred q(x)."""
        blocks = () if self.observed is None else (self.observed,)
        if self.incomplete is None or inferred is None:
            return blocks
        return (*blocks, Block(inferred.mean, inferred.variance, self.incomplete.targets))


@pytree
class Setting:
    """What stays the same during a fit."""

    prior: GaussianPrior
    known: KnownRows
    hyperpriors: dict[str, LogNormal]
    jitter: Float[Array, ""] | float = 1e-6


@jax.jit
def best_whitened(parameters: Parameters, statistics: Statistics, setting: Setting, scale: Any = 1.0) -> Whitened:
    """The best q(v) for all rows, if their statistics are `scale` times those given."""
    cholesky, _ = _cholesky(parameters.kernel.gram(parameters.inducing_inputs), setting.jitter)
    return Whitened.of(cholesky, statistics, scale)


@jax.jit
def whitened_from_blocks(parameters: Parameters, blocks: tuple[Block, ...], setting: Setting, scale: Any) -> Whitened:
    """The best q(v) for all rows, if their statistics are `scale` times those of `blocks`, whose q(x) is known."""
    return best_whitened(parameters, collect(parameters.kernel, parameters.inducing_inputs, blocks), setting, scale)


def posterior_of(parameters: Parameters, q: Whitened, setting: Setting) -> Posterior:
    """q(U) for given C and a, differentiable in the parameters."""
    gram = parameters.kernel.gram(parameters.inducing_inputs)
    cholesky, jitter = _cholesky(gram, setting.jitter)
    # One matrix after the other, and not differentiated: see `factorise`.
    eigenvalues, basis = jax.lax.map(lambda moment: tuple(jnp.linalg.eigh(moment)), jax.lax.stop_gradient(q.moment))
    directions = jnp.stack([solve_lower(cholesky, each, transpose=True) for each in basis])  # T = L⁻ᵀ U
    likelihood = Likelihood.of(parameters.noise_variance, parameters.output_scale, q.projected.shape[1])
    projected = rotate(jnp.swapaxes(basis, 1, 2), q.projected, q.group) / likelihood.output_scale
    factors = Factors(cholesky, jitter, jnp.maximum(eigenvalues, 0.0), directions, projected, q.group)
    return Posterior(parameters.kernel, parameters.inducing_inputs, likelihood, factors)


def _cholesky(gram: Float[Array, "m m"], jitter: Any) -> tuple[Float[Array, "m m"], Float[Array, ""]]:
    """L and the jitter that it needed. L is differentiable."""
    _, needed = jittered_cholesky(jax.lax.stop_gradient(gram), jnp.asarray(jitter))
    nugget = needed * jnp.mean(jnp.diagonal(gram))
    return jnp.linalg.cholesky(gram + nugget * jnp.eye(len(gram))), needed


@jax.jit  # a program of its own: steps and whole passes share it
def infer(parameters: Parameters, q: Whitened, rows: IncompleteRows | None, setting: Setting) -> Inferred | None:
    """q(x) of the incomplete rows given q(U), or None if no row is incomplete."""
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
    """The log density of the hyperpriors, log p(θ)."""
    names = ("kernel", "noise_variance", "output_scale")
    return log_hyperprior(by_path({name: getattr(parameters, name) for name in names}), setting.hyperpriors)


def _kl_inducing(posterior: Posterior) -> Float[Array, ""]:
    """KL(q(v) ‖ N(0, I)), in the coordinates in which q(v) has variances 1/(1 + βλ)."""
    variance, mean = posterior.shrinkage, posterior.coefficients
    return 0.5 * jnp.sum(variance + mean**2 - 1.0 - jnp.log(variance))
