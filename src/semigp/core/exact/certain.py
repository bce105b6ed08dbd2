"""Exact GPs of several outputs at certain inputs, in NumPy: no program has to be compiled.

Every output has the kernel s k(x, x') and the noise variance s r, with its own s and r, and

    k(x, x') = exp(-½ Σ_j (x_j - x'_j)² / ℓ_j²) + Σ_j v_j x_j x'_j.

Inputs come in groups, one for each column of the user's table: a number has one input, and a category one for each of
its levels. A group has one lengthscale ℓ and one linear variance v. They are found by evidence, with s in closed form:
s = yᵀ(K + rI)⁻¹y / n. Rows in which an output is missing do not count for that output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Float, Int
from scipy.optimize import minimize

# Noise variances relative to the signal, from which each of several outputs chooses.
_NOISES = np.geomspace(1e-4, 3.0, 22)
_JITTER, _DECIMALS = 1e-6, 8
# Of the bulk of the work of `OutputDensity`: enough to choose among candidates, and twice as fast as double precision.
_PRECISION = np.float32
# Hyperpriors for q groups: log ℓ ~ N(log √q, .5²), log v ~ N(log .1/q, 2²), log r ~ N(log .1, 2²).
_LENGTHSCALE_SPREAD, _LINEAR, _LINEAR_SPREAD, _NOISE, _NOISE_SPREAD = 0.5, np.log(0.1), 2.0, np.log(0.1), 2.0


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters of all outputs. Lengthscales and linear variances are common to them."""

    lengthscales: Float[np.ndarray, " d"]
    linear: Float[np.ndarray, " d"]  # v
    noise: Float[np.ndarray, " p"]  # r
    scale: Float[np.ndarray, " p"]  # s
    log_evidence: float  # of all outputs, hyperpriors included
    free: Float[np.ndarray, " h"]  # the parameters as they are searched for, from which another search can start

    def covariance(self, left: Float[np.ndarray, "a d"], right: Float[np.ndarray, "b d"]) -> Float[np.ndarray, "a b"]:
        """k(x, x') for all pairs of rows."""
        return _bumps(left / self.lengthscales, right / self.lengthscales) + (left * self.linear) @ right.T

    def prior_variance(self, points: Float[np.ndarray, "a d"]) -> Float[np.ndarray, " a"]:
        """k(x, x) for every row."""
        return 1.0 + points**2 @ self.linear


def _bumps(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    squares = np.sum(left**2, axis=1)[:, None] + np.sum(right**2, axis=1) - 2.0 * (left @ right.T)
    return np.exp(-0.5 * np.maximum(squares, 0.0))


def fit_hyperparameters(
    inputs: Float[np.ndarray, "n d"],
    targets: Float[np.ndarray, "n p"],
    groups: Int[np.ndarray, " d"],
    start: Hyperparameters | None,
    max_iterations: int,
    has_shared_noise: bool = False,
) -> Hyperparameters:
    """The hyperparameters of highest evidence. `groups` holds the number of the group of every input.

    With shared noise all outputs have the same s and r.
    """
    q = int(groups.max()) + 1 if len(groups) else 1
    means = np.r_[np.full(q, 0.5 * np.log(q)), np.full(q, _LINEAR - np.log(q)), _NOISE]
    spreads = np.r_[np.full(q, _LENGTHSCALE_SPREAD), np.full(q, _LINEAR_SPREAD), _NOISE_SPREAD]
    first = means if start is None else start.free
    patterns = list(_patterns(targets))

    def loss(free: np.ndarray) -> tuple[float, np.ndarray]:
        deviations = (free - means) / spreads
        value, gradient = 0.5 * float(deviations @ deviations), deviations / spreads
        for rows, outputs in patterns:
            more, slope = _loss(free, inputs[rows], targets[np.ix_(rows, outputs)], groups, has_shared_noise)
            value, gradient = value + more, gradient + slope
        return value, gradient

    bounds = [(-2.0, 6.0)] * q + [(-12.0, 6.0)] * q + [(-10.0, 1.0)]
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_iterations})
    # The last digits depend on where arrays lie in memory, so that a fit in another thread would differ.
    best, evidence = np.round(found.x, _DECIMALS), -round(float(found.fun), _DECIMALS)
    return _with_noise(best, evidence, inputs, targets, groups, patterns, has_shared_noise)


def _patterns(targets: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Outputs that are known in the same rows, together with these rows. Outputs that are never known are left out."""
    known = ~np.isnan(targets)
    for pattern in np.unique(known, axis=1).T:
        if pattern.any():
            yield np.flatnonzero(pattern), np.flatnonzero((known == pattern[:, None]).all(axis=0))


def _loss(
    free: np.ndarray, X: np.ndarray, Y: np.ndarray, groups: np.ndarray, has_shared_noise: bool = False
) -> tuple[float, np.ndarray]:
    """-log p(Y) without constants, and its gradient: ½ Σ_p n log s_p + p/2 log|K + rI|."""
    (n, p), q = Y.shape, len(free) // 2
    lengthscales, linear, noise = np.exp(free[:q])[groups], np.exp(free[q : 2 * q])[groups], np.exp(free[-1])
    scaled = X / lengthscales
    bumps = _bumps(scaled, scaled)
    inverse, log_determinant = _inverse(bumps + (X * linear) @ X.T, noise)
    weights = inverse @ Y
    scale = np.sum(Y * weights, axis=0) / n + _JITTER
    scale = np.full(p, scale.mean()) if has_shared_noise else scale
    value = 0.5 * n * float(np.sum(np.log(scale))) + 0.5 * p * log_determinant
    # ∂value/∂K = -½ M,  M = Σ_p α_p α_pᵀ/s_p - p (K + rI)⁻¹
    M = (weights / scale) @ weights.T - p * inverse
    pulls = M * bumps
    # Σ_ab P_ab (z_a - z_b)² = 2 Σ_a z_a² Σ_b P_ab - 2 zᵀPz, for every input at once
    squares = 2.0 * np.sum(scaled**2 * pulls.sum(axis=1)[:, None], axis=0) - 2.0 * np.sum(scaled * (pulls @ scaled), 0)
    lines = linear * np.sum(X * (M @ X), axis=0)
    slopes = [np.bincount(groups, part, q) for part in (squares, lines)]
    return value, -0.5 * np.r_[(*slopes, noise * np.trace(M))]


def _inverse(covariance: np.ndarray, noise: float) -> tuple[np.ndarray, float]:
    """(K + rI)⁻¹ and log|K + rI|. The memory of K is used."""
    covariance[np.diag_indices(len(covariance))] += noise + _JITTER
    cholesky = scipy.linalg.cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
    log_determinant = 2.0 * float(np.sum(np.log(np.diagonal(cholesky))))
    lower, _ = scipy.linalg.lapack.dpotri(cholesky, lower=1, overwrite_c=1)
    inverse = lower + lower.T  # the other half is zero
    inverse[np.diag_indices(len(inverse))] *= 0.5
    return inverse, log_determinant


def _with_noise(
    free: np.ndarray,
    evidence: float,
    X: np.ndarray,
    Y: np.ndarray,
    groups: np.ndarray,
    patterns: list,
    has_shared_noise: bool,
) -> Hyperparameters:
    """The hyperparameters with noise and scale of every output. Several outputs choose their noise from a grid."""
    q, p = len(free) // 2, Y.shape[1]
    noise, scale = np.full(p, np.exp(free[-1])), np.ones(p)
    found = Hyperparameters(np.exp(free[:q])[groups], np.exp(free[q:-1])[groups], noise, scale, evidence, free)
    for rows, outputs in patterns:
        covariance, known = found.covariance(X[rows], X[rows]), Y[np.ix_(rows, outputs)]
        if p == 1 or has_shared_noise:
            inverse, _ = _inverse(covariance, noise[0])
            scale[outputs] = np.sum(known * (inverse @ known), axis=0) / len(rows) + _JITTER
            continue
        # With K = U Λ Uᵀ: s = Σ (Uᵀy)²/(λ + r) / n, and the loss is ½ n log s + ½ Σ log(λ + r).
        values, vectors = scipy.linalg.eigh(covariance, driver="evd", check_finite=False)
        spectrum = np.maximum(values, 0.0)[:, None] + _NOISES + _JITTER
        scales = (((vectors.T @ known) ** 2).T @ (1.0 / spectrum)) / len(rows) + _JITTER
        losses = 0.5 * len(rows) * np.log(scales) + 0.5 * np.sum(np.log(spectrum), axis=0)
        best = np.argmin(losses, axis=1)
        noise[outputs], scale[outputs] = _NOISES[best], scales[np.arange(len(outputs)), best]
    scale[:] = np.round(scale.mean() if has_shared_noise else scale, _DECIMALS)
    return found


class OutputDensity:
    """The density of the outputs of rows at other inputs than their own, given the outputs of the remaining rows."""

    def __init__(
        self, parameters: Hyperparameters, inputs: Float[np.ndarray, "n d"], targets: Float[np.ndarray, "n p"]
    ) -> None:
        self._parameters, self._inputs, self._targets = parameters, inputs.copy(), targets
        self._covariance = parameters.covariance(inputs, inputs)

    def replace(self, rows: Int[np.ndarray, " b"], inputs: Float[np.ndarray, "b d"]) -> None:
        """Give some rows other inputs."""
        self._inputs[rows] = inputs
        cross = self._parameters.covariance(inputs, self._inputs)
        self._covariance[rows], self._covariance[:, rows] = cross, cross.T

    def log_densities(
        self, options: Float[np.ndarray, "b c d"], targets: Float[np.ndarray, "b p"], left_out: Int[np.ndarray, " e"]
    ) -> Float[np.ndarray, "b c"]:
        """The log density of the outputs of b rows at c candidates for the inputs of each.

        The rows that are `left_out` do not count. Outputs that are missing contribute nothing.
        """
        parameters, points = self._parameters, options.reshape(-1, options.shape[2])
        others = np.ones(len(self._inputs), bool)
        others[left_out] = False
        cross, prior = parameters.covariance(points, self._inputs), parameters.prior_variance(points)[:, None]
        total = np.zeros(len(points))
        for rows, outputs in _patterns(np.where(others[:, None], self._targets, np.nan)):
            noise, y = parameters.noise[outputs], self._targets[np.ix_(rows, outputs)]
            mean, explained = _moments(self._covariance[np.ix_(rows, rows)], cross[:, rows], y, noise)
            variance = (np.maximum(prior - explained, 0.0) + noise) * parameters.scale[outputs]
            error = np.repeat(targets[:, outputs], options.shape[1], axis=0) - mean
            total += np.nansum(-0.5 * (np.log(2.0 * np.pi * variance) + error**2 / variance), axis=1)
        return total.reshape(options.shape[:2])


def _moments(
    covariance: np.ndarray, cross: np.ndarray, Y: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of every output at some points, and how much of k(x, x) the rows explain, (k, p) or (k, 1)."""
    if (noise == noise[0]).all():
        covariance[np.diag_indices(len(covariance))] += noise[0] + _JITTER
        cholesky = scipy.linalg.cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
        white = scipy.linalg.solve_triangular(cholesky, Y, lower=True, check_finite=False)
        half = scipy.linalg.solve_triangular(
            cholesky.astype(_PRECISION), cross.T.astype(_PRECISION), lower=True, check_finite=False, overwrite_b=True
        )
        return half.T @ white, np.einsum("ij,ij->j", half, half, dtype=float)[:, None]
    # One eigendecomposition K = U Λ Uᵀ serves all noise variances.
    values, vectors = scipy.linalg.eigh(covariance, driver="evd", check_finite=False)
    spectrum = np.maximum(values, 0.0)[:, None] + noise + _JITTER
    turned = cross @ vectors
    return turned @ ((vectors.T @ Y) / spectrum), turned**2 @ (1.0 / spectrum)
