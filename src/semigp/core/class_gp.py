"""A GP from rows to classes: a softmax likelihood, and a covariance that is a weighted sum of parts.

    f_c ~ N(0, K) for each class c,   p(class of row i) = softmax(f_i),   K = Σ_k s_k K_k(r_k)

The parts are those of `label_gp`, which regresses one-hot labels instead. Laplace's approximation of the evidence,
with hyperpriors, determines s and r.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.optimize

from .label_gp import CovariancePart, covariances, evenly_spread
from .numerics.laplace import evidence, mode

# Standard deviation of the logarithms of signals under their hyperprior; median and the same of the precisions.
_SIGNAL_SPREAD = 1.5
_PRECISION, _PRECISION_SPREAD = 3.0, 1.0
# The search stays within this many standard deviations of the hyperpriors.
_FARTHEST = 6.0
_JITTER = 1e-6
# More labelled rows than this add time but hardly change the hyperparameters.
_MOST_ROWS = 150


class ClassGP:
    """A GP that is fitted on creation to the one-hot labels (l, c) of l rows.

    `signals` are the medians of the hyperpriors on s, one for each part.

    `evidence` is that of the `n_used` labels, at most 150, from which the hyperparameters were found. The log density
    of their hyperpriors is part of it.
    """

    def __init__(
        self, parts: Sequence[CovariancePart], signals: Sequence[float], labels: np.ndarray, weights: np.ndarray
    ) -> None:
        some = evenly_spread(len(labels), _MOST_ROWS)
        used = [part.among(some) for part in parts]
        self._parameters, self.evidence = _fit(used, signals, labels[some], weights[some])
        self.n_used = len(some)
        covariance = _with_jitter(self._covariance(parts), self._parameters, len(parts))
        self._coefficients = mode(covariance, labels, weights)

    def predict(self, parts: Sequence[CovariancePart]) -> np.ndarray:
        """The modes of f (n, c) at n new rows, from the parts (n, l) between them and the labelled rows."""
        return self._covariance(parts) @ self._coefficients

    def _covariance(self, parts: Sequence[CovariancePart]) -> np.ndarray:
        return sum(covariances(parts, self._parameters))  # type: ignore[return-value]


def _with_jitter(covariance: np.ndarray, parameters: np.ndarray, count: int) -> np.ndarray:
    """A covariance with a small share of the signals on its diagonal, so that equal rows are no trouble."""
    return covariance + _JITTER * np.sum(np.exp(parameters[:count])) * np.eye(len(covariance))


def _fit(
    parts: Sequence[CovariancePart], signals: Sequence[float], labels: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, float]:
    """The parameters that maximise evidence times hyperpriors, and the logarithm of that product."""
    count = len(parts)
    centre = np.log([*signals, *[_PRECISION] * count])
    spread = np.repeat([_SIGNAL_SPREAD, _PRECISION_SPREAD], count)
    coefficients: np.ndarray | None = None

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal coefficients
        tables = covariances(parts, parameters)
        found = evidence(_with_jitter(sum(tables), parameters, count), labels, weights, coefficients)  # type: ignore[arg-type]
        coefficients = found.coefficients  # where the next search for a mode starts
        slope_of_jitter = _JITTER * np.trace(found.slope)
        gradient = np.zeros_like(parameters)
        for k, (part, table) in enumerate(zip(parts, tables, strict=True)):
            gradient[k] = np.sum(found.slope * table) + slope_of_jitter * np.exp(parameters[k])
            if part.is_distance:
                factor = -0.5 * np.exp(parameters[count + k])
                gradient[count + k] = factor * np.sum(found.slope * table * part.table)
        away = (parameters - centre) / spread
        return 0.5 * np.sum(away**2) - found.value, away / spread - gradient

    bounds = np.column_stack([centre - _FARTHEST * spread, centre + _FARTHEST * spread])
    options = {"maxiter": 40, "ftol": 1e-4}
    best = scipy.optimize.minimize(loss, centre, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return best.x, -float(best.fun)
