"""The collapsed variational bound, eq:boundFinal and appendix A of the paper."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..inputs.beliefs import InputBelief
from ..kernels import Kernel
from ..numerics import checks
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .factors import evidence
from .statistics import Block, Statistics, collect
from .targets import Targets


@pytree
class Likelihood:
    """y_d = s_d g_d(x) + ε with ε ~ N(0, noise variance_d): the noise variance and signal scale of every output."""

    noise_variance: Float[Array, " p"]
    output_scale: Float[Array, " p"]  # s_d; the functions g_d all have the kernel's own variance

    @classmethod
    def of(cls, noise_variance: Any, output_scale: Any, n_outputs: int) -> Likelihood:
        """A likelihood with one number per output. A number that all outputs share is repeated."""
        spread = functools.partial(jnp.broadcast_to, shape=(n_outputs,))
        return cls(spread(jnp.asarray(noise_variance)), spread(jnp.asarray(output_scale)))

    @property
    def precision(self) -> Float[Array, " p"]:
        """β_d = s_d²/noise variance_d, the noise precision of each output in units of its scale."""
        return self.output_scale**2 / self.noise_variance


def bound_from_statistics(
    kernel: Kernel,
    inducing: Float[Array, "m q"],
    statistics: Statistics,
    likelihood: Likelihood,
    jitter: Float[Array, ""],
) -> Float[Array, ""]:
    """⟨F̂⟩ = -½ Σ_d N_d log(2π noise variance_d) + evidence, with Y in units of the output scales."""
    statistics, precision = statistics.in_units_of(likelihood.output_scale), likelihood.precision
    constants = -0.5 * jnp.sum(statistics.counts * jnp.log(2.0 * math.pi * likelihood.noise_variance))
    return constants + evidence(kernel.gram(inducing), statistics, precision, jitter)


def make_blocks(belief: InputBelief, targets: Any) -> tuple[Block, ...]:
    """The rows of a belief with their targets, in one block of observed rows and one of the others."""
    split = Targets.of(targets)
    return tuple(Block(mean, variance, split.take(rows)) for rows, mean, variance in belief.blocks())


@jax.jit
def _bound(kernel, blocks, inducing, noise_variance, output_scale, jitter):
    n_outputs = blocks[0].targets.values.shape[1]
    likelihood = Likelihood.of(noise_variance, output_scale, n_outputs)
    return bound_from_statistics(kernel, inducing, collect(kernel, inducing, blocks), likelihood, jitter)


_bound_in_float64 = in_float64(_bound)


def collapsed_bound(
    kernel: Kernel,
    belief: InputBelief,
    inducing_inputs: Any,
    targets: Any,
    noise_variance: Any,
    jitter: Any = 1e-6,
    output_scale: Any = 1.0,
) -> Float[Array, ""]:
    """⟨F̂⟩ of eq:boundFinal: the bound on ⟨log p(Y|X)⟩ with q(U) at its optimum, without KL(q(X) ‖ p(X)).

    Parameters
    ----------
    kernel : Kernel
    belief : InputBelief, n rows by q inputs
    inducing_inputs : (m, q)
    targets : (n, p)
        NaN where an output was not observed.
    noise_variance : positive number, or (p,)
    jitter : number
        This number times the mean of K_uu's diagonal is added to the diagonal. More is added if the factorisation
        needs it.
    output_scale : positive number, or (p,)
        The standard deviation of each output's signal, on top of the kernel's own variance.

    Returns
    -------
    The bound. It is NaN if the noise or the jitter is too small for float64 to compute it.
    """
    inducing_inputs, targets, noise_variance, output_scale = checks.as_arrays(
        inducing_inputs, targets, noise_variance, output_scale
    )
    checks.check_model(kernel, belief, inducing_inputs, targets, noise_variance, output_scale, jitter)
    return _bound_in_float64(
        kernel, make_blocks(belief, targets), inducing_inputs, noise_variance, output_scale, jitter
    )
