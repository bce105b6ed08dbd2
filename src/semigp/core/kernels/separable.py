"""Kernels that are products over input dimensions: RBF, Matérn per dimension, and products of these.

    k(x, z) = σ² Π_d k_d(x_d, z_d)

If the entries of x are independent, the expectation of a product of two such kernels is a product of one-dimensional
expectations. Gaussian factors have a closed form, computed for all dimensions at once (see `gaussian`). Every other
factor is integrated by one-dimensional quadrature under the tilted Gaussian: the belief times the Gaussian factors.
"""

from __future__ import annotations

import abc
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.linalg import diagonal, inverses
from ..numerics.pytrees import pytree, static
from ..numerics.types import Array
from . import fused, quadrature
from .base import Kernel, active_dims, check_dims, check_parameter, tidy_fields
from .gaussian import BumpPairs, squared_distances
from .linear import Linear
from .pairs import Diagonal, PairList, Triangle
from .spectral import CosineFeatures, gaussian_frequencies, student_frequencies


class Separable(Kernel):
    """σ² Π_d k_d. The kernel does not depend on dimensions that are neither Gaussian nor in `factors`."""

    @property
    @abc.abstractmethod
    def amplitude(self) -> Float[Array, ""]:
        """σ², the product of the factors' variances."""

    @abc.abstractmethod
    def precision(self, n_inputs: int) -> Float[Array, " q"]:
        """1/ℓ² for dimensions with a Gaussian factor, 0 elsewhere."""

    @abc.abstractmethod
    def factors(self, n_inputs: int) -> dict[int, quadrature.Factor]:
        """Dimension → factor, for the factors that need quadrature."""

    @abc.abstractmethod
    def frequencies(self, key, shape: tuple[int, int]) -> Float[Array, "q f"]:
        """Draws from the spectral density, 0 for dimensions on which the kernel does not depend."""

    def nodes_per_pair(self, n_inputs):
        return max(1, quadrature.N_NODES * len(self.factors(n_inputs)))

    def numbers_per_row(self, n_inducing, n_inputs, n_groups, is_full):
        n_features = n_inputs + (n_inputs**2 if is_full else n_inputs)
        if not self.factors(n_inputs) and fused.suits(n_features, n_groups):
            return n_inducing
        return n_inducing * (n_inducing + 1) // 2 * self.nodes_per_pair(n_inputs)

    def psi0(self, mean, variance):
        slopes = jnp.ones(mean.shape[0])
        for d, factor in self.factors(mean.shape[1]).items():
            if factor is quadrature.LINEAR:  # k_d(x, x) = x²; every other factor is 1 there
                slopes = slopes * (mean[:, d] ** 2 + diagonal(variance)[:, d])
        return self.amplitude * slopes

    def psi1(self, mean, variance, inducing):
        return PairExpectation(self, None, inducing, Diagonal(), variance.ndim == 3)(mean, variance)

    def cross(self, inputs, inducing):
        q = inputs.shape[1]
        bumps = BumpPairs.of(self.precision(q), jnp.zeros(q), self.amplitude, inducing, Diagonal(), is_full=False)
        value = bumps.expectations(inputs, jnp.zeros_like(inputs))
        for d, factor in self.factors(q).items():
            value = value * factor.value(inputs[:, d, None], inducing[:, d])
        return value

    def gram(self, inputs):
        q = inputs.shape[1]
        value = self.amplitude * jnp.exp(-0.5 * squared_distances(inputs, self.precision(q)))
        for d, factor in self.factors(q).items():
            value = value * factor.value(inputs[:, d, None], inputs[:, d])
        return value

    def psi1_centred(self, mean, variance, inducing):
        q = mean.shape[1]
        precision, factors = self.precision(q), self.factors(q)
        difference = inducing[None] - mean[:, None]  # [n, m, q]
        psi1 = self.psi1(mean, variance, inducing)[:, :, None]
        if variance.ndim == 3:
            _refuse_full(factors)
            # (I + Σ R)⁻¹ Σ R (z - μ): the tilt of a correlated Gaussian by the bump.
            gain = inverses(jnp.eye(q) + variance * precision)[0] @ (variance * precision)
            return psi1 * jnp.einsum("nij,nmj->nmi", gain, difference)
        gain = variance * precision / (1.0 + variance * precision)
        moment = psi1 * gain[:, None] * difference
        for d in factors:
            others = PairExpectation(self, None, inducing, Diagonal(), is_full=False, skip=d)(mean, variance)
            tilted = quadrature.expectation(
                factors[d], inducing[:, d], quadrature.CONSTANT, inducing[:, d],
                mean[:, d, None], variance[:, d, None], centred_moment=True,
            )  # fmt: skip
            moment = moment.at[:, :, d].set(others * tilted)
        return moment

    def psi2_sums(self, inducing, is_full):
        pairs = PairExpectation(self, self, inducing, Triangle(), is_full)
        return pairs.sums, lambda sums: Triangle().tables(sums.T, len(inducing))

    def psi2_rows(self, mean, variance, inducing):
        pairs = PairExpectation(self, self, inducing, Triangle(), variance.ndim == 3)
        return Triangle().tables(pairs(mean, variance), len(inducing))

    def psi2_products(self, inducing, forms):
        pairs = PairExpectation(self, self, inducing, Triangle(), False)
        twice = 2.0 - jnp.eye(len(inducing))  # entries off the diagonal occur twice in a symmetric table
        entries = jax.lax.map(Triangle().entries, forms * twice)
        return lambda mean, variance: jnp.sum(entries * pairs(mean, variance), axis=1)

    def feature_map(self, key, n_features, n_inputs):
        key_frequency, key_phase = jax.random.split(key)
        linear = [d for d, f in self.factors(n_inputs).items() if f is quadrature.LINEAR]
        return CosineFeatures(
            self.amplitude,
            self.frequencies(key_frequency, (n_inputs, n_features)),
            jax.random.uniform(key_phase, (n_features,), jnp.float64, 0.0, 2.0 * math.pi),
            jnp.zeros(n_inputs).at[jnp.array(linear, int)].set(1.0),
        )


class PairExpectation:
    """E[k₁(x, z_i) k₂(x, z_j)] for listed pairs (i, j).

    If `kernel_2` is None, k₂ = 1. The factor of dimension `skip` is left out.
    """

    def __init__(
        self,
        kernel_1: Separable,
        kernel_2: Separable | None,
        inducing: Float[Array, "m q"],
        pair_list: PairList,
        is_full: bool,
        skip: int | None = None,
    ) -> None:
        q = inducing.shape[1]
        self.precision_1, self.factors_1 = kernel_1.precision(q), kernel_1.factors(q)
        self.precision_2: Array = jnp.zeros(q)
        self.factors_2: dict[int, quadrature.Factor] = {}
        amplitude: Array = kernel_1.amplitude
        if kernel_2 is not None:
            self.precision_2, self.factors_2 = kernel_2.precision(q), kernel_2.factors(q)
            amplitude = amplitude * kernel_2.amplitude
        self.quadrature_dims = sorted((self.factors_1 | self.factors_2).keys() - {skip})
        if self.quadrature_dims:
            nothing = jnp.zeros_like(inducing)
            self.z_1, self.z_2 = pair_list.add(inducing, nothing), pair_list.add(nothing, inducing)
        if is_full:
            _refuse_full(self.factors_1 | self.factors_2)
        self.bumps = BumpPairs.of(self.precision_1, self.precision_2, amplitude, inducing, pair_list, is_full)

    def __call__(self, mean: Float[Array, "n q"], variance: Float[Array, ...]) -> Float[Array, "n pairs"]:
        """E[k₁(x, z_i) k₂(x, z_j)] for every row and pair."""
        value = self.bumps.expectations(mean, variance)
        for d in self.quadrature_dims:
            value = value * self._one_dimension(d, mean[:, d, None], variance[:, d, None])
        return value

    def sums(
        self, mean: Float[Array, "n q"], variance: Float[Array, ...], weights: Float[Array, "n g"]
    ) -> Float[Array, "pairs g"]:
        """Σ_n w_ng E[k₁(x_n, z₁) k₂(x_n, z₂)]."""
        if not self.quadrature_dims:
            return self.bumps.sums(mean, variance, weights)
        return self(mean, variance).T @ weights

    def _one_dimension(self, d: int, mean, variance):
        """The expectation of the factors of dimension d under the tilted Gaussian: belief times Gaussian factors."""
        z_1, z_2 = self.z_1[:, d], self.z_2[:, d]
        shrink = 1.0 / (1.0 + variance * (self.precision_1[d] + self.precision_2[d]))
        pull = self.precision_1[d] * z_1 + self.precision_2[d] * z_2
        tilted_mean = (mean + variance * pull) * shrink  # [n, pairs]
        tilted_variance = jnp.broadcast_to(variance * shrink, tilted_mean.shape)
        factor_1, factor_2 = (f.get(d, quadrature.CONSTANT) for f in (self.factors_1, self.factors_2))
        return quadrature.expectation(factor_1, z_1, factor_2, z_2, tilted_mean, tilted_variance)


def _refuse_full(factors) -> None:
    if factors:
        raise ValueError(
            "A full input covariance needs a kernel that is Gaussian in every input (RBF, Linear, Bias, White and "
            "their sums); Matern32, Matern52 and products with Linear need a variance per entry, shape (n, q)."
        )


@pytree
class _Stationary(Separable):
    """σ² Π_d k((x_d - z_d)/ℓ_d) over the dimensions `dims` (all if None)."""

    variance: Float[Array, ""] | float = 1.0
    lengthscale: Float[Array, " q"] | float = 1.0
    dims: tuple[int, ...] | None = static(default=None)

    def __post_init__(self):
        tidy_fields(self, "lengthscale")

    @property
    def amplitude(self):
        return jnp.asarray(self.variance)

    def active(self, n_inputs: int) -> tuple[int, ...]:
        """The dimensions on which the kernel depends."""
        return active_dims(self.dims, n_inputs)

    def lengthscales(self, n_inputs: int) -> Float[Array, " d"]:
        """ℓ of each active dimension. A scalar lengthscale is shared by all dimensions."""
        return jnp.broadcast_to(jnp.asarray(self.lengthscale), (len(self.active(n_inputs)),))

    def check(self, n_inputs):
        name, active = type(self).__name__, self.active(n_inputs)
        check_dims(name, active, n_inputs)
        check_parameter(name, "variance", self.variance, ())
        check_parameter(name, "lengthscale", self.lengthscale, (len(active),))

    def frequencies(self, key, shape):
        scales = self.lengthscales(shape[0])[:, None]
        active = jnp.array(self.active(shape[0]))
        draws = self._unit_frequencies(key, (len(active), shape[1]))
        return jnp.zeros(shape).at[active].set(draws / scales)

    def _unit_frequencies(self, key, shape):
        raise NotImplementedError


@pytree
class RBF(_Stationary):
    """σ² exp(-½ Σ_d (x_d - z_d)²/ℓ_d²), with a lengthscale per input (ARD) or one for all."""

    def precision(self, n_inputs):
        active = jnp.array(self.active(n_inputs))
        return jnp.zeros(n_inputs).at[active].set(self.lengthscales(n_inputs) ** -2)

    def factors(self, n_inputs):
        return {}

    def _unit_frequencies(self, key, shape):
        return gaussian_frequencies(key, shape)


@pytree
class _Matern(_Stationary):
    def precision(self, n_inputs):
        return jnp.zeros(n_inputs)

    def factors(self, n_inputs):
        lengthscales = self.lengthscales(n_inputs)
        return {d: self._factor(lengthscales[i]) for i, d in enumerate(self.active(n_inputs))}

    def _factor(self, lengthscale) -> quadrature.Factor:
        raise NotImplementedError


@pytree
class Matern32(_Matern):
    """σ² Π_d (1 + a_d) exp(-a_d), a_d = √3 |x_d - z_d|/ℓ_d: a Matérn 3/2 per dimension."""

    def _factor(self, lengthscale):
        return quadrature.matern32(lengthscale)

    def _unit_frequencies(self, key, shape):
        return student_frequencies(3.0)(key, shape)


@pytree
class Matern52(_Matern):
    """σ² Π_d (1 + a_d + a_d²/3) exp(-a_d), a_d = √5 |x_d - z_d|/ℓ_d: a Matérn 5/2 per dimension."""

    def _factor(self, lengthscale):
        return quadrature.matern52(lengthscale)

    def _unit_frequencies(self, key, shape):
        return student_frequencies(5.0)(key, shape)


@pytree
class _LinearFactor(Separable):
    """v x_d z_d in one dimension, as a factor of a product."""

    variance: Float[Array, ""]
    dim: int = static()

    @property
    def amplitude(self):
        return jnp.asarray(self.variance)

    def precision(self, n_inputs):
        return jnp.zeros(n_inputs)

    def factors(self, n_inputs):
        return {self.dim: quadrature.LINEAR}

    def frequencies(self, key, shape):
        return jnp.zeros(shape)

    def check(self, n_inputs):
        check_dims("Linear", (self.dim,), n_inputs)
        check_parameter("Linear", "variances", self.variance, ())


@pytree
class Product(Separable):
    """A product of kernels on different inputs, such as RBF(dims=(0, 1)) * Matern32(dims=(2,))."""

    kernels: tuple[Separable, ...]

    @classmethod
    def of(cls, *kernels: Kernel) -> Product:
        """Multiply separable kernels on different inputs. For shared inputs the expectations are not known."""
        parts: list[Separable] = []
        for kernel in kernels:
            parts.extend(kernel.kernels if isinstance(kernel, Product) else [_as_separable(kernel)])
        product = cls(tuple(parts))
        product.check_factors()
        return product

    def check_factors(self) -> None:
        """Raise ValueError unless there is at least one factor and all factors act on different inputs."""
        taken = [d for part in self.kernels for d in _own_dims(part)]
        if not taken:
            raise ValueError(
                "Product: there are no factors. Multiply kernels, e.g. RBF(dims=(0,)) * Linear(dims=(1,))."
            )
        if len(set(taken)) < len(taken):
            shared = sorted({d for d in taken if taken.count(d) > 1})
            raise ValueError(
                f"Product: inputs {shared} appear in more than one factor. Expectations are exact only for factors on "
                "different inputs: give each factor its own dims, e.g. RBF(dims=(0, 1)) * Matern32(dims=(2,))."
            )

    @property
    def amplitude(self):
        return math.prod((part.amplitude for part in self.kernels), start=jnp.ones(()))

    def precision(self, n_inputs):
        return sum((part.precision(n_inputs) for part in self.kernels), start=jnp.zeros(n_inputs))

    def factors(self, n_inputs):
        return {d: f for part in self.kernels for d, f in part.factors(n_inputs).items()}

    def frequencies(self, key, shape):
        keys = jax.random.split(key, len(self.kernels))
        # Each part has zeros outside its own dimensions.
        parts = (part.frequencies(k, shape) for k, part in zip(keys, self.kernels, strict=True))
        return sum(parts, start=jnp.zeros(shape))

    def check(self, n_inputs):
        self.check_factors()
        for part in self.kernels:
            part.check(n_inputs)


def _as_separable(kernel: Kernel) -> Separable:
    if isinstance(kernel, _Stationary) and kernel.dims is not None:
        return kernel
    if isinstance(kernel, Linear) and kernel.dims is not None and len(kernel.dims) == 1:
        variance: Any = kernel.variances
        # Not jnp: outside the 64-bit context it would round to 32 bits.
        return _LinearFactor(variance if np.ndim(variance) == 0 else variance[0], kernel.dims[0])
    raise ValueError(
        f"Product: {kernel!r} cannot be a factor. Factors are RBF, Matern32 and Matern52 with dims=(...) given, and "
        "Linear with a single dim."
    )


def _own_dims(part: Separable) -> tuple[int, ...]:
    return (part.dim,) if isinstance(part, _LinearFactor) else part.dims  # type: ignore[attr-defined]
