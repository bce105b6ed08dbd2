"""What a row's known entries tell about its missing ones beyond the model: a joint Gaussian N(0, Σ) of the residuals.

A model with a few latent inputs leaves residuals that are still correlated, such as those of neighbouring pixels. Σ is
found by expectation maximisation over rows with NaN, as in `core.inputs.joint_gaussian`. Here rows are taken one by
one in NumPy: they may be wide, and nothing has to be compiled. With P = Σ⁻¹, a row's missing residuals have the
covariance V = P_mm⁻¹ and the mean -V P_mk r_k given the known ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ITERATIONS = 10
# Every step multiplies the correlations by 1 - this, so that Σ is a covariance even for more columns than rows.
_SHRINKAGE = 0.1
_SMALLEST = 1e-6  # share of its variance that a column keeps


@dataclass(frozen=True)
class Residuals:
    """A fitted joint Gaussian."""

    precision: np.ndarray  # P (p, p)

    @classmethod
    def of(cls, rows: np.ndarray) -> Residuals:
        """Fitted to residuals (n, p), NaN where missing."""
        known, n = np.nan_to_num(rows), len(rows)
        counts = np.maximum(np.sum(~np.isnan(rows), axis=0), 1)
        variance = np.sum(known**2, axis=0) / counts
        variance = np.where(variance > 0, variance, 1.0)
        model = cls._of(known.T @ known / n, variance, variance)
        for _ in range(_ITERATIONS):
            filled, spread = model._conditional(rows)
            moment = (filled.T @ filled + spread) / n
            model = cls._of(moment, np.diag(moment), variance)
        return model

    @classmethod
    def _of(cls, moment: np.ndarray, diagonal: np.ndarray, variance: np.ndarray) -> Residuals:
        covariance = (1.0 - _SHRINKAGE) * moment
        np.fill_diagonal(covariance, np.maximum(diagonal, _SMALLEST * variance))
        return cls(np.linalg.inv(covariance))

    def expected(self, rows: np.ndarray) -> np.ndarray:
        """The residuals of rows (n, p), with their NaN replaced by their expectations given the known ones."""
        return self._conditional(rows)[0]

    def _conditional(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, and the covariance of the missing residuals, summed over rows (p, p)."""
        filled, total = np.nan_to_num(rows), np.zeros(self.precision.shape)
        pull = filled @ self.precision  # P_mk r_k at missing entries
        for row, own in enumerate(np.isnan(rows)):
            missing = np.flatnonzero(own)
            if len(missing):
                block = np.ix_(missing, missing)
                covariance = np.linalg.inv(self.precision[block])
                filled[row, missing] = -covariance @ pull[row, missing]
                total[block] += covariance
        return filled, total
