"""Which inputs matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.kernels import Kernel


def relevance(kernels: Sequence[Kernel], input_variance: Any = 1.0) -> np.ndarray:
    """How much of the outputs' variation runs along each input, the largest being 1.

    The prior variance of the slope ∂f/∂x_i, which is σ²/ℓ_i² for an RBF and v_i for a linear kernel, times the variance
    of the input (1 in standard units), averaged over the kernels.
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
