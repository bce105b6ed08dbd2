"""Kernels that do not depend on the inputs: a constant offset, and independent noise."""

import jax.numpy as jnp
from jaxtyping import Float

from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .base import Kernel, check_parameter
from .spectral import ConstantFeature


@pytree
class Bias(Kernel):
    """k(x, z) = v for every pair of inputs: an unknown constant is added to the function."""

    variance: Float[Array, ""] | float = 1.0

    def check(self, n_inputs):
        check_parameter("Bias", "variance", self.variance, ())

    def psi0(self, mean, variance):
        return jnp.full(mean.shape[0], self.variance)

    def psi1(self, mean, variance, inducing):
        return jnp.full((mean.shape[0], inducing.shape[0]), self.variance)

    def psi1_centred(self, mean, variance, inducing):
        return jnp.zeros((mean.shape[0], *inducing.shape))

    def psi2_sums(self, inducing, is_full):
        shape = (1, inducing.shape[0], inducing.shape[0])
        return (
            lambda mean, variance, weights: jnp.sum(weights, axis=0),
            lambda total: self.variance**2 * total[:, None, None] * jnp.ones(shape),
        )

    def psi2_rows(self, mean, variance, inducing):
        m = inducing.shape[0]
        return jnp.full((mean.shape[0], m, m), self.variance**2)

    def feature_map(self, key, n_features, n_inputs):
        return ConstantFeature(jnp.sqrt(jnp.asarray(self.variance)))


@pytree
class White(Kernel):
    """Independent noise: v on the diagonal of K_uu and in k(x, x), and 0 between inputs and inducing points.

    A random input never coincides with an inducing point, and an exactly known input is treated in the same way.
    """

    variance: Float[Array, ""] | float = 1.0

    def check(self, n_inputs):
        check_parameter("White", "variance", self.variance, ())

    def gram(self, inputs):
        return self.variance * jnp.eye(inputs.shape[0])

    def psi0(self, mean, variance):
        return jnp.full(mean.shape[0], self.variance)

    def psi1(self, mean, variance, inducing):
        return jnp.zeros((mean.shape[0], inducing.shape[0]))

    def psi1_centred(self, mean, variance, inducing):
        return jnp.zeros((mean.shape[0], *inducing.shape))

    def psi2_sums(self, inducing, is_full):
        def nothing(mean, variance, weights):
            return jnp.zeros((weights.shape[1], inducing.shape[0], inducing.shape[0]))

        return nothing, lambda total: total

    def psi2_rows(self, mean, variance, inducing):
        return jnp.zeros((mean.shape[0], inducing.shape[0], inducing.shape[0]))

    def feature_map(self, key, n_features, n_inputs):
        raise ValueError(
            "White noise cannot be drawn as a smooth function: leave White out of the kernel and add its variance to "
            "noise_variance when you need function samples."
        )
