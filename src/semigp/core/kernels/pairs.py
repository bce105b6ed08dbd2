"""Ways to list pairs of inducing points. Gradients use no scatter operations, which are slow on a CPU.

A pair list turns tables over (i, j) into lists over pairs and back: `add(first, second)` lists first_i + second_j,
`entries(table)` lists table_ij, and `tables(lists)` turns the lists of entries back into tables.
"""

from __future__ import annotations

import functools
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.types import Array


class PairList(Protocol):
    """A list of pairs (i, j) of m points."""

    def add(self, first: Float[Array, "m q"], second: Float[Array, "m q"]) -> Float[Array, "pairs q"]:
        """first_i + second_j."""

    def entries(self, table: Float[Array, "m m"]) -> Float[Array, " pairs"]:
        """table_ij."""


class Diagonal:
    """The pairs (i, i): each point with itself."""

    def add(self, first, second):
        """first_i + second_i."""
        return first + second

    def entries(self, table):
        """table_ii."""
        return jnp.diagonal(table)


class Grid:
    """All pairs (i, j), row by row."""

    def add(self, first, second):
        """first_i + second_j."""
        return (first[:, None] + second[None]).reshape(-1, first.shape[1])

    def entries(self, table):
        """table_ij."""
        return table.reshape(-1)

    def tables(self, lists: Float[Array, "g pairs"], m: int) -> Float[Array, "g m m"]:
        """The tables whose entries are in `lists`."""
        return lists.reshape(-1, m, m)


class Triangle:
    """The pairs (i, j) with j ≤ i, row by row: the lower half of a symmetric table."""

    def add(self, first, second):
        """first_i + second_j."""
        return _triangle_sums(first, second)

    def entries(self, table):
        """table_ij."""
        return _lower_entries(table)

    def tables(self, lists: Float[Array, "g pairs"], m: int) -> Float[Array, "g m m"]:
        """The symmetric tables whose lower halves are in `lists`."""
        return _symmetric(lists, m)


@functools.cache
def _indices(m: int) -> tuple[np.ndarray, np.ndarray]:
    return np.tril_indices(m)


@functools.cache
def _position(m: int) -> np.ndarray:
    """The m × m table of the positions of the pairs {i, j} in the list."""
    row, column = np.indices((m, m))
    high, low = np.maximum(row, column), np.minimum(row, column)
    return high * (high + 1) // 2 + low


def _to_lower(lists: Float[Array, "pairs ..."], m: int) -> Float[Array, "m m ..."]:
    """The table with the list on and below its diagonal, and zeros above."""
    padded = jnp.concatenate([lists, jnp.zeros((1, *lists.shape[1:]))])
    return padded[np.where(np.tri(m, dtype=bool), _position(m), len(lists))]


@jax.custom_vjp
def _triangle_sums(first, second):
    row, column = _indices(len(first))
    return first[row] + second[column]


def _triangle_sums_backward(m, gradient):
    table = _to_lower(gradient, m)
    return jnp.sum(table, axis=1), jnp.sum(table, axis=0)


_triangle_sums.defvjp(lambda first, second: (_triangle_sums(first, second), len(first)), _triangle_sums_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def _symmetric(lists, m):
    return lists[:, _position(m)]


def _symmetric_backward(m, _, gradient):
    row, column = _indices(m)
    both = gradient[:, row, column] + gradient[:, column, row]
    return (jnp.where(row == column, 0.5, 1.0) * both,)


_symmetric.defvjp(lambda lists, m: (_symmetric(lists, m), None), _symmetric_backward)


@jax.custom_vjp
def _lower_entries(table):
    row, column = _indices(len(table))
    return table[row, column]


_lower_entries.defvjp(lambda table: (_lower_entries(table), len(table)), lambda m, gradient: (_to_lower(gradient, m),))
