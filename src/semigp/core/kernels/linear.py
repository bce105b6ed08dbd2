"""The linear kernel Σ_d v_d x_d z_d. Its expectations are first and second moments of the rows."""

import jax.numpy as jnp
from jaxtyping import Float

from ..numerics.pytrees import pytree, static
from ..numerics.types import Array
from .base import Kernel, active_dims, check_dims, check_parameter, second_moment, tidy_fields
from .spectral import LinearFeatures


@pytree
class Linear(Kernel):
    """Σ_d v_d x_d z_d, with a variance per input (ARD) or one for all."""

    variances: Float[Array, " q"] | float = 1.0
    dims: tuple[int, ...] | None = static(default=None)

    def __post_init__(self):
        tidy_fields(self, "variances")

    def scales(self, n_inputs: int) -> Float[Array, " q"]:
        """v_d for every input, 0 for inputs outside `dims`."""
        dims = active_dims(self.dims, n_inputs)
        values = jnp.broadcast_to(jnp.asarray(self.variances), (len(dims),))
        return jnp.zeros(n_inputs).at[jnp.array(dims)].set(values)

    def check(self, n_inputs):
        dims = active_dims(self.dims, n_inputs)
        check_dims("Linear", dims, n_inputs)
        check_parameter("Linear", "variances", self.variances, (len(dims),))

    def psi0(self, mean, variance):
        return jnp.einsum("nii,i->n", second_moment(mean, variance), self.scales(mean.shape[1]))

    def psi1(self, mean, variance, inducing):
        return (mean * self.scales(mean.shape[1])) @ inducing.T

    def psi1_centred(self, mean, variance, inducing):
        slopes = inducing * self.scales(mean.shape[1])  # k(x, z) = x · slopes
        if variance.ndim == 3:
            return jnp.einsum("nij,mj->nmi", variance, slopes)
        return variance[:, None, :] * slopes

    def psi2_sums(self, inducing, is_full):
        def moments(mean, variance, weights):  # Σ w E[x xᵀ]
            if is_full:
                spread = jnp.einsum("ng,nij->gij", weights, variance)
            else:
                spread = (weights.T @ variance)[:, :, None] * jnp.eye(mean.shape[1])
            return jnp.einsum("ng,ni,nj->gij", weights, mean, mean) + spread

        slopes = inducing * self.scales(inducing.shape[1])
        return moments, lambda total: jnp.einsum("mi,gij,kj->gmk", slopes, total, slopes)

    def psi2_rows(self, mean, variance, inducing):
        slopes = inducing * self.scales(mean.shape[1])
        return jnp.einsum("mi,nij,kj->nmk", slopes, second_moment(mean, variance), slopes)

    def feature_map(self, key, n_features, n_inputs):
        return LinearFeatures(jnp.sqrt(self.scales(n_inputs)))
