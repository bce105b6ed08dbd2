"""The log evidence of an exact GP with one output, and its slopes, in NumPy: no program has to be compiled.

    log p(y) = -½ yᵀ A⁻¹ y - ½ log|A| - n/2 log 2π,    A = K + (σ² + 1e-8) I

The floor under the noise variance is for outputs of unit variance.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .at_points import BumpsAndLines, inverse_of, kernel_slopes

# This is added to the noise variance. It is about the square root of float64's precision.
NOISE_FLOOR = 1e-8

Slopes = tuple[float, Float[np.ndarray, " d"], Float[np.ndarray, " d"], float]


class Evidence:
    """Log p(y) of targets at certain inputs, for any hyperparameters.

    Large arrays are kept from one evaluation to the next: fresh memory costs as much time as the products.
    """

    def __init__(self, inputs: Float[np.ndarray, "n d"], targets: Float[np.ndarray, " n"]) -> None:
        self.inputs, self.targets = inputs, targets
        self._bump, self._covariance, self._root, self._inverse = np.zeros((4, len(targets), len(targets)))

    def __call__(self, kernel: BumpsAndLines, noise_variance: float) -> tuple[float, Slopes]:
        """Log p(y), and its derivatives by the logarithms of a, ℓ, v and σ².

        Raises LinAlgError where A is not positive definite in double precision.
        """
        (n, _), X, y = self.inputs.shape, self.inputs, self.targets
        bump = kernel.bumps(X, X, self._bump)
        covariance = np.matmul(X * kernel.linear, X.T, out=self._covariance)
        covariance += bump
        covariance[np.diag_indices(n)] += noise_variance + NOISE_FLOOR
        inverse, log_determinant = inverse_of(covariance, self._root, self._inverse)
        weights = inverse @ y  # α
        value = -0.5 * float(y @ weights) - 0.5 * log_determinant - 0.5 * n * np.log(2.0 * np.pi)
        # ∂log p(y)/∂K = ½ M,  M = α αᵀ - A⁻¹, in the memory of A
        M = np.subtract(np.multiply.outer(weights, weights, out=covariance), inverse, out=covariance)
        amplitude, lengthscales, linear = kernel_slopes(kernel, X, bump, M, out=inverse)
        return value, (0.5 * amplitude, 0.5 * lengthscales, 0.5 * linear, 0.5 * noise_variance * float(np.trace(M)))
