"""A GP from rows to classes: regression of one-hot labels with a covariance that is a weighted sum of parts.

    y_c ~ N(0, K + σ² W⁻¹),   K = Σ_k s_k K_k(r_k)

W holds the weights of the labelled rows. A part is a given covariance (such as that of a graph), or exp(-½ r d²) of
squared distances d² in units of their median. The evidence (the likelihood of the labels) determines s, r and σ².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.special import log_softmax

# Medians of the log-normal hyperpriors, for one-hot labels, and standard deviations of the logarithms.
_SIGNAL, _PRECISION, _NOISE = 0.25, 3.0, 0.02
_SIGNAL_SPREAD, _PRECISION_SPREAD, _NOISE_SPREAD = 1.5, 1.0, 1.5
_JITTER = 1e-6
# Log-normal prior on the factor that turns means into logits: log of its median, and standard deviation of its log.
_SHARPNESS, _SHARPNESS_SPREAD = 1.0, 2.0
# More labelled rows than this add time but hardly change the hyperparameters.
_MOST_ROWS = 1000


@dataclass(frozen=True)
class CovariancePart:
    """A covariance between two sets of rows, or their squared distances in units of the median."""

    table: np.ndarray
    is_distance: bool

    def covariance(self, log_precision: float) -> np.ndarray:
        """K_k: the given covariance, or exp(-½ r d²)."""
        return np.exp(-0.5 * np.exp(log_precision) * self.table) if self.is_distance else self.table

    def among(self, rows: np.ndarray) -> CovariancePart:
        """The part between the given rows only."""
        return CovariancePart(self.table[np.ix_(rows, rows)], self.is_distance)


class LabelGP:
    """A GP that is fitted on creation to the centred one-hot labels (l, c) of l rows."""

    def __init__(self, parts: Sequence[CovariancePart], labels: np.ndarray, weights: np.ndarray) -> None:
        some = evenly_spread(len(labels), _MOST_ROWS)
        self._parameters = _fit([part.among(some) for part in parts], labels[some], weights[some])
        noise = np.exp(self._parameters[-1]) / weights + _jitter(self._parameters, len(parts))
        covariance = self._covariance(parts) + np.diag(noise)
        inverse = scipy.linalg.inv(covariance, check_finite=False)
        self._coefficients = inverse @ labels
        # The leave-one-out prediction of a GP regression: y - [K⁻¹y]/[K⁻¹]_ii.
        self.left_out = labels - self._coefficients / np.diag(inverse)[:, None]

    def predict(self, parts: Sequence[CovariancePart]) -> np.ndarray:
        """Means at n new rows, from the parts (n, l) between them and the labelled rows."""
        return self._covariance(parts) @ self._coefficients

    def _covariance(self, parts: Sequence[CovariancePart]) -> np.ndarray:
        return sum(covariances(parts, self._parameters))  # type: ignore[return-value]


def _jitter(parameters: np.ndarray, count: int) -> float:
    """A small number beside the signals, so that the search cannot end in a matrix without a Cholesky factor."""
    return _JITTER * max(1.0, float(np.sum(np.exp(parameters[:count]))))


def covariances(parts: Sequence[CovariancePart], parameters: np.ndarray) -> list[np.ndarray]:
    """s_k K_k. The parameters are log s and log r (one per part; r is used by distances only), and any others."""
    count = len(parts)
    return [np.exp(parameters[k]) * part.covariance(parameters[count + k]) for k, part in enumerate(parts)]


def _fit(parts: Sequence[CovariancePart], labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The parameters that maximise evidence times hyperpriors."""
    count, (n, n_classes) = len(parts), labels.shape
    centre = np.log(np.repeat([_SIGNAL / count, _PRECISION, _NOISE], [count, count, 1]))
    spread = np.repeat([_SIGNAL_SPREAD, _PRECISION_SPREAD, _NOISE_SPREAD], [count, count, 1])

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        tables = covariances(parts, parameters)
        noise = np.exp(parameters[-1]) / weights
        cholesky = scipy.linalg.cholesky(sum(tables) + np.diag(noise + _jitter(parameters, count)), lower=True)
        inverse = scipy.linalg.cho_solve((cholesky, True), np.eye(n))
        coefficients = inverse @ labels
        away = (parameters - centre) / spread
        value = 0.5 * np.sum(labels * coefficients) + n_classes * np.sum(np.log(np.diag(cholesky)))
        slope = 0.5 * (n_classes * inverse - coefficients @ coefficients.T)  # of the loss in K
        gradient = np.zeros_like(parameters)
        for k, (part, table) in enumerate(zip(parts, tables, strict=True)):
            gradient[k] = np.sum(slope * table)
            if part.is_distance:
                gradient[count + k] = -0.5 * np.exp(parameters[count + k]) * np.sum(slope * table * part.table)
        gradient[-1] = np.diag(slope) @ noise
        return value + 0.5 * np.sum(away**2), gradient + away / spread

    return scipy.optimize.minimize(loss, centre, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x


def sharpen(means: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The factor f with the best probabilities softmax(f · means), and its log-likelihood plus log prior."""

    def loss(log_factor: float) -> float:
        scores = log_softmax(np.exp(log_factor) * means, axis=1)[np.arange(len(classes)), classes]
        return -weights @ scores + 0.5 * ((log_factor - _SHARPNESS) / _SHARPNESS_SPREAD) ** 2

    best = scipy.optimize.minimize_scalar(loss, bounds=(-3.0, 5.0), method="bounded")
    return float(np.exp(best.x)), -float(best.fun)


def evenly_spread(n: int, most: int) -> np.ndarray:
    """Indices of all n rows, or of `most` rows that are evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))


def one_hot(classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Centred one-hot labels (l, c) of class numbers (l,)."""
    return np.eye(n_classes)[classes] - 1.0 / n_classes


def median_square(squares: np.ndarray) -> float:
    """The median of the positive squared distances, or 1 if there are none."""
    positive = squares[squares > 0]
    return float(np.median(positive)) if positive.size else 1.0
