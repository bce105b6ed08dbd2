"""q(U) at its optimum, and its predictions at certain and at uncertain inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..inputs.beliefs import InputBelief
from ..kernels import Kernel
from ..numerics import checks
from ..numerics.chunks import map_rows, rows_per_chunk
from ..numerics.padding import padded_length
from ..numerics.precision import as_float64, in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .bound import Likelihood, make_blocks
from .factors import Factors, factorise, is_resolved, rotate
from .function_draws import FunctionDraws, draw_functions
from .statistics import Block, Statistics, collect


@pytree
class Posterior:
    """q(U) of appendix A, from the factors L, Λ, U, a, with outputs in units of their scales.

    q(u_d) = N(L U diag(β_d/(1+β_d λ)) a_d,  L U diag(1/(1+β_d λ)) Uᵀ Lᵀ).
    """

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    likelihood: Likelihood
    factors: Factors

    @property
    def jitter(self) -> Float[Array, ""]:
        """What was added to the diagonal of K_uu, relative to the diagonal's mean."""
        return self.factors.jitter

    @property
    def n_outputs(self) -> int:
        """The number of outputs, p."""
        return self.factors.projected.shape[1]

    @property
    def shrinkage(self) -> Float[Array, "m p"]:
        """1/(1 + β_d λ): the share of the prior variance that is left along each direction."""
        return self.factors.shrinkage(self.likelihood.precision)

    @property
    def coefficients(self) -> Float[Array, "m p"]:
        """β_d/(1 + β_d λ) a_d, the mean of q(U) in the coordinates L U."""
        return self.likelihood.precision * self.shrinkage * self.factors.projected

    @property
    def weights(self) -> Float[Array, "m p"]:
        """s_d K_uu⁻¹ E[u_d]: the predictive mean is k(x, Z) times this."""
        return self.likelihood.output_scale * rotate(self.factors.directions, self.coefficients, self.factors.group)

    def predict(self, belief: InputBelief) -> tuple[Float[Array, "k p"], Float[Array, "k p"]]:
        """Exact mean and variance of the latent functions f_d(x) for every row of the belief."""
        return self._for_rows(_moments_by_chunks, belief)

    def covariance(self, belief: InputBelief) -> Float[Array, "k p p"]:
        """Exact covariance between the outputs f(x). Outputs that share an uncertain input are correlated."""
        return self._for_rows(_output_covariance_by_chunks, belief)

    def input_output_covariance(self, belief: InputBelief) -> Float[Array, "k q p"]:
        """E[x f] - E[x] E[f] for every row of the belief."""
        return self._for_rows(_input_output_covariance_by_chunks, belief)

    def moments(self, mean: Float[Array, "k q"], variance: Any) -> tuple[Float[Array, "k p"], Float[Array, "k p"]]:
        """The same as `predict`, for a few rows inside a compiled program. Variance None means certain inputs."""
        return _moments(self, mean, variance)

    def input_covariance(self, mean: Float[Array, "k q"], variance: Any) -> Float[Array, "k q p"]:
        """The same as `input_output_covariance`, for a few rows inside a compiled program."""
        return _input_output_covariance(self, mean, variance)

    def inducing_distribution(self) -> tuple[Float[Array, "m p"], Float[Array, "p m m"]]:
        """Mean and covariance of q(u_d) for every output, in the outputs' own units."""
        return _inducing_distribution(self)

    def sample_functions(self, key: Any, n_samples: int, n_features: int = 1000) -> FunctionDraws:
        """Draw whole functions from the posterior. They can be evaluated at any inputs, as often as needed."""
        checks.check_count("n_samples", n_samples)
        checks.check_count("n_features", n_features)
        with jax.enable_x64(True):
            return _sample_functions(jax.tree.map(as_float64, self), key, int(n_samples), int(n_features))

    def draw(self, key: Any, n_samples: int, n_features: int) -> FunctionDraws:
        """The same as `sample_functions`, inside a compiled program."""
        return _sample_functions(self, key, n_samples, n_features)

    def _for_rows(self, quantity: Callable, belief: InputBelief) -> Any:
        if belief.n_inputs != self.inducing_inputs.shape[1]:
            raise ValueError(
                f"The belief has {belief.n_inputs} inputs but the model has {self.inducing_inputs.shape[1]}."
            )
        rows, means, variances = zip(*belief.blocks(), strict=True)
        blocks = [quantity(self, mean, variance) for mean, variance in zip(means, variances, strict=True)]
        if len(blocks) == 1:
            return blocks[0]
        order = np.argsort(np.concatenate(rows))
        return _join(blocks, order)


@in_float64
def _join(blocks: list, order: np.ndarray) -> Any:
    """The rows of all blocks, in their original order."""
    return jax.tree.map(lambda *parts: jnp.concatenate(parts)[order], *blocks)


def _by_chunks(quantity: Callable) -> Callable:
    """A function that computes a per-row quantity chunk by chunk, compiled, in float64.

    `quantity` takes the posterior, and mean and variance of rows. The variance is None for certain inputs.
    """

    @functools.partial(jax.jit, static_argnums=3)
    def compiled(posterior, mean, variance, chunk):
        if variance is None:
            return map_rows(lambda rows: quantity(posterior, rows, None), mean, chunk)
        return map_rows(lambda rows: quantity(posterior, *rows), (mean, variance), chunk)

    @in_float64
    def run(posterior: Posterior, mean: Any, variance: Any) -> Any:
        m = posterior.inducing_inputs.shape[0]
        per_group = m if variance is None else m * m * posterior.kernel.nodes_per_pair(mean.shape[1])
        per_row = per_group * posterior.factors.eigenvalues.shape[0]
        n, padded = mean.shape[0], padded_length(mean.shape[0])
        # The number of rows is rounded up, so that a new number of rows seldom needs a new compilation.
        mean, variance = jax.tree.map(lambda rows: rows[jnp.minimum(jnp.arange(padded), n - 1)], (mean, variance))
        result = compiled(posterior, mean, variance, rows_per_chunk(padded, per_row))
        return jax.tree.map(lambda rows: rows[:n], result)

    return run


def _moments(posterior: Posterior, mean, variance):
    """E[f_d] = ψ1 α_d;  V[f_d] = s² (ψ0 - Σ_k V_kk βλ/(1+βλ)) + α_dᵀ (Ψ2 - ψ1ψ1ᵀ) α_d,  V = UᵀL⁻¹ Ψ2 L⁻ᵀU."""
    weights = posterior.weights
    if variance is None:
        cross = posterior.kernel.cross(mean, posterior.inducing_inputs)
        return cross @ weights, _conditional_variance(posterior, mean, None, cross)
    psi1 = posterior.kernel.psi1(mean, variance, posterior.inducing_inputs)
    psi2 = posterior.kernel.psi2_rows(mean, variance, posterior.inducing_inputs)
    expected = psi1 @ weights
    spread = jnp.sum((psi2 @ weights) * weights, axis=1) - expected**2
    return expected, _conditional_variance(posterior, mean, variance, psi2) + jnp.maximum(spread, 0.0)


def _conditional_variance(posterior: Posterior, mean, variance, moment):
    """E_x[V[f_d | x]], from k(x, Z) [n, m] at certain inputs and from Ψ2 [n, m, m] at uncertain ones."""
    if variance is None:
        projected = jnp.einsum("nm,gmk->gnk", moment, posterior.factors.directions) ** 2
        prior = posterior.kernel.diag(mean)
    else:
        directions = posterior.factors.directions[:, None]
        projected = jnp.sum((moment @ directions) * directions, axis=2)
        prior = posterior.kernel.psi0(mean, variance)
    explained = 1.0 - posterior.shrinkage  # βλ/(1 + βλ)   [m, p]
    if posterior.factors.directions.shape[0] == 1:
        reduction = projected[0] @ explained
    else:
        reduction = jnp.einsum("dnk,kd->nd", projected[posterior.factors.group], explained)
    return posterior.likelihood.output_scale**2 * jnp.maximum(prior[:, None] - reduction, 0.0)


def _output_covariance(posterior: Posterior, mean, variance):
    """The conditional variances on the diagonal, and cov(E[f_d | x], E[f_e | x]) = α_dᵀ (Ψ2 - ψ1ψ1ᵀ) α_e everywhere."""
    eye = jnp.eye(posterior.n_outputs)
    if variance is None:
        cross = posterior.kernel.cross(mean, posterior.inducing_inputs)
        return _conditional_variance(posterior, mean, None, cross)[:, :, None] * eye
    weights = posterior.weights
    psi2 = posterior.kernel.psi2_rows(mean, variance, posterior.inducing_inputs)
    expected = posterior.kernel.psi1(mean, variance, posterior.inducing_inputs) @ weights
    spread = jnp.swapaxes(psi2 @ weights, 1, 2) @ weights - expected[:, :, None] * expected[:, None, :]
    return _conditional_variance(posterior, mean, variance, psi2)[:, :, None] * eye + spread


def _input_output_covariance(posterior: Posterior, mean, variance):
    """cov(x, f_d) = E[(x - μ) k(x, Z)] α_d."""
    if variance is None:
        return jnp.zeros((*mean.shape, posterior.n_outputs))
    centred = posterior.kernel.psi1_centred(mean, variance, posterior.inducing_inputs)
    return jnp.einsum("nmq,mp->nqp", centred, posterior.weights)


_moments_by_chunks = _by_chunks(_moments)
_output_covariance_by_chunks = _by_chunks(_output_covariance)
_input_output_covariance_by_chunks = _by_chunks(_input_output_covariance)


@in_float64
@jax.jit
def _inducing_distribution(posterior: Posterior):
    # L U = (K_uu + jitter) L⁻ᵀ U
    axes = posterior.factors.cholesky @ posterior.factors.cholesky.T @ posterior.factors.directions  # [g, m, m]
    scale = posterior.likelihood.output_scale
    mean = scale * rotate(axes, posterior.coefficients, posterior.factors.group)
    half = axes[posterior.factors.group] * jnp.sqrt(posterior.shrinkage.T)[:, None, :] * scale[:, None, None]
    return mean, half @ jnp.swapaxes(half, 1, 2)


def _draw_weights(posterior: Posterior, key: Any) -> Float[Array, "m p"]:
    """K_uu⁻¹ u with u from q(U): T (β/(1+βλ) a + ξ/√(1+βλ))."""
    noise = jax.random.normal(key, posterior.coefficients.shape, jnp.float64)
    columns = posterior.coefficients + jnp.sqrt(posterior.shrinkage) * noise
    return rotate(posterior.factors.directions, columns, posterior.factors.group)


@functools.partial(jax.jit, static_argnums=(2, 3))
def _sample_functions(posterior: Posterior, key, n_samples: int, n_features: int) -> FunctionDraws:
    return draw_functions(
        key, posterior.kernel, posterior.inducing_inputs, posterior.factors.cholesky, posterior.jitter,
        posterior.likelihood.output_scale, functools.partial(_draw_weights, posterior), n_samples, n_features,
    )  # fmt: skip


@jax.jit
def posterior_from_blocks(
    kernel: Kernel,
    blocks: tuple[Block, ...],
    inducing: Float[Array, "m q"],
    noise_variance: Float[Array, ...],
    output_scale: Float[Array, ...],
    jitter: Float[Array, ""],
) -> tuple[Posterior, Bool[Array, ""]]:
    """The optimal q(U) given all parameters, and whether rounding errors are small enough in float64."""
    statistics = collect(kernel, inducing, blocks)
    return posterior_from_statistics(kernel, statistics, inducing, noise_variance, output_scale, jitter)


def posterior_from_statistics(
    kernel: Kernel,
    statistics: Statistics,
    inducing: Float[Array, "m q"],
    noise_variance: Float[Array, ...],
    output_scale: Float[Array, ...],
    jitter: Float[Array, ""],
) -> tuple[Posterior, Bool[Array, ""]]:
    """The same as `posterior_from_blocks`, from statistics that are already summed over the rows."""
    likelihood = Likelihood.of(noise_variance, output_scale, statistics.counts.shape[0])
    statistics = statistics.in_units_of(likelihood.output_scale)
    factors = factorise(kernel.gram(inducing), statistics, jitter)
    resolved = is_resolved(factors, statistics, likelihood.precision)
    return Posterior(kernel, inducing, likelihood, factors), resolved


def resolved_posterior(posterior: Posterior, resolved: Any) -> Posterior:
    """The posterior, unless rounding errors are too large, which raises FloatingPointError.

    While JAX traces a program, this cannot be checked, and the posterior is returned.
    """
    if checks.is_traced(resolved) or resolved:
        return posterior
    raise FloatingPointError(
        "float64 cannot resolve this posterior: the noise variance or the jitter is too small for the data. "
        "Raise the jitter (1e-6 suits most data) or the noise variance."
    )


def fit_posterior(
    kernel: Kernel,
    belief: InputBelief,
    inducing_inputs: Any,
    targets: Any,
    noise_variance: Any,
    jitter: Any = 1e-6,
    output_scale: Any = 1.0,
) -> Posterior:
    """The optimal q(U) (appendix A) for given parameters. The arguments are those of `collapsed_bound`."""
    inducing_inputs, targets, noise_variance, output_scale = checks.as_arrays(
        inducing_inputs, targets, noise_variance, output_scale
    )
    checks.check_model(kernel, belief, inducing_inputs, targets, noise_variance, output_scale, jitter)
    blocks = make_blocks(belief, targets)
    return resolved_posterior(
        *in_float64(posterior_from_blocks)(kernel, blocks, inducing_inputs, noise_variance, output_scale, jitter)
    )
