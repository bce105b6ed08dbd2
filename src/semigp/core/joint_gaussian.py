"""A Gaussian fitted to rows with holes, by expectation maximisation: the correlated prior on the inputs."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float

from .precision import in_float64
from .priors import GaussianPrior
from .types import Array


def fit_joint_gaussian(
    values: Float[Array, "n d"], shrinkage: float = 0.05, max_iterations: int = 200, tolerance: float = 1e-4
) -> GaussianPrior:
    """N(m, Σ) of rows in which NaN marks what is missing (at random), with Σ pulled towards the columns' variances.

    `shrinkage` times the variance of each column is added to the diagonal in every step, so that Σ is a covariance
    even where columns outnumber rows.
    """
    return _fit(values, shrinkage, max_iterations, tolerance)


@in_float64
@functools.partial(jax.jit, static_argnames="max_iterations")
def _fit(values, shrinkage, max_iterations, tolerance):
    unknown = jnp.isnan(values)
    known = jnp.where(unknown, 0.0, values)
    counts = jnp.maximum(jnp.sum(~unknown, axis=0), 1)
    mean = jnp.sum(known, axis=0) / counts
    variance = jnp.sum(jnp.where(unknown, 0.0, (values - mean) ** 2), axis=0) / counts
    nugget = jnp.diag(shrinkage * jnp.where(variance > 0, variance, 1.0))

    def step(state):
        iteration, mean, covariance, _ = state
        filled, spread = conditional_moments(GaussianPrior(mean, covariance), known, unknown)
        new_mean = jnp.mean(filled, axis=0)
        centred = filled - new_mean
        new = (centred.T @ centred + jnp.sum(spread, axis=0)) / len(values) + nugget
        scale = jnp.sqrt(jnp.diagonal(new))
        return iteration + 1, new_mean, new, jnp.max(jnp.abs(new - covariance) / jnp.outer(scale, scale))

    def unfinished(state):
        return (state[0] < max_iterations) & (state[3] > tolerance)

    start = (0, mean, jnp.diag(variance) + nugget, jnp.inf)
    _, mean, covariance, _ = jax.lax.while_loop(unfinished, step, start)
    return GaussianPrior(mean, covariance)


def conditional_moments(
    prior: GaussianPrior, values: Float[Array, "n d"], unknown: Bool[Array, "n d"]
) -> tuple[Float[Array, "n d"], Float[Array, "n d d"]]:
    """E[x | known entries] with the known entries themselves, and the covariance, 0 for the known entries."""
    rows = prior.for_rows(values, unknown)
    both = unknown[:, :, None] & unknown[:, None, :]
    precision = jnp.where(both, rows.precision, jnp.eye(values.shape[1]))
    covariance = jnp.where(both, jnp.linalg.inv(precision), 0.0)
    return jnp.where(unknown, rows.mean, values), covariance
