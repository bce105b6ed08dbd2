"""What a row's known entries tell about its missing ones beyond the model: factor analysis of the residuals.

    r_n = W h_n + ε_n,   h_n ~ N(0, I),   ε_nj ~ N(0, s_j),   w_j ~ N(0, I)

A model with a few latent inputs leaves residuals that are still correlated, such as those of neighbouring pixels. Rows
may hold NaN. W and s are found by expectation maximisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_FACTORS, _ITERATIONS = 10, 40
# The noise variances have the prior of this many residuals of this share of the column's variance.
_PRIOR_ROWS, _PRIOR_SHARE = 5.0, 0.05
_SMALLEST = 1e-9


@dataclass(frozen=True)
class Residuals:
    """A fitted factor analysis."""

    loadings: np.ndarray  # W (p, k)
    noise_variance: np.ndarray  # s (p,)

    @classmethod
    def of(cls, rows: np.ndarray) -> Residuals:
        """Fitted to residuals (n, p), NaN where missing."""
        seen, values = (~np.isnan(rows)).astype(float), np.nan_to_num(rows)
        counts = seen.sum(axis=0)
        variance = np.maximum(np.sum(values**2, axis=0) / np.maximum(counts, 1.0), _SMALLEST)
        k = min(_FACTORS, rows.shape[1] - 1, len(rows))
        _, singular, axes = np.linalg.svd(values, full_matrices=False)
        model = cls(axes[:k].T * singular[:k] / np.sqrt(len(rows)), 0.5 * variance)
        for _ in range(_ITERATIONS):
            mean, covariance = model._factors(rows)
            moments = covariance + mean[:, :, None] * mean[:, None, :]
            totals = np.einsum("np,nij->pij", seen, moments, optimize=True)
            totals += model.noise_variance[:, None, None] * np.eye(k)
            loadings = np.linalg.solve(totals, (values.T @ mean)[:, :, None])[:, :, 0]
            spread = np.einsum("pi,nij,pj->np", loadings, covariance, loadings, optimize=True)
            left = np.sum(seen * ((values - mean @ loadings.T) ** 2 + spread), axis=0)
            noise = (left + _PRIOR_ROWS * _PRIOR_SHARE * variance) / (counts + _PRIOR_ROWS)
            model = cls(loadings, np.maximum(noise, _SMALLEST))
        return model

    def expected(self, rows: np.ndarray) -> np.ndarray:
        """The residuals of rows (n, p), with their NaN replaced by their expectations given the known ones."""
        return np.where(np.isnan(rows), self._factors(rows)[0] @ self.loadings.T, rows)

    def _factors(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean (n, k) and covariance (n, k, k) of every row's factors."""
        precision = np.where(np.isnan(rows), 0.0, 1.0 / self.noise_variance)
        total = np.einsum("np,pi,pj->nij", precision, self.loadings, self.loadings, optimize=True)
        covariance = np.linalg.inv(total + np.eye(self.loadings.shape[1]))
        pull = (np.nan_to_num(rows) * precision) @ self.loadings
        return np.einsum("nij,nj->ni", covariance, pull), covariance
