"""Missing values of a series, given a model of its dynamics: a Gaussian around the values that fit best.

The density of a whole series, given its first window, is the marginal likelihood of its windows and targets,

    p(series) = N(y(z); 0, K(X(z)) + σ² I),

in which a missing value z is one target, and part of τ windows. The values that maximise this density are the mean of
q(z), and the curvature there gives its covariance (Laplace's method). So there is one belief about each value, in
whichever windows it is. Values in the first window have the prior N(0, 1).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize

from .gp import ExactModel, ExactRows, log_evidence
from .windows import flatten, windows_before

_MAX_ITERATIONS, _NEWTON_STEPS = 300, 3
# The largest number of windows that are used: first those with a missing value, then the latest of the others.
_MAX_ROWS = 600


@dataclass(frozen=True)
class Gaps:
    """The places of M missing values, and the belief q(z) about them."""

    steps: np.ndarray  # (M,) rows of the series
    columns: np.ndarray  # (M,) columns of the series
    mean: np.ndarray  # (M,)
    covariance: np.ndarray  # (M, M)

    def filled(self, values: np.ndarray, entries: np.ndarray | None = None) -> np.ndarray:
        """The series with `entries` in its gaps, by default the means."""
        complete = values.copy()
        complete[self.steps, self.columns] = self.mean if entries is None else entries
        return complete

    def draws(self, n_draws: int, seed: int) -> np.ndarray:
        """Draws (n_draws, M) of the missing values."""
        random = np.random.default_rng(seed)
        spectrum, axes = np.linalg.eigh(self.covariance)
        noise = random.normal(size=(n_draws, len(self.mean)))
        return self.mean + (noise * np.sqrt(np.maximum(spectrum, 0.0))) @ axes.T


def infer_gaps(
    values: np.ndarray, start: np.ndarray, models: list[ExactModel], window: int, covariates: np.ndarray
) -> Gaps:
    """q(z) of the NaN in `values` (T, p), with one model per column. The search starts at `start`."""
    places = np.nonzero(np.isnan(values))
    targets = _targets(np.isnan(values).any(axis=1), window)
    with jax.enable_x64(True):
        fixed = jax.tree.map(
            jnp.asarray, (np.nan_to_num(values), covariates[targets], models, targets, places, places[0] < window)
        )
        loss = lambda z: [np.asarray(x) for x in _loss_and_gradient(jnp.asarray(z), window, *fixed)]  # noqa: E731
        options = {"maxiter": _MAX_ITERATIONS, "maxcor": 30}
        found = scipy.optimize.minimize(loss, start[places], jac=True, method="L-BFGS-B", options=options)
        best, lowest = found.x, found.fun
        for _ in range(_NEWTON_STEPS):  # noise-free dynamics are too stiff for L-BFGS alone
            covariance = _inverse(np.asarray(_curvature(jnp.asarray(best), window, *fixed)))
            trial = best - covariance @ loss(best)[1]
            if not loss(trial)[0] < lowest:
                break
            best, lowest = trial, loss(trial)[0]
        covariance = _inverse(np.asarray(_curvature(jnp.asarray(best), window, *fixed)))
    steps, columns = places
    return Gaps(steps, columns, best, covariance)


def _inverse(curvature: np.ndarray) -> np.ndarray:
    """The inverse of the curvature, with eigenvalues below 1 raised to 1.

    No direction of q(z) is then wider than the series itself, whose variance is 1, even if the curvature is negative.
    """
    spectrum, axes = scipy.linalg.eigh(0.5 * (curvature + curvature.T))
    return (axes / np.maximum(spectrum, 1.0)) @ axes.T


def _targets(is_missing: np.ndarray, window: int) -> np.ndarray:
    """The steps with a missing value in themselves or in their window, and the latest of the other steps."""
    affected = np.convolve(is_missing, np.ones(window + 1), "full")[: len(is_missing)] > 0.5
    steps = np.arange(window, len(is_missing))
    order = np.concatenate([steps[affected[window:]][::-1], steps[~affected[window:]][::-1]])
    return np.sort(order[:_MAX_ROWS])


def _loss(z, window, known, covariates, models, targets, places, is_first):
    values = known.at[places].set(z)
    inputs = flatten(windows_before(values, targets, window), covariates)
    used = jnp.ones(len(targets), bool)
    loss = 0.5 * jnp.sum(jnp.where(is_first, z, 0.0) ** 2)
    for column, model in enumerate(models):
        loss -= log_evidence(model, ExactRows(inputs, values[targets, column], used))
    return loss


_loss_and_gradient = jax.jit(jax.value_and_grad(_loss), static_argnums=1)


@functools.partial(jax.jit, static_argnums=1)
def _curvature(z, window, *fixed):
    """The Hessian, row by row, by reverse mode over reverse mode. Our kernels' gradients have no forward mode."""
    _, pull_back = jax.vjp(lambda z: jax.grad(_loss)(z, window, *fixed), z)
    return jax.lax.map(lambda row: pull_back(row)[0], jnp.eye(len(z)))
