"""Round sizes: data of nearly the same size share one compiled program, and rows of weight 0 change nothing.

There are two rules. A fit is filled up by a small share of its rows (`nearly`). Rows to predict, which come in any
number, are filled up to a power of two (`padded_length`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def round_up(count: int, step: int) -> int:
    """The smallest multiple of `step` that is not below `count`."""
    return -(-count // step) * step


def nearly(count: int, share: int, most: int = 2**62) -> int:
    """A round number of rows, at least `count`: at most a `share`-th more, or eight rows, or `most`.

    `share` is a power of two: the step is 2^(bits of `count`) / (2 · share).
    """
    step = 2 ** max(3, count.bit_length() - share.bit_length())
    return round_up(count, min(step, most))


def padded_length(count: int) -> int:
    """A round number of rows, at least `count`: a power of two, at least 64, or a multiple of 4096."""
    if count > 4096:
        return round_up(count, 4096)
    return max(64, 1 << (count - 1).bit_length()) if count else 0


def pad_rows(rows: Any, count: int, value: float = 0.0) -> Any:
    """`rows` with more rows of `value` behind them, so that there are `count`."""
    widths = [(0, count - len(rows))] + [(0, 0)] * (np.ndim(rows) - 1)
    return (jnp if isinstance(rows, jax.Array) else np).pad(rows, widths, constant_values=value)
