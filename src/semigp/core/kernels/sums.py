"""Sums of kernels with their cross terms: E[(k₁+k₂)(k₁'+k₂')] = E[k₁k₁'] + E[k₂k₂'] + E[k₁k₂'] + E[k₂k₁']."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp

from ..numerics.pytrees import pytree
from .base import Kernel
from .constant import Bias, White
from .linear import Linear
from .pairs import Grid
from .separable import PairExpectation, Separable
from .spectral import JoinedFeatures


@pytree
class Sum(Kernel):
    """The sum k₁ + k₂ + …, made by adding kernels."""

    kernels: tuple[Kernel, ...]

    @classmethod
    def of(cls, *kernels: Kernel) -> Sum:
        """Add kernels. A sum of sums becomes one flat sum."""
        parts: list[Kernel] = []
        for kernel in kernels:
            parts.extend(kernel.kernels if isinstance(kernel, Sum) else [kernel])
        total = cls(tuple(parts))
        total.check_parts()
        return total

    def check_parts(self) -> None:
        """Raise TypeError unless all parts are kernels whose cross terms are known."""
        for part in self.kernels:
            if not isinstance(part, _SIMPLEST_FIRST):
                raise TypeError(f"{part!r} cannot be part of a sum: add RBF, Matern32, Matern52, Linear, Bias, White.")
        if not self.kernels:
            raise TypeError("Sum: there is nothing to add. Add kernels, e.g. RBF() + Linear().")

    def check(self, n_inputs):
        self.check_parts()
        for part in self.kernels:
            part.check(n_inputs)

    def nodes_per_pair(self, n_inputs):
        return max(part.nodes_per_pair(n_inputs) for part in self.kernels)

    def numbers_per_row(self, n_inducing, n_inputs, n_groups, is_full):
        return max(part.numbers_per_row(n_inducing, n_inputs, n_groups, is_full) for part in self.kernels)

    def cross(self, inputs, inducing):
        return sum(part.cross(inputs, inducing) for part in self.kernels)

    def gram(self, inputs):
        return sum(part.gram(inputs) for part in self.kernels)

    def psi0(self, mean, variance):
        return sum(part.psi0(mean, variance) for part in self.kernels)

    def psi1(self, mean, variance, inducing):
        return sum(part.psi1(mean, variance, inducing) for part in self.kernels)

    def psi1_centred(self, mean, variance, inducing):
        return sum(part.psi1_centred(mean, variance, inducing) for part in self.kernels)

    def psi2_sums(self, inducing, is_full):
        own = [part.psi2_sums(inducing, is_full) for part in self.kernels]
        mixed = [_mixed_sums(*pair, inducing, is_full) for pair in itertools.combinations(self.kernels, 2)]

        def sums(mean, variance, weights):
            return [[add(mean, variance, weights) for add, _ in terms] for terms in (own, mixed)]

        def finish(totals):
            own_total, mixed_total = (
                sum(finish(total) for (_, finish), total in zip(terms, parts, strict=True))
                for terms, parts in zip((own, mixed), totals, strict=True)
            )
            return own_total + mixed_total + jnp.swapaxes(mixed_total, 1, 2)

        return sums, finish

    def psi2_rows(self, mean, variance, inducing):
        sums, finish = self.psi2_sums(inducing, variance.ndim == 3)
        one = jnp.ones((1, 1))
        return jax.vmap(lambda m, v: finish(sums(m[None], v[None], one))[0])(mean, variance)

    def feature_map(self, key, n_features, n_inputs):
        keys = jax.random.split(key, len(self.kernels))
        maps = (part.feature_map(k, n_features, n_inputs) for k, part in zip(keys, self.kernels, strict=True))
        return JoinedFeatures(tuple(maps))


_SIMPLEST_FIRST = (White, Bias, Linear, Separable)


def _mixed_sums(one: Kernel, other: Kernel, inducing, is_full: bool):
    """Two functions as in `psi2_sums`, for Σ_n w_ng E[k₁(x_n, z) k₂(x_n, z')] or its transpose.

    The caller adds the transpose, so either will do.
    """
    m = inducing.shape[0]
    rank = lambda kernel: next(i for i, kind in enumerate(_SIMPLEST_FIRST) if isinstance(kernel, kind))  # noqa: E731
    simple, partner = sorted((one, other), key=rank)
    if isinstance(simple, White):  # zero with everything
        return simple.psi2_sums(inducing, is_full)
    if isinstance(simple, Bias):
        return (
            lambda mean, variance, weights: weights.T @ partner.psi1(mean, variance, inducing),
            lambda total: simple.variance * jnp.repeat(total[:, :, None], m, axis=2),
        )
    if isinstance(simple, Linear):
        slopes = inducing * simple.scales(inducing.shape[1])
        return functools.partial(_first_moments, partner, inducing), lambda total: total @ slopes.T
    assert isinstance(simple, Separable)
    assert isinstance(partner, Separable)
    pairs = PairExpectation(simple, partner, inducing, Grid(), is_full)
    return pairs.sums, lambda total: Grid().tables(total.T, m)


def _first_moments(kernel: Kernel, inducing, mean, variance, weights):
    """Σ_n w_ng E[k(x_n, z) x_n]  [g, m, q], with E[k x] = μ ψ1 + cov(x, k)."""
    moments = jnp.einsum("ng,nm,ni->gmi", weights, kernel.psi1(mean, variance, inducing), mean)
    return moments + jnp.einsum("ng,nmi->gmi", weights, kernel.psi1_centred(mean, variance, inducing))
