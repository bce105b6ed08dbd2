"""The values that a series lacks, given a model of its dynamics: a Gaussian around where they fit best.

A missing value z stands in τ windows and is itself a target. With m(x) and v(x) the model's one-step prediction,

    log p(z) = Σ_t log N(y_t(z) | m(x_t(z)), v(x_t(z)) + σ²)

over all steps whose window or target holds a missing value. Its maximum and curvature (Laplace) are mean and
covariance of q(z): one belief per value, whichever windows it stands in.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.optimize

from ..core.exact import ExactPosterior

_MAX_ITERATIONS = 500
# So weak that it decides only about what nothing else does: values before the first window that can be seen.
_PRIOR_PRECISION = 1e-2


@dataclass(frozen=True)
class Gaps:
    """Where values are missing, and what is believed of them."""

    steps: np.ndarray  # (M,) rows of the series
    columns: np.ndarray  # (M,)
    mean: np.ndarray  # (M,)
    covariance: np.ndarray  # (M, M)

    def filled(self, values: np.ndarray, entries: np.ndarray | None = None) -> np.ndarray:
        """The series with these entries, by default the means, in its gaps."""
        complete = values.copy()
        complete[self.steps, self.columns] = self.mean if entries is None else entries
        return complete

    def draws(self, n_draws: int, seed: int) -> np.ndarray:
        """(n_draws, M) of what is missing."""
        random = np.random.default_rng(seed)
        spectrum, axes = np.linalg.eigh(self.covariance)
        noise = random.normal(size=(n_draws, len(self.mean)))
        return self.mean + (noise * np.sqrt(np.maximum(spectrum, 0.0))) @ axes.T


def interpolated(values: np.ndarray) -> np.ndarray:
    """Gaps bridged by straight lines, ends by the nearest value."""
    steps, filled = np.arange(len(values)), values.copy()
    for column in filled.T:
        known = ~np.isnan(column)
        column[~known] = np.interp(steps[~known], steps[known], column[known])
    return filled


def infer_gaps(
    values: np.ndarray, start: np.ndarray, posteriors: list[ExactPosterior], window: int, covariates: np.ndarray
) -> Gaps:
    """q(z) of the NaN in `values` (T, p), started at `start`, under one posterior per column."""
    steps, columns = np.nonzero(np.isnan(values))
    touched = _touched(np.isnan(values).any(axis=1), window)
    if not len(touched):
        return Gaps(steps, columns, start[steps, columns], np.eye(len(steps)))
    with jax.enable_x64(True):
        known = jnp.asarray(np.nan_to_num(values))
        fixed = (known, jnp.asarray(covariates[touched]), posteriors, jnp.asarray(touched), (steps, columns))
        result = scipy.optimize.minimize(
            lambda z: tuple(np.asarray(part) for part in _loss_and_gradient(jnp.asarray(z), window, *fixed)),
            start[steps, columns],
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MAX_ITERATIONS, "maxcor": 30},
        )
        curvature = np.asarray(_curvature(jnp.asarray(result.x), window, *fixed))
    spectrum, axes = scipy.linalg.eigh(0.5 * (curvature + curvature.T))
    covariance = (axes / np.maximum(spectrum, _PRIOR_PRECISION)) @ axes.T
    return Gaps(steps, columns, result.x, covariance)


def _touched(is_missing: np.ndarray, window: int) -> np.ndarray:
    """Targets whose own value, or window, holds a missing one."""
    counts = np.convolve(is_missing, np.ones(window + 1), "full")[: len(is_missing)]
    return np.flatnonzero(counts > 0.5)[np.flatnonzero(counts > 0.5) >= window]


def _loss(z, window, known, covariates, posteriors, touched, places):
    values = known.at[places].set(z)
    lags = touched[:, None] + jnp.arange(-window, 0)
    inputs = jnp.concatenate([values[lags].reshape(len(touched), -1), covariates], axis=1)
    loss = 0.5 * _PRIOR_PRECISION * jnp.sum(z**2)
    for column, posterior in enumerate(posteriors):
        mean, variance = (part[:, 0] for part in posterior.moments(inputs, None))
        variance = variance + posterior.noise_variance
        loss += 0.5 * jnp.sum(jnp.log(variance) + (values[touched, column] - mean) ** 2 / variance)
    return loss


_loss_and_gradient = jax.jit(jax.value_and_grad(_loss), static_argnums=1)


@functools.partial(jax.jit, static_argnums=1)
def _curvature(z, window, *fixed):
    """The Hessian, by reverse over reverse (our kernels' own gradients have no forward mode), row by row."""
    _, pull_back = jax.vjp(lambda z: jax.grad(_loss)(z, window, *fixed), z)
    return jax.lax.map(lambda row: pull_back(row)[0], jnp.eye(len(z)))
