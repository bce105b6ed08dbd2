"""Laplace's approximation for classes: a GP for each class, all with one covariance, and a softmax of their values.

    f_c ~ N(0, K),   log p(Y | F) = Σ_i w_i log softmax(f_i)_{y_i}          F (l, c), weights w (l,)

At the mode F = K A with A = w (Y - P), where P is the softmax of F. There the likelihood has the curvature
W = D - D R (RᵀDR)⁻¹ RᵀD, with D the diagonal matrix of w_i P_ic and R the c identity matrices on top of each other.
Everything is computed from c matrices (l, l), as in Rasmussen and Williams, sections 3.5 and 5.5:

    E_c = D_c^½ (I + D_c^½ K D_c^½)⁻¹ D_c^½,   S = Σ_c E_c,   M = (K + W⁻¹)⁻¹ = E - E R S⁻¹ RᵀE
    log evidence = log p(Y | F) - ½ Σ_c f_cᵀ a_c - ½ log |I + K W|,   |I + K W| = |S| Π_c |I + D_c^½ K D_c^½| / Π_i w_i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.special import log_softmax, softmax

_STEPS, _HALVINGS = 50, 12
# Newton's steps end when they gain less than this many nats.
_GAIN = 1e-9
# For more rows than this the mode is found without matrices of each class.
_MOST_ROWS = 500
_JITTER = 1e-10


@dataclass(frozen=True)
class Evidence:
    """The log evidence, its slope in K, and the mode."""

    value: float
    slope: np.ndarray  # (l, l)
    coefficients: np.ndarray  # A (l, c)


class _Curvature:
    """M = (K + W⁻¹)⁻¹ at the probabilities P."""

    def __init__(self, covariance: np.ndarray, probabilities: np.ndarray, weights: np.ndarray) -> None:
        self.log_determinant = -float(np.sum(np.log(weights)))
        self.blocks = [self._block(covariance, np.sqrt(weights * column)) for column in probabilities.T]  # E_c
        total = np.sum(self.blocks, axis=0)
        total[np.diag_indices_from(total)] += _JITTER * np.trace(total) / len(total)
        self._root = scipy.linalg.cholesky(total, lower=True, check_finite=False)
        self.log_determinant += 2.0 * float(np.sum(np.log(np.diag(self._root))))

    def _block(self, covariance: np.ndarray, root: np.ndarray) -> np.ndarray:
        inner = root[:, None] * covariance * root
        inner[np.diag_indices_from(inner)] += 1.0
        cholesky = scipy.linalg.cholesky(inner, lower=True, check_finite=False)
        self.log_determinant += 2.0 * float(np.sum(np.log(np.diag(cholesky))))
        inverse = scipy.linalg.lapack.dpotri(cholesky, lower=1)[0]
        return root[:, None] * (np.tril(inverse) + np.tril(inverse, -1).T) * root

    def whitened(self, table: np.ndarray) -> np.ndarray:
        """S^-½ table."""
        return scipy.linalg.solve_triangular(self._root, table, lower=True, check_finite=False)

    def times(self, values: np.ndarray) -> np.ndarray:
        """M times values (l, c)."""
        each = np.column_stack([block @ column for block, column in zip(self.blocks, values.T, strict=True)])
        common = scipy.linalg.cho_solve((self._root, True), each.sum(axis=1), check_finite=False)
        return each - np.column_stack([block @ common for block in self.blocks])


def evidence(
    covariance: np.ndarray, labels: np.ndarray, weights: np.ndarray, start: np.ndarray | None = None
) -> Evidence:
    """The log evidence of one-hot labels (l, c), with everything that a search for hyperparameters needs.

    The mode moves with K, so that with g the slope of -½ log |I + K W| in F, and h = (I + W K)⁻¹ g, the slope in K is
    ½ Σ_c (a_c a_cᵀ - M_cc + h_c a_cᵀ + a_c h_cᵀ).
    """
    coefficients = mode(covariance, labels, weights, start)
    values = covariance @ coefficients
    probabilities = softmax(values, axis=1)
    curvature = _Curvature(covariance, probabilities, weights)
    value = _objective(coefficients, values, labels, weights) - 0.5 * curvature.log_determinant
    spread = _variances(covariance, curvature)
    away = np.einsum("icc->ic", spread) - 2.0 * np.einsum("icd,id->ic", spread, probabilities)
    away -= np.sum(probabilities * away, axis=1, keepdims=True)
    g = -0.5 * weights[:, None] * probabilities * away
    moved = (g - curvature.times(covariance @ g)) @ coefficients.T
    slope = coefficients @ coefficients.T + moved + moved.T
    for block in curvature.blocks:
        slope += (whitened := curvature.whitened(block)).T @ whitened - block
    return Evidence(value, 0.5 * slope, coefficients)


def _variances(covariance: np.ndarray, curvature: _Curvature) -> np.ndarray:
    """The posterior covariance (l, c, c) of the c values at each row: the diagonals of K - K M K."""
    blocks = curvature.blocks
    roots = np.stack([curvature.whitened(block @ covariance) for block in blocks])
    spread = np.einsum("cmi,dmi->icd", roots, roots)
    for c, block in enumerate(blocks):
        spread[:, c, c] += np.diag(covariance) - np.sum(covariance * (block @ covariance), axis=0)
    return spread


def mode(
    covariance: np.ndarray, labels: np.ndarray, weights: np.ndarray, start: np.ndarray | None = None
) -> np.ndarray:
    """The coefficients A (l, c) at the mode, by Newton's method, or by L-BFGS if there are many rows."""
    if len(labels) > _MOST_ROWS:
        return _mode_of_many(covariance, labels, weights)
    zero = np.zeros_like(labels)
    coefficients, best = zero, _objective(zero, zero, labels, weights)
    if start is not None and (found := _objective(start, covariance @ start, labels, weights)) > best:
        coefficients, best = start, found
    for _ in range(_STEPS):
        target = _newton_target(covariance, coefficients, labels, weights)
        for k in range(_HALVINGS):
            trial = coefficients + 0.5**k * (target - coefficients)
            if (found := _objective(trial, covariance @ trial, labels, weights)) >= best:
                break
        else:
            break
        gain, coefficients, best = found - best, trial, found
        if gain < _GAIN:
            break
    return coefficients


def _newton_target(
    covariance: np.ndarray, coefficients: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Where Newton's whole step leads: b - M K b with b = W f + w (Y - P)."""
    values = covariance @ coefficients
    probabilities = softmax(values, axis=1)
    centred = values - np.sum(probabilities * values, axis=1, keepdims=True)
    b = weights[:, None] * (probabilities * centred + labels - probabilities)
    return b - _Curvature(covariance, probabilities, weights).times(covariance @ b)


def _objective(coefficients: np.ndarray, values: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """The objective of the mode: log p(Y | F) - ½ Σ_c f_cᵀ K⁻¹ f_c."""
    return float(weights @ np.sum(labels * log_softmax(values, axis=1), axis=1) - 0.5 * np.sum(coefficients * values))


def _mode_of_many(covariance: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same mode, as F = L V with K = L Lᵀ: every iteration costs two products with L."""
    root = scipy.linalg.cholesky(covariance, lower=True, check_finite=False)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        whitened = flat.reshape(labels.shape)
        values = root @ whitened
        away = weights[:, None] * (labels - softmax(values, axis=1))
        likelihood = weights @ np.sum(labels * log_softmax(values, axis=1), axis=1)
        return 0.5 * float(flat @ flat) - float(likelihood), (whitened - root.T @ away).ravel()

    found = scipy.optimize.minimize(loss, np.zeros(labels.size), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return weights[:, None] * (labels - softmax(root @ found.x.reshape(labels.shape), axis=1))
