"""Kernels of JAX in NumPy, where nothing has to be compiled: an RBF kernel, a linear kernel, or their sum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from ..kernels import RBF, Kernel, Linear
from .at_points import BumpsAndLines


def bumps_and_lines(kernel: Kernel, n_inputs: int) -> BumpsAndLines:
    """The kernel in NumPy. It has at most one RBF and one linear part, over all inputs."""
    parts: tuple[Any, ...] = getattr(kernel, "kernels", (kernel,))
    if len({type(part) for part in parts} & {RBF, Linear}) < len(parts) or any(part.dims for part in parts):
        raise TypeError(f"{kernel!r} is not an RBF kernel, a linear kernel, or the sum of both, over all inputs.")
    amplitude, lengthscales, linear = 0.0, np.ones(n_inputs), np.zeros(n_inputs)
    for part in parts:
        if isinstance(part, RBF):
            amplitude, lengthscales = float(part.variance), _for_all(part.lengthscale, n_inputs)
        else:
            linear = _for_all(part.variances, n_inputs)
    return BumpsAndLines(amplitude, lengthscales, linear)


def _for_all(values: Any, n_inputs: int) -> Float[np.ndarray, " q"]:
    return np.broadcast_to(np.asarray(values, float), (n_inputs,))


def with_slopes(
    kernel: Any, amplitude: float, lengthscales: Float[np.ndarray, " q"], linear: Float[np.ndarray, " q"]
) -> Any:
    """The kernel with derivatives in the places of its parameters. Inputs that share a parameter are added up."""
    if hasattr(kernel, "kernels"):
        return replace(kernel, kernels=tuple(with_slopes(p, amplitude, lengthscales, linear) for p in kernel.kernels))
    if isinstance(kernel, RBF):
        return replace(kernel, variance=amplitude, lengthscale=_like(kernel.lengthscale, lengthscales))
    return replace(kernel, variances=_like(kernel.variances, linear))


def _like(parameter: Any, slopes: np.ndarray) -> Any:
    return slopes if np.ndim(parameter) else slopes.sum()
