"""The kernel from which regressions start, and hyperpriors that keep its parameters sensible. All in standard units."""

from __future__ import annotations

import numpy as np

from ..hyperpriors import LogNormal
from ..kernels import RBF, Kernel, Linear

NOISE_VARIANCE = 0.05
_LINEAR_VARIANCE = 0.1
# The variance of the RBF kernel is not fitted: the likelihood already has a scale for every output.
IDLE = ("kernel.variance", "kernel.kernels.0.variance")


def default_kernel(n_inputs: int, linear: bool, lengthscale: float = 1.0) -> Kernel:
    """An RBF kernel with ARD, plus a linear kernel if `linear`.

    Its lengthscales are `lengthscale` · √q. With the factor 1, inputs of unit variance are then neither all alike nor
    all different.
    """
    rbf = RBF(1.0, np.full(n_inputs, lengthscale * np.sqrt(n_inputs)))
    return rbf + Linear(np.full(n_inputs, _LINEAR_VARIANCE / n_inputs)) if linear else rbf


def default_hyperpriors(n_inputs: int, linear: bool, lengthscale_spread: float | None) -> dict[str, LogNormal]:
    """The hyperpriors of the default kernel and of the likelihood.

    The hyperpriors on noise and signal are weak, and keep both finite if an output is constant. The hyperprior on
    lengthscales is as narrow as `lengthscale_spread` says.
    """
    priors = {"noise_variance": LogNormal(NOISE_VARIANCE, 2.0), "output_scale": LogNormal(1.0, 1.0)}
    if lengthscale_spread is not None:
        priors["kernel*lengthscale"] = LogNormal(np.sqrt(n_inputs), lengthscale_spread)
    if linear:
        priors["kernel*variances"] = LogNormal(_LINEAR_VARIANCE / n_inputs, 1.0)
    return priors


def idle_parameters(linear: bool) -> tuple[str, ...]:
    """Paths of the parameters that are held in every stage."""
    return IDLE[1:] if linear else IDLE[:1]
