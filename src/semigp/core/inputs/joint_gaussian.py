"""A Gaussian fitted by expectation maximisation to rows with missing values: the correlated prior on the inputs."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics import checks
from ..numerics.precision import in_float64
from ..numerics.types import Array
from .priors import GaussianPrior


def fit_joint_gaussian(
    values: Float[Array, "n d"], shrinkage: float = 0.05, max_iterations: int = 200, tolerance: float = 1e-4
) -> GaussianPrior:
    """N(m, Σ) fitted to rows in which NaN marks values missing at random.

    Every step multiplies the correlations by 1 - `shrinkage`, so that Σ is a covariance even if there are more columns
    than rows. A column without any value gets mean 0 and variance 1.
    """
    checks.check_matrix("values", values, allow_nan=True)
    checks.check_count("max_iterations", max_iterations)
    return in_float64(functools.partial(_fit, max_iterations))(np.asarray(values, float), shrinkage, tolerance)


@functools.partial(jax.jit, static_argnums=0)
def _fit(max_iterations, values, shrinkage, tolerance):
    unknown = jnp.isnan(values)
    known = jnp.where(unknown, 0.0, values)
    counts = jnp.maximum(jnp.sum(~unknown, axis=0), 1)
    mean = jnp.sum(known, axis=0) / counts
    variance = jnp.sum(jnp.where(unknown, 0.0, (known - mean) ** 2), axis=0) / counts
    # A constant column keeps a little variance, so that it can be conditioned on.
    floor = 1e-6 * jnp.where(variance > 0, variance, 1.0)
    variance = jnp.where(jnp.all(unknown, axis=0), 1.0, jnp.maximum(variance, floor))

    def step(state):
        iteration, mean, covariance, _ = state
        filled, spread, *_ = GaussianPrior(mean, covariance).conditional(known, unknown)
        new_mean = jnp.mean(filled, axis=0)
        centred = filled - new_mean
        moment = (centred.T @ centred + jnp.sum(spread, axis=0)) / len(values)
        diagonal = jnp.diag(jnp.maximum(jnp.diagonal(moment), floor))
        new = (1.0 - shrinkage) * (moment - jnp.diag(jnp.diagonal(moment))) + diagonal
        scale = jnp.sqrt(jnp.diagonal(new))
        return iteration + 1, new_mean, new, jnp.max(jnp.abs(new - covariance) / jnp.outer(scale, scale))

    def unfinished(state):
        return (state[0] < max_iterations) & (state[3] > tolerance)

    _, mean, covariance, _ = jax.lax.while_loop(unfinished, step, (0, mean, jnp.diag(variance), jnp.inf))
    return GaussianPrior(mean, covariance)


def complete_rows(
    gaussian: GaussianPrior, rows: Float[np.ndarray, "n d"]
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d d"]]:
    """Mean and covariance of rows with NaN, given their known entries: these are as they are, with variance 0."""
    missing = np.isnan(rows)
    mean, covariance, *_ = in_float64(GaussianPrior.conditional)(gaussian, np.where(missing, 0.0, rows), missing)
    return np.asarray(mean), np.asarray(covariance)
