"""Exact GPs of several outputs at certain inputs, in NumPy: no program has to be compiled.

Every output has the kernel s k(x, x') and the noise variance s r, with its own s and r, and the kernel k of
`at_points`, with amplitude 1.

Inputs come in groups, one for each column of the user's table: a number has one input, and a category one for each of
its levels. A group has one lengthscale ℓ and one linear variance v. They are found by evidence, with s in closed form:
s = yᵀ(K + rI)⁻¹y / n. Rows in which an output is missing do not count for that output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from jaxtyping import Float, Int
from scipy.optimize import minimize

from .at_points import JITTER, SINGLE, BumpsAndLines, Predictor, bumps, inverse_of, kernel_slopes

# Noise variances relative to the signal, from which each of several outputs chooses.
_NOISES = np.geomspace(1e-4, 3.0, 22)
_DECIMALS = 8
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

    @property
    def kernel(self) -> BumpsAndLines:
        """k(x, x')."""
        return BumpsAndLines(1.0, self.lengthscales, self.linear)


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
    means, spreads = log_priors(q)
    first = means if start is None else start.free
    patterns = list(patterns_of(targets))

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
    return with_noise(best, evidence, inputs, targets, groups, has_shared_noise)


def log_priors(q: int) -> tuple[Float[np.ndarray, " h"], Float[np.ndarray, " h"]]:
    """Means and standard deviations of the hyperpriors of q groups: on log ℓ and log v of every group, and on log r."""
    means = np.r_[np.full(q, 0.5 * np.log(q)), np.full(q, _LINEAR - np.log(q)), _NOISE]
    return means, np.r_[np.full(q, _LENGTHSCALE_SPREAD), np.full(q, _LINEAR_SPREAD), _NOISE_SPREAD]


def patterns_of(targets: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Outputs that are known in the same rows, together with these rows. Outputs that are never known are left out."""
    known = ~np.isnan(targets)
    if known.all():
        yield np.arange(len(targets)), np.arange(targets.shape[1])
        return
    for pattern in np.unique(known, axis=1).T:
        if pattern.any():
            yield np.flatnonzero(pattern), np.flatnonzero((known == pattern[:, None]).all(axis=0))


def _loss(
    free: np.ndarray, X: np.ndarray, Y: np.ndarray, groups: np.ndarray, has_shared_noise: bool = False
) -> tuple[float, np.ndarray]:
    """-log p(Y) without constants, and its gradient."""
    q = len(free) // 2
    lengthscales, linear, noise = np.exp(free[:q])[groups], np.exp(free[q : 2 * q])[groups], np.exp(free[-1])
    scaled = X / lengthscales
    bump = bumps(scaled, scaled)
    value, M = evidence_of(bump + (X * linear) @ X.T, noise, Y, has_shared_noise)
    _, *by_input = kernel_slopes(BumpsAndLines(1.0, lengthscales, linear), X, bump, M)
    slopes = [np.bincount(groups, part, q) for part in by_input]
    return -value, -0.5 * np.r_[(*slopes, noise * np.trace(M))]


def evidence_of(
    covariance: Float[np.ndarray, "n n"], noise: float, Y: Float[np.ndarray, "n p"], has_shared_noise: bool = False
) -> tuple[float, Float[np.ndarray, "n n"]]:
    """Log p(Y) with the best scales, without constants, and M: with K it changes by ½ Σ M ∘ dK, with log r by ½ r tr M.

    log p(Y) = -½ Σ_p n log s_p - p/2 log|K + rI|, and M = Σ_p α_p α_pᵀ/s_p - p (K + rI)⁻¹. The memory of K is used.
    """
    n, p = Y.shape
    inverse, log_determinant = _inverse(covariance, noise)
    weights = inverse @ Y  # α
    scale = np.sum(Y * weights, axis=0) / n + JITTER
    scale = np.full(p, scale.mean()) if has_shared_noise else scale
    value = -0.5 * n * float(np.sum(np.log(scale))) - 0.5 * p * log_determinant
    return value, (weights / scale) @ weights.T - p * inverse


def _inverse(covariance: np.ndarray, noise: float) -> tuple[np.ndarray, float]:
    """(K + rI)⁻¹ and log|K + rI|. The memory of K is used."""
    return inverse_of(_with_diagonal(covariance, noise))


def _with_diagonal(covariance: np.ndarray, noise: float) -> np.ndarray:
    """K + rI, in the memory of K."""
    covariance[np.diag_indices(len(covariance))] += noise + JITTER
    return covariance


def with_noise(
    free: Float[np.ndarray, " h"],
    evidence: float,
    inputs: Float[np.ndarray, "n d"],
    targets: Float[np.ndarray, "n p"],
    groups: Int[np.ndarray, " d"],
    has_shared_noise: bool = False,
) -> Hyperparameters:
    """The hyperparameters with noise and scale of every output. Several outputs choose their noise from a grid."""
    q, p = len(free) // 2, targets.shape[1]
    noise, scale = np.full(p, np.exp(free[-1])), np.ones(p)
    found = Hyperparameters(np.exp(free[:q])[groups], np.exp(free[q:-1])[groups], noise, scale, evidence, free)
    for rows, outputs in patterns_of(targets):
        covariance, known = found.kernel(inputs[rows], inputs[rows]), targets[np.ix_(rows, outputs)]
        if p == 1 or has_shared_noise:
            white = scipy.linalg.solve_triangular(
                np.linalg.cholesky(_with_diagonal(covariance, noise[0])), known, lower=True
            )
            scale[outputs] = np.sum(white**2, axis=0) / len(rows) + JITTER
            continue
        # With K = U Λ Uᵀ: s = Σ (Uᵀy)²/(λ + r) / n, and the loss is ½ n log s + ½ Σ log(λ + r).
        values, vectors = np.linalg.eigh(covariance)
        spectrum = np.maximum(values, 0.0)[:, None] + _NOISES + JITTER
        scales = (((vectors.T @ known) ** 2).T @ (1.0 / spectrum)) / len(rows) + JITTER
        losses = 0.5 * len(rows) * np.log(scales) + 0.5 * np.sum(np.log(spectrum), axis=0)
        best = np.argmin(losses, axis=1)
        noise[outputs], scale[outputs] = _NOISES[best], scales[np.arange(len(outputs)), best]
    scale[:] = np.round(scale.mean() if has_shared_noise else scale, _DECIMALS)
    return found


def left_out(
    found: Hyperparameters,
    inputs: Float[np.ndarray, "n d"],
    targets: Float[np.ndarray, "n p"],
    blocks: Int[np.ndarray, " n"] | None = None,
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, "n p"]]:
    """Mean and variance of every known output given the same output in the other rows; NaN where it is missing.

    Rows are left out one by one, or all rows of a block together. With α = (K + rI)⁻¹y, and C the inverse of the
    block's part of (K + rI)⁻¹, they are y - C α and s diag C. Outputs with the same noise share one inverse.
    """
    mean, variance = np.full((2, *targets.shape), np.nan)
    for rows, outputs in patterns_of(targets):
        for noise in np.unique(found.noise[outputs]):
            some = outputs[found.noise[outputs] == noise]
            inverse, _ = _inverse(found.kernel(inputs[rows], inputs[rows]), noise)
            known = targets[np.ix_(rows, some)]
            missed, share = _missed(inverse, inverse @ known, None if blocks is None else blocks[rows])
            mean[np.ix_(rows, some)] = known - missed
            variance[np.ix_(rows, some)] = found.scale[some] * share[:, None]
    return mean, variance


def _missed(inverse: np.ndarray, weights: np.ndarray, blocks: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The errors C α [n, p] of rows that are left out, and diag C [n]."""
    if blocks is None:
        share = 1.0 / np.diag(inverse)
        return weights * share[:, None], share
    missed, share = np.empty_like(weights), np.empty(len(weights))
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        among, _ = inverse_of(inverse[np.ix_(rows, rows)])
        missed[rows], share[rows] = among @ weights[rows], np.diag(among)
    return missed, share


@dataclass(frozen=True)
class OutputDensity:
    """The density of the outputs of rows at any inputs, given the outputs of other rows."""

    parameters: Hyperparameters
    parts: tuple[tuple[np.ndarray, Predictor], ...]  # outputs that are known in the same rows, and their GP

    @classmethod
    def given(
        cls,
        parameters: Hyperparameters,
        inputs: Float[np.ndarray, "n d"],
        targets: Float[np.ndarray, "n p"],
        inducing: Float[np.ndarray, "m d"] | None = None,
        precision: Any = SINGLE,
    ) -> OutputDensity:
        """The density given the outputs of these rows, NaN where missing, exactly or through inducing inputs."""
        parts = []
        for rows, outputs in patterns_of(targets):
            known = inputs[rows], targets[np.ix_(rows, outputs)], parameters.noise[outputs] + JITTER, precision
            parts.append((outputs, _predictor(parameters.kernel, inducing, *known)))
        return cls(parameters, tuple(parts))

    def moments(self, points: Float[np.ndarray, "k d"]) -> tuple[Float[np.ndarray, "k p"], Float[np.ndarray, "k p"]]:
        """Mean and variance of all outputs at some points, noise included."""
        parameters, prior = self.parameters, self.parameters.kernel.variance(points)[:, None]
        mean, variance = np.zeros((2, len(points), len(parameters.noise)))
        variance += (prior + parameters.noise) * parameters.scale
        for outputs, predictor in self.parts:
            mean[:, outputs], explained = predictor.moments(points)
            left = np.maximum(prior - explained, 0.0) + parameters.noise[outputs]
            variance[:, outputs] = left * parameters.scale[outputs]
        return mean, variance

    def log_densities(
        self, options: Float[np.ndarray, "b c d"], targets: Float[np.ndarray, "b p"]
    ) -> Float[np.ndarray, "b c"]:
        """The log density of the outputs of b rows at c candidates for the inputs of each.

        Outputs that are missing, here or in all other rows, contribute nothing.
        """
        mean, variance = self.moments(options.reshape(-1, options.shape[2]))
        error = np.repeat(targets, options.shape[1], axis=0) - mean
        logs = -0.5 * (np.log(2.0 * np.pi * variance) + error**2 / variance)
        known = [output for outputs, _ in self.parts for output in outputs]
        return np.nansum(logs[:, known], axis=1).reshape(options.shape[:2])


def _predictor(
    kernel: BumpsAndLines, inducing: np.ndarray | None, X: np.ndarray, Y: np.ndarray, noise: np.ndarray, precision: Any
) -> Predictor:
    if inducing is None:
        return Predictor.exact(kernel, X, Y, noise, precision)
    return Predictor.sparse(kernel, inducing, X, Y, noise, precision)
