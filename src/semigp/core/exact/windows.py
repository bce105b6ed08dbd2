"""The layout of lags in the inputs of a function of the past.

A window holds the values at k lags, [k, p], oldest value first. It is flattened, lag by lag, and followed by the
covariates of the next step. Lags are a whole number τ, which means τ, τ - 1, …, 1, or an array, largest first.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ..numerics.types import Array

Lags = int | Int[np.ndarray, " k"]


def as_lags(lags: Lags) -> Int[np.ndarray, " k"]:
    """The lags as an array, largest first."""
    return np.arange(int(lags), 0, -1) if np.ndim(lags) == 0 else np.asarray(lags)


def flatten(windows: Float[Array, "*s k p"], covariates: Float[Array, "*#s c"]) -> Float[Array, "*s q"]:
    """The inputs of the functions, with q = kp + c columns. All windows may share the same covariates."""
    numpy: Any = jnp if isinstance(windows, jax.Array) else np
    flat = windows.reshape(*windows.shape[:-2], -1)
    known = numpy.broadcast_to(covariates, (*flat.shape[:-1], covariates.shape[-1]))
    return numpy.concatenate([flat, known], axis=-1)


def windows_before(values: Float[Array, "T p"], steps: Int[np.ndarray, " n"], lags: Lags) -> Float[Array, "n k p"]:
    """The windows before the given steps."""
    return values[steps[:, None] - as_lags(lags)]


def window_table(
    values: Float[np.ndarray, "T p"], covariates: Float[np.ndarray, "T c"], lags: Lags
) -> tuple[Float[np.ndarray, "n q"], Float[np.ndarray, "n p"]]:
    """Inputs and targets of every step that has a whole window before it. There are n = T - τ such steps."""
    steps = np.arange(as_lags(lags)[0], len(values))
    return np.asarray(flatten(windows_before(values, steps, lags), covariates[steps])), values[steps]


def slopes_by_lag(slopes: Float[np.ndarray, " q"], k: int, p: int) -> Float[np.ndarray, "k p"]:
    """The slopes along the lags [k, p], smallest lag first, without those along covariates."""
    return slopes[: k * p].reshape(k, p)[::-1]
