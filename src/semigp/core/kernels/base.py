"""The contract of a kernel: a covariance function with expectations under Gaussian inputs.

Shapes: n rows, q inputs, m inducing points, g groups of outputs (each with its own 0/1 weight per row). A row is
N(mean, variance) with `variance` (n, q) for independent entries or (n, q, q) for a full covariance. An entry with
variance 0 is a Dirac, and its expectations are exact.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ..numerics.types import Array

if TYPE_CHECKING:
    from .spectral import FeatureMap

Mean = Float[Array, "n q"]
Variance = Float[Array, "n q"] | Float[Array, "n q q"]
Inducing = Float[Array, "m q"]
Weights = Float[Array, "n g"]


class Kernel(abc.ABC):
    """Covariance function with exact expectations ψ0, ψ1, ψ2. All its parameters are positive."""

    @abc.abstractmethod
    def psi0(self, mean: Mean, variance: Variance) -> Float[Array, " n"]:
        """ψ0 = E[k(x, x)], the expected variance at each row."""

    @abc.abstractmethod
    def psi1(self, mean: Mean, variance: Variance, inducing: Inducing) -> Float[Array, "n m"]:
        """ψ1 = E[k(x, z)] between each row and each inducing point."""

    @abc.abstractmethod
    def psi1_centred(self, mean: Mean, variance: Variance, inducing: Inducing) -> Float[Array, "n m q"]:
        """E[(x - μ) k(x, z)], which is cov(x, k(x, z))."""

    @abc.abstractmethod
    def psi2_sums(self, inducing: Inducing, is_full: bool) -> tuple[Callable[..., Array], Callable[[Array], Array]]:
        """Two functions: (mean, variance, weights) → sums over these rows, and total of such sums → Ψ2 [g, m, m].

        Everything that depends on the inducing points alone is computed once, outside the loop over chunks of rows.
        `is_full` says whether the variances will be full covariances.
        """

    def psi2(self, mean: Mean, variance: Variance, inducing: Inducing, weights: Weights) -> Float[Array, "g m m"]:
        """Ψ2 = Σ_n w_ng E[k(x_n, z) k(x_n, z')] for each group of outputs."""
        sums, finish = self.psi2_sums(inducing, variance.ndim == 3)
        return finish(sums(mean, variance, weights))

    @abc.abstractmethod
    def psi2_rows(self, mean: Mean, variance: Variance, inducing: Inducing) -> Float[Array, "n m m"]:
        """E[k(x_n, z) k(x_n, z')], row by row."""

    def psi2_products(
        self, inducing: Inducing, forms: Float[Array, "#n m m"]
    ) -> Callable[[Mean, Variance], Float[Array, " n"]]:
        """(mean, variance) → Σ_ij C_n,ij E[k(x_n, z_i) k(x_n, z_j)], for one symmetric C or one per row (`forms`)."""
        return lambda mean, variance: jnp.sum(forms * self.psi2_rows(mean, variance, inducing), axis=(1, 2))

    @abc.abstractmethod
    def feature_map(self, key: PRNGKeyArray, n_features: int, n_inputs: int) -> FeatureMap:
        """Random features φ with E[φ(x)ᵀφ(x')] = k(x, x'). A weighted sum of them is a draw of a whole function."""

    @abc.abstractmethod
    def check(self, n_inputs: int) -> None:
        """Raise ValueError if a parameter is not positive or does not fit `n_inputs` columns."""

    def nodes_per_pair(self, n_inputs: int) -> int:
        """Numbers in memory per row and pair of inducing points: 1, or the number of quadrature nodes."""
        return 1

    def numbers_per_row(self, n_inducing: int, n_inputs: int, n_groups: int, is_full: bool) -> int:
        """Numbers in memory per row while statistics are summed; `is_full` if the row has a full covariance."""
        return n_inducing * n_inputs

    def cross(self, inputs: Float[Array, "n q"], inducing: Inducing) -> Float[Array, "n m"]:
        """k(x, z) at exactly known inputs: ψ1 of Diracs."""
        return self.psi1(inputs, jnp.zeros_like(inputs), inducing)

    def gram(self, inputs: Float[Array, "m q"]) -> Float[Array, "m m"]:
        """k(z, z') between all pairs of the points."""
        return self.cross(inputs, inputs)

    def diag(self, inputs: Float[Array, "n q"]) -> Float[Array, " n"]:
        """k(x, x) at exactly known inputs: ψ0 of Diracs."""
        return self.psi0(inputs, jnp.zeros_like(inputs))

    def __add__(self, other: Any) -> Kernel:
        from .sums import Sum

        return Sum.of(self, other)

    def __radd__(self, other: Any) -> Kernel:
        # sum([k₁, k₂]) begins with 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from .separable import Product

        return Product.of(self, other)


def second_moment(mean: Mean, variance: Variance) -> Float[Array, "n q q"]:
    """E[x xᵀ], row by row."""
    spread = variance if variance.ndim == 3 else variance[:, :, None] * jnp.eye(mean.shape[1])
    return mean[:, :, None] * mean[:, None, :] + spread


def active_dims(dims: tuple[int, ...] | None, n_inputs: int) -> tuple[int, ...]:
    """The columns on which a kernel acts: `dims`, or all columns if it is None."""
    return tuple(range(n_inputs)) if dims is None else dims


def tidy_fields(kernel: Any, parameter: str) -> None:
    """Turn lists and integers into float arrays, and `dims` into a tuple. Other values are left for `check`."""
    value, dims = getattr(kernel, parameter), kernel.dims
    is_integer_array = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    if isinstance(value, (list, tuple)) or is_integer_array:
        object.__setattr__(kernel, parameter, np.asarray(value, float))
    if isinstance(dims, (int, np.integer)):
        object.__setattr__(kernel, "dims", (int(dims),))
    elif isinstance(dims, list):
        object.__setattr__(kernel, "dims", tuple(dims))


def check_dims(kernel: str, dims: tuple[int, ...], n_inputs: int) -> None:
    """Raise ValueError unless `dims` are distinct columns between 0 and `n_inputs` - 1."""
    is_column = all(isinstance(d, (int, np.integer)) and 0 <= d < n_inputs for d in dims)
    if not dims or not is_column or len(set(dims)) < len(dims):
        raise ValueError(f"{kernel}: dims {dims} must be distinct columns between 0 and {n_inputs - 1}.")


def check_parameter(kernel: str, name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `value` is one positive number, or an array of them with this shape.

    Of traced values, only the shape is checked.
    """
    if not isinstance(value, jax.core.Tracer) and np.asarray(value).dtype.kind not in "fiu":
        raise ValueError(f"{kernel}: {name} is {value!r}; it must be a number or an array of numbers.")
    if np.shape(value) not in ((), shape):
        wanted = f"one number or an array of shape {shape}" if shape else "one number"
        raise ValueError(f"{kernel}: {name} has shape {np.shape(value)}; give {wanted}.")
    if isinstance(value, jax.core.Tracer):
        return
    if not np.all(np.isfinite(value)) or np.any(np.asarray(value) <= 0):
        raise ValueError(f"{kernel}: {name} is {value}; it must be positive and finite.")
