"""Σ_n exp(rows_n · pairs_p) on an NVIDIA GPU, with exponentials that never leave the registers.

The plain way writes n × pairs exponentials to memory and reads them back for every product. Here a GPU program computes
a tile of them from the features of some rows and some pairs, uses it, and discards it. The gradient computes every tile
once more and multiplies it with the features of both sides at once:

    to row n:  Σ_p s_p e_np [pairs_p, 1]          to pair p:  s_p Σ_n e_np [rows_n, 1]

The first is summed in registers, over the tiles of pairs. For the second, every program adds to its own table. So no
sum depends on the order in which programs run. Products run on the double-precision matrix units, which take sixteen
features at a time; a few features that are left over are added one by one ("singles").
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..numerics.types import Array
from .exponential import EXP2_COEFFICIENTS, LOG2_E, SHIFT, exp2

_UNIT = 16  # features that the matrix units take at once
_SINGLES = 6  # up to this many left-over features are cheaper one by one than as another unit
_MAX_FEATURES = 31  # with more features, tiles do not fit into the registers, and the plain way is faster
_MIN_EXPONENTIALS = 2**28  # for fewer exponentials the plain way is as fast
_NOTHING = -4096.0  # stands for the binary logarithm of zero, for rows without weight

Rows = Float[Array, "n d"]
Pairs = Float[Array, "pairs d"]


@dataclass(frozen=True)
class _Tiling:
    """How the work is divided. The values below were the fastest of some tens tried on an H200 with ten inputs."""

    rows: int  # per tile
    pairs: int  # per tile
    programs: int  # that share the rows
    warps: int
    stages: int  # of loads in flight

    def rows_per_program(self, n_rows: int) -> int:
        """The number of rows for each program, rounded up to whole tiles."""
        return -(-n_rows // (self.rows * self.programs)) * self.rows


_SUMS = _Tiling(rows=32, pairs=64, programs=128, warps=2, stages=3)
_GRADIENT = _Tiling(rows=128, pairs=16, programs=264, warps=4, stages=3)


@functools.cache
def is_available() -> bool:
    """Whether there is an NVIDIA GPU with double-precision matrix units."""
    if jax.default_backend() != "gpu":
        return False
    device = jax.devices()[0]
    return "NVIDIA" in device.device_kind and float(device.compute_capability) >= 8.0


def suits(n_features: int, n_groups: int, n_exponentials: float = math.inf) -> bool:
    """Whether this module is the fastest way to sum; `n_features` does not count the two constant features."""
    fits = n_groups == 1 and n_features <= _MAX_FEATURES
    return fits and n_exponentials >= _MIN_EXPONENTIALS and is_available()


class _Features(NamedTuple):
    """Features of rows or of pairs, in whole tiles: for the matrix units, and singles that are added one by one."""

    units: Float[Array, ...]  # leading rows of a product [count, features], or columns [features, count]
    singles: Float[Array, "s count"]


def exp_sums(rows: Rows, pairs: Pairs, weights: Float[Array, "n 1"], interpret: bool = False) -> Float[Array, "p 1"]:
    """Σ_n w_n exp(rows_n · pairs_p) for weights 0 or 1.

    The last two features are (constant, 1) for rows and (1, constant) for pairs.
    """
    per_program, tile = _SUMS.rows_per_program(len(rows)), _SUMS.pairs
    row_units, row_singles, pair_units, pair_singles = _features(rows, pairs, weights, per_program, tile)
    (n, n_units), n_pairs, n_singles = row_units.shape, len(pair_units), len(row_singles)
    sums = _run(
        _sum_tiles, _SUMS, (n_pairs // tile, n // per_program), interpret,
        (_Features(pair_units, pair_singles), _Features(row_units.T, row_singles)),
        (
            _Features(_spec((tile, n_units), lambda p, n: (p, 0)), _spec((n_singles, tile), lambda p, n: (0, p))),
            _Features(
                _spec((n_units, per_program), lambda p, n: (0, n)), _spec((n_singles, per_program), lambda p, n: (0, n))
            ),
        ),
        _numbers(n // per_program, n_pairs),
        _spec((1, tile), lambda p, n: (n, p)),
    )  # fmt: skip
    return jnp.sum(sums, axis=0)[: len(pairs), None] * jnp.exp(pairs[:, -1:])


def exp_sums_gradient(
    rows: Rows, pairs: Pairs, weights: Float[Array, "n 1"], gradient: Float[Array, "p 1"], interpret: bool = False
) -> tuple[Rows, Pairs]:
    """The gradients in rows and pairs. They are 0 for the features that are always 1."""
    n_features, per_program = rows.shape[1] - 2, _GRADIENT.rows_per_program(len(rows))
    strength = gradient * jnp.exp(pairs[:, -1:])  # s
    row_units, row_singles, pair_units, pair_singles = _features(rows, pairs, weights, per_program, _GRADIENT.pairs)
    n, n_pairs, n_singles = len(row_units), len(pair_units), len(row_singles)
    # Tiles are multiplied with [features, 1] of the rows, and with s · [features, 1] of the pairs.
    width = -(-(n_features + 1) // _UNIT) * _UNIT
    of_rows, of_pairs = (
        jnp.pad(
            jnp.concatenate([side[:, :n_features], jnp.ones((len(side), 1))], axis=1) * factor,
            ((0, count - len(side)), (0, width - n_features - 1)),
        )
        for side, factor, count in ((rows, 1.0, n), (pairs, strength, n_pairs))
    )
    table = (n // per_program, width, n_pairs)
    to_pairs, to_rows = _run(
        _multiply_tiles, _GRADIENT, (n // per_program,), interpret,
        (_Features(row_units, row_singles), _Features(pair_units.T, pair_singles), of_rows, of_pairs, jnp.zeros(table)),
        (
            _Features(
                _spec((per_program, row_units.shape[1]), lambda n: (n, 0)),
                _spec((n_singles, per_program), lambda n: (0, n)),
            ),
            _Features(_spec(pair_units.T.shape, lambda n: (0, 0)), _spec(pair_singles.shape, lambda n: (0, 0))),
            _spec((per_program, width), lambda n: (n, 0)),
            _spec(of_pairs.shape, lambda n: (0, 0)),
            _spec((1, *table[1:]), lambda n: (n, 0, 0)),
        ),
        (_numbers(*table), _numbers(n, width)),
        (_spec((1, *table[1:]), lambda n: (n, 0, 0)), _spec((per_program, width), lambda n: (n, 0))),
        input_output_aliases={6: 0},
    )  # fmt: skip
    to_pairs = jnp.sum(to_pairs, axis=0).T[: len(pairs)] * strength
    always_one = jnp.zeros_like(strength)
    return (
        jnp.pad(to_rows[: len(rows), : n_features + 1], ((0, 0), (0, 1))),
        jnp.concatenate([to_pairs[:, :n_features], always_one, to_pairs[:, n_features : n_features + 1]], axis=1),
    )


def _features(rows: Rows, pairs: Pairs, weights: Float[Array, "n 1"], rows_per_program: int, pairs_per_tile: int):
    """Units and singles of rows, then of pairs, for exponents to base 2. The constant of the pairs is left out."""
    n_features = rows.shape[1] - 2
    n_units, n_singles = _split(n_features)
    first_single = n_features - n_singles
    rows = rows * LOG2_E
    constant = jnp.where(weights > 0, rows[:, n_features:-1], _NOTHING)
    row_singles = jnp.concatenate([constant, rows[:, first_single:n_features]], axis=1)
    pair_singles = jnp.concatenate([jnp.ones((len(pairs), 1)), pairs[:, first_single:n_features]], axis=1)
    more_rows, more_pairs = -len(rows) % rows_per_program, -len(pairs) % pairs_per_tile
    # Rows of padding have weight 0.
    fill = jnp.where(jnp.arange(n_singles + 1) == 0, _NOTHING, jnp.zeros((more_rows, 1)))
    units = functools.partial(_padded_units, first_single, n_units - first_single)
    return (
        units(rows, more_rows), jnp.concatenate([row_singles, fill]).T,
        units(pairs, more_pairs), jnp.pad(pair_singles, ((0, more_pairs), (0, 0))).T,
    )  # fmt: skip


def _padded_units(count: int, more_features: int, side: Float[Array, "count d"], more: int) -> Float[Array, ...]:
    return jnp.pad(side[:, :count], ((0, more), (0, more_features)))


def _split(n_features: int) -> tuple[int, int]:
    """The number of features for the matrix units, including zeros as padding, and the number left over."""
    left_over = n_features % _UNIT
    if left_over <= _SINGLES and n_features >= _UNIT:
        return n_features - left_over, left_over
    return n_features - left_over + _UNIT, 0


# ---- The programs


def _sum_tiles(pairs: _Features, rows: _Features, sums, *, tiling: _Tiling, interpret: bool) -> None:
    """Sum over the program's rows, for a tile of pairs."""
    leading = _leading(pairs, slice(None))

    def add(i, total):
        return total + _exponentials(leading, _following(rows, _tile(i, tiling.rows)), interpret)

    n_tiles = rows.units.shape[1] // tiling.rows
    total = jax.lax.fori_loop(0, n_tiles, add, jnp.zeros((tiling.pairs, tiling.rows)))
    sums[0, :] = jnp.sum(total, axis=1)


def _multiply_tiles(
    rows: _Features, pairs: _Features, of_rows, of_pairs, _, to_pairs, to_rows, *, tiling: _Tiling, interpret: bool
) -> None:
    """Multiply the program's rows, tile by tile, with all pairs. `to_pairs` must be zero at the start."""
    width = of_rows.shape[1]
    # Products with few columns cost less; the left side of a product needs at least sixteen rows.
    columns, leads = _powers_of_two(width, 8), _powers_of_two(width, _UNIT)

    def with_all_pairs(i):
        where = _tile(i, tiling.rows)
        leading, features = _leading(rows, where), [of_rows[where, part] for part in leads]

        def with_pairs(j, totals):
            these = _tile(j, tiling.pairs)
            exponentials = _exponentials(leading, _following(pairs, these), interpret)
            for feature, part in zip(features, leads, strict=True):
                to_pairs[0, part, these] = to_pairs[0, part, these] + _product(feature.T, exponentials)
            _wait(interpret)  # until all threads have written what other threads read next
            products = (_product(exponentials, of_pairs[these, part]) for part in columns)
            return tuple(total + product for total, product in zip(totals, products, strict=True))

        start = tuple(jnp.zeros((tiling.rows, part.stop - part.start)) for part in columns)
        totals = jax.lax.fori_loop(0, of_pairs.shape[0] // tiling.pairs, with_pairs, start)
        for total, part in zip(totals, columns, strict=True):
            to_rows[where, part] = total

    _for_each(of_rows.shape[0] // tiling.rows, with_all_pairs)


def _for_each(count: int, do: Callable[[Any], None]) -> None:
    def once(i, nothing):
        do(i)
        return nothing

    jax.lax.fori_loop(0, count, once, 0)


def _leading(side: _Features, where):
    units = [side.units[where, part] for part in _powers_of_two(side.units.shape[1], _UNIT)]
    return units, [side.singles[k, where] for k in range(side.singles.shape[0])]


def _following(side: _Features, where):
    units = [side.units[part, where] for part in _powers_of_two(side.units.shape[0], _UNIT)]
    return units, [side.singles[k, where] for k in range(side.singles.shape[0])]


def _exponentials(leading, following, interpret: bool):
    """A tile of 2^(sum of products of features)."""
    multiply_add = _multiply_add if interpret else _multiply_add_in_assembly
    exponent = functools.reduce(jnp.add, map(_product, leading[0], following[0]))
    for one, other in zip(leading[1], following[1], strict=True):
        exponent = multiply_add(one[:, None], other[None, :], exponent)
    return exp2(exponent) if interpret else _exp2_in_assembly(exponent)


def _product(one, other):
    return jax.lax.dot(one, other, preferred_element_type=jnp.float64)


def _tile(i, size: int):
    from jax.experimental import pallas

    return pallas.ds(i * size, size)


def _powers_of_two(width: int, smallest: int) -> list[slice]:
    """Slices that cover a width. Their sizes are powers of two, as a product requires."""
    parts, start = [], 0
    while start < width:
        size = max(smallest, 1 << (width - start).bit_length() - 1)
        parts.append(slice(start, start + size))
        start += size
    return parts


def _wait(interpret: bool) -> None:
    if not interpret:
        from jax.experimental.pallas import triton

        triton.debug_barrier()


def _multiply_add(one, other, rest):
    return one * other + rest


# The compiler does not fuse multiplications and additions by itself.


def _multiply_add_in_assembly(one, other, rest):
    one, other = (jnp.broadcast_to(each, rest.shape) for each in (one, other))
    return _in_assembly("fma.rn.f64 $0, $1, $2, $3;", one, other, rest)


def _exp2_in_assembly(x):
    """`exp2` in fused multiply-adds."""

    def number(value: float) -> str:
        return "0d" + struct.pack(">d", value).hex().upper()

    horner = [f"fma.rn.f64 p, p, f, {number(c)};" for c in EXP2_COEFFICIENTS[-2::-1]]
    return _in_assembly(
        f"{{ .reg .f64 x, y, k, f, p; .reg .b32 low, high, below; max.f64 x, $1, {number(-1022.0)};"
        f"add.rn.f64 y, x, {number(SHIFT)}; sub.rn.f64 k, y, {number(SHIFT)}; sub.rn.f64 f, x, k;"
        "mov.b64 {low, high}, y; shl.b32 low, low, 20;"
        f"mov.f64 p, {number(EXP2_COEFFICIENTS[-1])}; {' '.join(horner)}"
        "mov.b64 {below, high}, p; add.s32 high, high, low; mov.b64 $0, {below, high}; }",
        x,
    )


def _in_assembly(code: str, *arguments):
    from jax.experimental.pallas import triton

    shape = jax.ShapeDtypeStruct(arguments[-1].shape, arguments[-1].dtype)
    constraints = ",".join(["=d"] + ["d"] * len(arguments))
    [result] = triton.elementwise_inline_asm(
        code, args=arguments, constraints=constraints, pack=1, result_shape_dtypes=[shape]
    )
    return result


# ---- Calling the programs


def _spec(shape: tuple[int, ...], place: Callable[..., tuple]) -> Any:
    from jax.experimental import pallas

    return pallas.BlockSpec(shape, place)


def _numbers(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float64)


def _run(
    kernel, tiling: _Tiling, grid, interpret: bool, inputs, input_specs, outputs, output_specs, **more: Any
) -> Any:
    """Run `kernel` at every place of the grid. `interpret` is for tests without a GPU."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    if not interpret:
        more["compiler_params"] = triton.CompilerParams(num_warps=tiling.warps, num_stages=tiling.stages)
    leaves, structure = jax.tree.flatten(inputs)

    def body(*refs):
        arguments = jax.tree.unflatten(structure, refs[: len(leaves)])
        kernel(*arguments, *refs[len(leaves) :], tiling=tiling, interpret=interpret)

    return pallas.pallas_call(
        body, grid=grid, in_specs=jax.tree.leaves(input_specs), out_specs=output_specs, out_shape=outputs,
        interpret=interpret, **more,
    )(*leaves)  # fmt: skip
