"""The least time that one core needs: the exponentials and matrix products of one bound and gradient, and nothing else.

For every uncertain row and pair of inducing points (ψ2 of the RBF): one exponential, and three products with an inner
or outer size of 2q + 2, for the exponent and for both halves of its gradient. For every observed row and inducing
point: the same, and two products with an m × m matrix, for Ψ2 and its gradient. Each operation is measured by itself,
in float64, on blocks that stay in the cache. The fastest of several methods and block sizes counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from semigp.core.kernels.exponential import exp2
from semigp.core.numerics.compiler import WIDE_VECTORS

_STEPS = 50  # steps of a compiled loop over one block
_SIZES = (2**13, 2**15, 2**17, 2**20)  # numbers in a block
_ROWS = (32, 256, 2048)  # rows in a block


def fastest(function: Callable[[], Any], seconds: float = 0.05) -> float:
    """Seconds of the fastest call after two for warm-up. Calls are repeated for `seconds`, and at least 7 times."""
    times: list[float] = []
    while len(times) < 7 or sum(times) < seconds:
        began = time.perf_counter()
        jax.block_until_ready(function())
        times.append(time.perf_counter() - began)
    return min(times[2:])


def seconds_per_exponential() -> float:
    """Seconds for one exponential, by the fastest of NumPy, XLA and our polynomial."""
    return min(way(size) / size for size in _SIZES for way in (_numpy_exp, _loop_of(jnp.exp), _loop_of(exp2)))


def _numpy_exp(size: int) -> float:
    block, out = np.random.default_rng(0).uniform(-1.0, 0.0, size), np.empty(size)
    return fastest(lambda: np.exp(block, out=out))


def _loop_of(function: Callable) -> Callable[[int], float]:
    """A function that measures seconds of exp(-exp(-…)) per step on one block, in a single compiled program."""
    steps = jax.jit(lambda x: jax.lax.fori_loop(0, _STEPS, lambda _, x: function(-x), x), compiler_options=WIDE_VECTORS)

    def seconds(size: int) -> float:
        block = jnp.linspace(0.0, 1.0, size)
        return fastest(lambda: steps(block)) / _STEPS

    return seconds


def seconds_per_product(shape: str, n: int, pairs: int, inner: int) -> float:
    """Seconds of a product such as "pi,in->pn" per pair p and row n, for the best size of block."""
    blocks = {(min(pairs, max(1, size // rows)), min(n, rows)) for size in _SIZES for rows in _ROWS}
    return min(_product(shape, {"p": p, "n": rows, "i": inner}) / (p * rows) for p, rows in blocks)


def _product(shape: str, sizes: dict[str, int]) -> float:
    random = np.random.default_rng(0)
    names = shape.replace("->", ",").split(",")
    left, right, out = (random.normal(size=[sizes[axis] for axis in name]) for name in names)
    in_xla = jax.jit(jnp.matmul)
    arrays = jnp.asarray(left), jnp.asarray(right)
    return min(fastest(lambda: np.matmul(left, right, out=out)), fastest(lambda: in_xla(*arrays)))


def limit(n: int, q: int, m: int, observed: float) -> float:
    """Seconds for one bound and gradient of n rows, of which a share is observed."""
    exponential, inner = seconds_per_exponential(), 2 * q + 2
    total = 0.0
    for rows, pairs in ((n - round(observed * n), m * (m + 1) // 2), (round(observed * n), m)):
        if rows:
            shapes = ("pi,in->pn", "ip,pn->in", "pn,ni->pi")  # exponents, gradient by row, gradient by pair
            products = sum(seconds_per_product(shape, rows, pairs, inner) for shape in shapes)
            total += rows * pairs * (exponential + products)
    if observed:
        known = round(observed * n)
        squares = sum(seconds_per_product(shape, known, m, m) for shape in ("pn,ni->pi", "ip,pn->in"))
        total += known * m * squares
    return total


if __name__ == "__main__":
    n, q, _, m = map(int, sys.argv[1:5])
    with jax.enable_x64(True):
        print(json.dumps({"seconds": limit(n, q, m, float(sys.argv[5]))}))
