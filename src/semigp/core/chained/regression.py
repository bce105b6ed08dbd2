"""The regression of one column of a table on the others, by a GP with hyperparameters from a grid."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from jaxtyping import Float

from ..exact.at_points import BumpsAndLines, Predictor

LENGTHSCALES = (0.35, 0.6, 1.0, 1.7)
CURVED, NEARLY_LINEAR = (0.0, 0.2, 1.0), (0.0, 0.2, 0.95, 0.995, 1.0)
NOISES = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
_JOINT = 400  # points that are drawn jointly


@dataclass(frozen=True)
class Regression:
    """The hyperparameters of one column's regression on the others."""

    lengthscale: float
    linear_share: float
    noise: float
    scale: float

    def kernel(self, n_others: int) -> BumpsAndLines:
        """k(z, z')/s, where z holds the values of the other columns."""
        d, ones = n_others + 1, np.ones(n_others)
        return BumpsAndLines(
            1.0 - self.linear_share, self.lengthscale * np.sqrt(d) * ones, self.linear_share / d * ones
        )

    def covariance(self, left: Float[np.ndarray, "a e"], right: Float[np.ndarray, "b e"]) -> Float[np.ndarray, "a b"]:
        """k(z, z')/s for all pairs of rows."""
        return self.kernel(left.shape[1])(left, right)

    def variance(self, points: Float[np.ndarray, "a e"]) -> Float[np.ndarray, " a"]:
        """k(z, z)/s + r: the prior variance of a value, divided by s, with noise."""
        return self.kernel(points.shape[1]).variance(points) + self.noise


def choose_regression(
    points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"], shares: tuple[float, ...] = CURVED
) -> Regression:
    """The hyperparameters with the highest marginal likelihood, with a linear share from a grid."""
    return choose_regressions(points, values, (shares,))[0]


def choose_regressions(
    points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"], grids: Sequence[tuple[float, ...]]
) -> list[Regression]:
    """For every grid of linear shares, the hyperparameters with the highest marginal likelihood.

    With K + rI = U (Λ + r) Uᵀ and P = (Uᵀy)², -log p(y) = ½ Σ log(λ + r) + (n + 1)/2 log s up to a constant, where
    s = (Σ P/(λ + r) + 1)/(n + 1). The two ones stand for one more value, of size 1, which keeps s sensible for columns
    with very few values.
    """

    @functools.cache
    def best_noise(lengthscale: float, share: float) -> tuple[float, Regression]:
        return _best_noise(points, values, lengthscale, share)

    def best(shares: tuple[float, ...]) -> Regression:
        # The lengthscale is chosen first, with a small linear share, and then the linear share.
        lengthscale = min(LENGTHSCALES, key=lambda some: best_noise(some, shares[1])[0])
        return min((best_noise(lengthscale, share) for share in shares), key=lambda found: found[0])[1]

    return [best(shares) for shares in grids]


def _best_noise(
    points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"], lengthscale: float, share: float
) -> tuple[float, Regression]:
    covariance = Regression(lengthscale, share, 0.0, 1.0).covariance(points, points)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    spectrum = np.maximum(eigenvalues, 0.0)[:, None] + np.array(NOISES)
    squares = (vectors.T @ values)[:, None] ** 2
    scales = (np.sum(squares / spectrum, axis=0) + 1.0) / (len(values) + 1.0)
    losses = 0.5 * np.sum(np.log(spectrum), axis=0) + 0.5 * (len(values) + 1.0) * np.log(scales)
    i = int(np.argmin(losses))
    return float(losses[i]), Regression(lengthscale, share, NOISES[i], float(scales[i]))


@dataclass(frozen=True)
class Conditioned:
    """A column's regression, conditioned on the rows in which the column is known."""

    regression: Regression
    predictor: Predictor

    @classmethod
    def on(
        cls,
        regression: Regression,
        points: Float[np.ndarray, "n e"],
        values: Float[np.ndarray, " n"],
        precision: Any = float,
    ) -> Conditioned:
        """Condition a regression on rows. Single precision is enough to draw from it."""
        kernel, noise = regression.kernel(points.shape[1]), np.array([regression.noise])
        return cls(regression, Predictor.exact(kernel, points, values[:, None], noise, precision))

    @property
    def log_evidence(self) -> float:
        """Log N(y | 0, s (K + rI)). With RᵀR = (K + rI)⁻¹, it has the parts |Ry|² and log|R|."""
        root, white, scale = self.predictor.root, self.predictor.loadings[:, 0], self.regression.scale
        size = np.log(2.0 * np.pi * scale) * len(white) - 2.0 * np.sum(np.log(np.diagonal(root)), dtype=float)
        return -0.5 * float(size + white @ white / scale)

    def predict(self, points: Float[np.ndarray, "k e"]) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Mean and variance of the column's value at each point, with noise."""
        mean, explained = self.predictor.moments(points)
        variance = np.maximum(self.regression.variance(points) - explained[:, 0], self.regression.noise)
        return mean[:, 0], self.regression.scale * variance

    def left_out(self, values: Float[np.ndarray, " n"]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Mean and standard deviation of each value given the others: y - α/K⁻¹_ii and √(s/K⁻¹_ii)."""
        root = self.predictor.root
        precision, weights = np.sum(root**2, axis=0), root.T @ self.predictor.loadings[:, 0]
        return values - weights / precision, np.sqrt(self.regression.scale / precision)

    def draw_jointly(
        self, points: Float[np.ndarray, "k e"], normal: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, " k"]:
        """Values of the column at some points, with noise, all from one draw of the function.

        What is not known about the function is then an error that all points share. Points beyond the first few hundred
        share it with the others of their block only.
        """
        drawn = np.empty(len(points))
        for start in range(0, len(points), _JOINT):
            some = points[start : start + _JOINT].astype(self.predictor.root.dtype)
            half = self.predictor.half(some)
            covariance = (self.predictor.kernel(some, some) - half @ half.T).astype(float)
            covariance[np.diag_indices(len(some))] += self.regression.noise
            root = scipy.linalg.cholesky(covariance, lower=True, check_finite=False)
            noise = np.sqrt(self.regression.scale) * (root @ normal[start : start + _JOINT])
            drawn[start : start + _JOINT] = half @ self.predictor.loadings[:, 0] + noise
        return drawn
