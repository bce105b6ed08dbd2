"""The ψ statistics of a data set: all that the bound and the predictions need to know about the rows."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Float, Int

from ..kernels import Kernel
from ..numerics.chunks import rows_per_chunk, sum_over_rows
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .targets import Targets


@pytree
class Block:
    """Rows with their targets. Either all inputs are certain (variance None), or they are N(mean, variance)."""

    mean: Float[Array, "n q"]
    variance: Float[Array, "n q"] | Float[Array, "n q q"] | None
    targets: Targets


@pytree
class Statistics:
    """Sums over rows. A group is a set of outputs that are observed in the same rows."""

    psi0: Float[Array, " g"]  # Σ_n E[k(x_n, x_n)]
    psi1_y: Float[Array, "m p"]  # Ψ1ᵀ Y
    psi2: Float[Array, "g m m"]  # Σ_n E[k(z, x_n) k(x_n, z')]
    y_square: Float[Array, " p"]  # Σ_n y²
    counts: Float[Array, " p"]  # observed values per output
    group: Int[Array, " p"]  # the group of each output

    def __add__(self, other: Statistics) -> Statistics:
        return dataclasses.replace(jax.tree.map(jnp.add, self, other), group=self.group)

    def sums(self) -> dict[str, Array]:
        """The statistics that add up over parts of the rows: all but `group`, which is the same in every part."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "group"}

    def in_units_of(self, scale: Float[Array, " p"]) -> Statistics:
        """The statistics of Y divided by `scale`, column by column."""
        return dataclasses.replace(self, psi1_y=self.psi1_y / scale, y_square=self.y_square / scale**2)


def collect(kernel: Kernel, inducing: Float[Array, "m q"], blocks: tuple[Block, ...]) -> Statistics:
    """The statistics of all rows, block by block and chunk by chunk."""
    total = _block_statistics(kernel, inducing, blocks[0])
    for block in blocks[1:]:
        total = total + _block_statistics(kernel, inducing, block)
    return total


def _block_statistics(kernel: Kernel, inducing: Float[Array, "m q"], block: Block) -> Statistics:
    rows, per_row, of_rows, finish = (_certain if block.variance is None else _uncertain)(kernel, inducing, block)
    targets = block.targets
    chunk = rows_per_chunk(block.mean.shape[0], per_row)
    psi0, psi1_y, psi2 = sum_over_rows(of_rows, rows, targets.weights, chunk)
    y_square = jnp.sum(targets.values**2, axis=0)
    return Statistics(psi0, psi1_y, finish(psi2), y_square, targets.counts, targets.group)


def _certain(kernel: Kernel, inducing, block: Block):
    """What `_block_statistics` needs for rows with certain inputs.

    These are the arrays of the rows, how many numbers are held per row, a function that sums over rows, and a function
    that turns the last of its sums into Ψ2.
    """

    def sums(rows, weights):
        mean, values = rows
        cross = kernel.cross(mean, inducing)  # K_fu
        return weights.T @ kernel.diag(mean), cross.T @ values, _weighted_gram(cross, weights)  # Ψ2 = K_uf K_fu

    per_row = inducing.shape[0] * block.targets.weights.shape[1]
    return (block.mean, block.targets.values), per_row, sums, lambda psi2: psi2


def _uncertain(kernel: Kernel, inducing, block: Block):
    """The same as `_certain`, for rows with inputs N(mean, variance)."""
    m, q = inducing.shape
    is_full = block.variance.ndim == 3  # type: ignore[union-attr]
    psi2_sums, finish = kernel.psi2_sums(inducing, is_full)

    def sums(rows, weights):
        mean, variance, values = rows
        psi1 = kernel.psi1(mean, variance, inducing)
        return weights.T @ kernel.psi0(mean, variance), psi1.T @ values, psi2_sums(mean, variance, weights)

    per_row = kernel.numbers_per_row(m, q, block.targets.weights.shape[1], is_full)
    return (block.mean, block.variance, block.targets.values), per_row, sums, finish


def _weighted_gram(cross: Float[Array, "n m"], weights: Float[Array, "n g"]) -> Float[Array, "g m m"]:
    """Kᵀ diag(w_g) K for every group."""
    if weights.shape[1] == 1:
        return ((cross * weights).T @ cross)[None]
    return jnp.einsum("nm,ng,nk->gmk", cross, weights, cross, optimize="optimal")
