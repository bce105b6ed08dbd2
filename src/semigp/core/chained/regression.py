"""The regression of one column of a table on the others, by a GP with hyperparameters from a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Float

from ..exact.at_points import BumpsAndLines, Predictor

LENGTHSCALES = (0.35, 0.6, 1.0, 1.7)
CURVED, NEARLY_LINEAR = (0.0, 0.2, 1.0), (0.0, 0.2, 0.95, 0.995, 1.0)
NOISES = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
_ROWS_AT_ONCE = 4096
_JOINT = 400  # points that are drawn jointly
# Rows are predicted in multiples of this number. BLAS rounds left-over rows differently from the rest, and every sweep
# amplifies the difference. But the prediction of a row should not depend on the other rows.
_BLOCK = 16


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
    """The hyperparameters with the highest marginal likelihood.

    With K + rI = U (Λ + r) Uᵀ and P = (Uᵀy)², -log p(y) = ½ Σ log(λ + r) + (n + 1)/2 log s up to a constant, where
    s = (Σ P/(λ + r) + 1)/(n + 1). The two ones stand for one more value, of size 1, which keeps s sensible for columns
    with very few values.
    """
    # The lengthscale is chosen first, with a small linear share, and then the linear share.
    lengthscale = min(LENGTHSCALES, key=lambda some: _best_noise(points, values, some, shares[1])[0])
    losses = [_best_noise(points, values, lengthscale, share) for share in shares]
    return min(losses, key=lambda found: found[0])[1]


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
class Quick:
    """A column's regression, conditioned on rows, that predicts in single precision: enough for candidates."""

    regression: Regression
    predictor: Predictor

    @classmethod
    def on(cls, regression: Regression, points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"]) -> Quick:
        """Condition a regression on rows."""
        kernel = regression.kernel(points.shape[1])
        return cls(regression, Predictor.exact(kernel, points, values[:, None], np.array([regression.noise])))

    def predict(self, points: Float[np.ndarray, "k e"]) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Mean and variance of the column's value at each point, with noise."""
        mean, explained = self.predictor.moments(points)
        variance = np.maximum(self.regression.variance(points) - explained[:, 0], self.regression.noise)
        return mean[:, 0], self.regression.scale * variance


@dataclass(frozen=True)
class Conditioned:
    """A column's regression, conditioned on the rows in which the column is known."""

    regression: Regression
    points: Float[np.ndarray, "n e"]
    cholesky: Float[np.ndarray, "n n"]
    weights: Float[np.ndarray, " n"]
    log_evidence: float  # log p(values | points)

    @classmethod
    def on(
        cls, regression: Regression, points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"]
    ) -> Conditioned:
        """Condition a regression on rows: L Lᵀ = K + rI, and the weights L⁻ᵀL⁻¹ y."""
        covariance = regression.covariance(points, points)
        covariance[np.diag_indices(len(points))] += regression.noise
        cholesky = scipy.linalg.cholesky(covariance, lower=True, check_finite=False)
        weights = scipy.linalg.cho_solve((cholesky, True), values, check_finite=False)
        # log N(y | 0, s (K + rI))
        size = np.log(2.0 * np.pi * regression.scale) * len(values) + 2.0 * np.sum(np.log(np.diagonal(cholesky)))
        return cls(regression, points, cholesky, weights, -0.5 * float(size + values @ weights / regression.scale))

    def predict(self, points: Float[np.ndarray, "k e"]) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Mean and variance of the column's value at each point, with noise."""
        means, variances = [], []
        for start in range(0, len(points), _ROWS_AT_ONCE):
            some = points[start : start + _ROWS_AT_ONCE]
            some = np.pad(some, ((0, -len(some) % _BLOCK), (0, 0)), mode="edge")
            cross = self.regression.covariance(some, self.points)
            half = scipy.linalg.solve_triangular(self.cholesky, cross.T, lower=True, check_finite=False)
            explained = np.sum(half**2, axis=0)
            means.append(cross @ self.weights)
            variances.append(np.maximum(self.regression.variance(some) - explained, self.regression.noise))
        count = len(points)
        return np.concatenate(means)[:count], self.regression.scale * np.concatenate(variances)[:count]

    def draw_jointly(
        self, points: Float[np.ndarray, "k e"], normal: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, " k"]:
        """Values of the column at some points, with noise, all from one draw of the function.

        What is not known about the function is then an error that all points share. Points beyond the first few hundred
        share it with the others of their block only.
        """
        drawn = np.empty(len(points))
        for start in range(0, len(points), _JOINT):
            some = points[start : start + _JOINT]
            half = scipy.linalg.solve_triangular(
                self.cholesky, self.regression.covariance(self.points, some), lower=True, check_finite=False
            )
            covariance = self.regression.covariance(some, some) - half.T @ half
            covariance[np.diag_indices(len(some))] += self.regression.noise
            root = scipy.linalg.cholesky(covariance, lower=True, check_finite=False)
            mean = self.regression.covariance(some, self.points) @ self.weights
            noise = np.sqrt(self.regression.scale) * (root @ normal[start : start + _JOINT])
            drawn[start : start + _JOINT] = mean + noise
        return drawn
