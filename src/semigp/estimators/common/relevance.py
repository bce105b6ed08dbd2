"""Which inputs matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.kernels import Kernel


def relevance(fitted: Sequence[Kernel]) -> np.ndarray:
    """σ²/ℓ² of the RBF and v of the linear kernel, the prior variance of ∂f/∂x, mean over kernels, relative."""
    slopes = []
    for kernel in fitted:
        parts = getattr(kernel, "kernels", (kernel,))
        slope = parts[0].variance / np.asarray(parts[0].lengthscale) ** 2
        slopes.append(slope + sum(np.asarray(part.variances) for part in parts[1:]))
    mean = np.mean(slopes, axis=0)
    return mean / mean.max()
