"""Sums and maps over rows in chunks, so that memory does not grow with the number of rows."""

import math
import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .padding import pad_rows
from .types import Array

# Numbers held at once per chunk. Eight MiB of doubles stay in a CPU's cache; a GPU needs more to keep it busy.
_CHUNK_SIZE = {"cpu": 2**20}
_CHUNK_SIZE_ACCELERATOR = 2**27
CHUNK_VARIABLE = "SEMIGP_CHUNK_SIZE"  # environment variable that sets another size
# Up to this many chunks, keeping all numbers is cheaper than computing them again for the gradient. Both passes then
# still find them in a cache of 32 MiB; with four chunks they did not, and took twice as long.
_CHUNKS_KEPT = 2


def chunk_size() -> int:
    """How many numbers are held at once per chunk."""
    default = _CHUNK_SIZE.get(jax.default_backend(), _CHUNK_SIZE_ACCELERATOR)
    chosen = os.environ.get(CHUNK_VARIABLE, "")
    if chosen and not (chosen.isdecimal() and int(chosen) > 0):
        raise ValueError(f"{CHUNK_VARIABLE} is {chosen!r}; it must be a positive whole number, such as {default}.")
    return int(chosen) if chosen else default


def rows_per_chunk(n_rows: int, numbers_per_row: int) -> int:
    """How many of `n_rows` to process at once when each needs `numbers_per_row` intermediate numbers."""
    size = chunk_size()
    if n_rows * numbers_per_row <= size * _CHUNKS_KEPT:
        return n_rows
    return max(8, size // numbers_per_row)


def sum_over_rows(function: Callable[..., Any], rows: Any, weights: Array, chunk: int) -> Any:
    """Σ over chunks of `function(rows, weights)`, which must be linear in the weights [n, g].

    The backward pass computes each chunk again, so that only one chunk is in memory at a time. The rows are
    padded with rows of weight 0 to fill the chunks.
    """
    n = weights.shape[0]
    if n <= chunk:
        return function(rows, weights)
    stacked = jax.tree.map(lambda leaf: _stack(leaf, chunk), (rows, weights))
    body = jax.checkpoint(lambda block: function(*block))
    zero = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape(function, *_first(stacked)))

    def step(total, block):
        return jax.tree.map(jnp.add, total, body(block)), None

    return jax.lax.scan(step, zero, stacked)[0]


def map_rows(function: Callable[..., Any], rows: Any, chunk: int) -> Any:
    """`function(rows)`, computed chunk by chunk. The first axis of every output must be the rows."""
    n = jax.tree.leaves(rows)[0].shape[0]
    if n <= chunk:
        return function(rows)
    stacked = jax.tree.map(lambda leaf: _stack(leaf, chunk), rows)
    outputs = jax.lax.map(function, stacked)
    return jax.tree.map(lambda out: out.reshape(-1, *out.shape[2:])[:n], outputs)


def _stack(leaf: jax.Array, chunk: int) -> jax.Array:
    """[n, …] → [chunks, rows, …] in chunks of equal size, padded with zeros if necessary."""
    n = leaf.shape[0]
    n_chunks = _n_chunks(n, chunk)
    size = math.ceil(n / n_chunks)
    return pad_rows(leaf, n_chunks * size).reshape(n_chunks, size, *leaf.shape[1:])


def _n_chunks(n_rows: int, chunk: int) -> int:
    """The fewest chunks, or up to half as many more if the rows then divide evenly: padding copies everything."""
    fewest = math.ceil(n_rows / chunk)
    return next((count for count in range(fewest, fewest * 3 // 2 + 1) if n_rows % count == 0), fewest)


def _first(stacked: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[0], stacked)
