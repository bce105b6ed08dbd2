"""How much each input matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.kernels import Kernel


def relevance(kernels: Sequence[Kernel], input_variance: Any = 1.0) -> np.ndarray:
    """How much the outputs vary along each input, relative to the largest, which is 1.

    It is the prior variance of the slope ∂f/∂x_i, times the variance of the input (1 in standard units), averaged over
    the kernels. The variance of the slope is σ²/ℓ_i² for an RBF kernel and v_i for a linear one.
    """
    slopes = np.mean([slope_variance(kernel) for kernel in kernels], axis=0) * input_variance
    return slopes / max(slopes.max(), np.finfo(float).tiny)


def slope_variance(kernel: Kernel) -> np.ndarray:
    """The prior variance of ∂f/∂x, for an RBF or the sum of an RBF and linear kernels."""
    parts: tuple[Any, ...] = getattr(kernel, "kernels", (kernel,))
    rbf, *linear = parts
    return np.asarray(rbf.variance) / np.asarray(rbf.lengthscale) ** 2 + sum(
        np.asarray(part.variances) for part in linear
    )
