"""Whole functions drawn from the posterior, by Matheron's rule.

    f(·) = φ(·)ᵀ w + k(·, Z) K_uu⁻¹ (u - φ(Z)ᵀ w),    w ~ N(0, I),  u ~ q(U)

The first term is a draw from the prior in random features φ. Every draw has its own features. The mean and covariance
over draws are then unbiased, whatever the number of features.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..kernels import Kernel
from ..kernels.spectral import FeatureMap
from ..numerics import checks
from ..numerics.chunks import map_rows, rows_per_chunk
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array


@pytree
class FunctionDraws:
    """s draws from the posterior, each of p functions, one per output."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    features: FeatureMap  # one map per draw: the first axis of every leaf is the draws
    feature_weights: Float[Array, "s f p"]
    inducing_weights: Float[Array, "s m p"]

    @property
    def n_samples(self) -> int:
        """The number of draws, s."""
        return self.feature_weights.shape[0]

    def __call__(self, inputs: Any) -> Float[Array, "s n p"]:
        """The values of all draws at the same inputs (n, q)."""
        checks.check_matrix("inputs", inputs, self.inducing_inputs.shape[1], "the model")
        chunk = rows_per_chunk(np.shape(inputs)[0], self.feature_weights.shape[0] * self.feature_weights.shape[1])
        return in_float64(functools.partial(_all_at, chunk))(self, *checks.as_arrays(inputs))

    def each(self, inputs: Any) -> Float[Array, "s p"]:
        """The values of the draws, each at its own input: draw i at row i of `inputs` (s, q)."""
        checks.check_matrix("inputs", inputs, self.inducing_inputs.shape[1], "the model")
        if np.shape(inputs)[0] != self.n_samples:
            raise ValueError(f"inputs has {np.shape(inputs)[0]} rows; each of {self.n_samples} draws needs one.")
        (inputs,) = checks.as_arrays(inputs)
        return _each_along(self, inputs[:, None])[:, 0]

    def along(self, inputs: Any) -> Float[Array, "s n p"]:
        """The values of the draws, each at its own inputs: draw i at `inputs[i]`, of (s, n, q)."""
        if np.shape(inputs)[0] != self.n_samples:
            raise ValueError(
                f"inputs has {np.shape(inputs)[0]} sets of rows; each of {self.n_samples} draws needs one."
            )
        return _each_along(self, *checks.as_arrays(inputs))


def evaluate(kernel, inducing, features, feature_weights, inducing_weights, inputs):
    """The values of one draw at inputs (n, q), inside a compiled program."""
    return features(inputs) @ feature_weights + kernel.cross(inputs, inducing) @ inducing_weights


@functools.partial(jax.jit, static_argnums=0)
def _all_at(chunk: int, draws: FunctionDraws, inputs):
    def rows(block):
        one = lambda f, a, b: evaluate(draws.kernel, draws.inducing_inputs, f, a, b, block)  # noqa: E731
        return jax.vmap(one, out_axes=1)(draws.features, draws.feature_weights, draws.inducing_weights)  # [rows, s, p]

    return jnp.swapaxes(map_rows(rows, inputs, chunk), 0, 1)


@in_float64
@jax.jit
def _each_along(draws: FunctionDraws, inputs):
    one = lambda f, a, b, x: evaluate(draws.kernel, draws.inducing_inputs, f, a, b, x)  # noqa: E731
    return jax.vmap(one)(draws.features, draws.feature_weights, draws.inducing_weights, inputs)


def draw_functions(
    key: Any,
    kernel: Kernel,
    inducing: Float[Array, "m q"],
    cholesky: Float[Array, "m m"],
    jitter: Float[Array, ""],
    output_scale: Float[Array, " p"],
    corrections: Callable[[Any], Float[Array, "m p"]],
    n_samples: int,
    n_features: int,
) -> FunctionDraws:
    """Draw `n_samples` functions per output; `corrections(key)` draws K_uu⁻¹ u."""
    m, p = inducing.shape[0], output_scale.shape[0]
    # K_uu has jitter on its diagonal. So the same jitter is noise on the prior draw's values at Z.
    nugget = jnp.sqrt(jitter * jnp.mean(jnp.diagonal(kernel.gram(inducing))))

    def one(key):
        key_map, key_weights, key_nugget, key_inducing = jax.random.split(key, 4)
        features = kernel.feature_map(key_map, n_features, inducing.shape[1])
        at_inducing = features(inducing)  # [m, f]
        weights = jax.random.normal(key_weights, (at_inducing.shape[1], p), jnp.float64)
        values = at_inducing @ weights + nugget * jax.random.normal(key_nugget, (m, p), jnp.float64)
        correction = corrections(key_inducing) - jax.scipy.linalg.cho_solve((cholesky, True), values)
        return features, weights * output_scale, correction * output_scale

    features, feature_weights, inducing_weights = jax.vmap(one)(jax.random.split(key, n_samples))
    return FunctionDraws(kernel, inducing, features, feature_weights, inducing_weights)
