"""The kernel that regressions here begin with, and the priors that keep its parameters sensible. In standard units."""

from __future__ import annotations

import numpy as np

from ..hyperpriors import LogNormal
from ..kernels import RBF, Kernel, Linear

NOISE_VARIANCE = 0.05
_LINEAR_VARIANCE = 0.1
# The scale of an output is a parameter of the likelihood; the kernel's own is idle beside it.
IDLE = ("kernel.variance", "kernel.kernels.0.variance")


def default_kernel(n_inputs: int, linear: bool, lengthscale: float = 1.0) -> Kernel:
    """ARD RBF; at factor 1 on its lengthscales inputs of unit variance are neither all alike nor all different."""
    rbf = RBF(1.0, np.full(n_inputs, lengthscale * np.sqrt(n_inputs)))
    return rbf + Linear(np.full(n_inputs, _LINEAR_VARIANCE / n_inputs)) if linear else rbf


def default_hyperpriors(n_inputs: int, linear: bool, lengthscale_spread: float | None) -> dict[str, LogNormal]:
    """Weak on noise and signal, which may not run away on constant outputs; as firm as asked for on lengthscales."""
    priors = {"noise_variance": LogNormal(NOISE_VARIANCE, 2.0), "output_scale": LogNormal(1.0, 1.0)}
    if lengthscale_spread is not None:
        priors["kernel*lengthscale"] = LogNormal(np.sqrt(n_inputs), lengthscale_spread)
    if linear:
        priors["kernel*variances"] = LogNormal(_LINEAR_VARIANCE / n_inputs, 1.0)
    return priors


def idle_parameters(linear: bool) -> tuple[str, ...]:
    """Paths to hold in every stage."""
    return IDLE[1:] if linear else IDLE[:1]
