"""The layout of lags in the inputs of a function of the past.

A window is [τ, p], oldest value first. It is flattened, lag by lag, and followed by the covariates of the next step.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ..numerics.types import Array


def flatten(windows: Float[Array, "*s tau p"], covariates: Float[Array, "*#s c"]) -> Float[Array, "*s q"]:
    """The inputs of the functions, with q = τp + c columns. All windows may share the same covariates."""
    numpy: Any = jnp if isinstance(windows, jax.Array) else np
    flat = windows.reshape(*windows.shape[:-2], -1)
    known = numpy.broadcast_to(covariates, (*flat.shape[:-1], covariates.shape[-1]))
    return numpy.concatenate([flat, known], axis=-1)


def windows_before(values: Float[Array, "T p"], steps: Int[np.ndarray, " n"], tau: int) -> Float[Array, "n tau p"]:
    """The windows of τ values before the given steps."""
    return values[steps[:, None] + np.arange(-tau, 0)]


def window_table(
    values: Float[np.ndarray, "T p"], covariates: Float[np.ndarray, "T c"], tau: int
) -> tuple[Float[np.ndarray, "n q"], Float[np.ndarray, "n p"]]:
    """Inputs and targets of every step that has τ values before it. There are n = T - τ such steps."""
    steps = np.arange(tau, len(values))
    return np.asarray(flatten(windows_before(values, steps, tau), covariates[steps])), values[steps]


def slopes_by_lag(slopes: Float[np.ndarray, " q"], tau: int, p: int) -> Float[np.ndarray, "tau p"]:
    """The slopes along the lags [τ, p], lag 1 first, without those along covariates."""
    return slopes[: tau * p].reshape(tau, p)[::-1]
