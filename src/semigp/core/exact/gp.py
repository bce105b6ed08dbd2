"""Exact GP regression at certain inputs, with one output, for noise that is too small for inducing points.

    log p(y) = -½ yᵀ A⁻¹ y - ½ log|A| - n/2 log 2π,    A = K + (σ² + 1e-8) I

A sparse bound needs jitter on K_uu, which acts like a noise variance of 1e-6 or more. That would ruin the simulation of
a noise-free system. Rows can be masked, so that data sets of nearly the same size share one compiled program.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..hyperpriors import LogNormal, log_hyperprior
from ..kernels import Kernel
from ..kernels.spectral import FeatureMap
from ..numerics.padding import nearly, pad_rows
from ..numerics.paths import by_path
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..search.lbfgs import maximise
from ..search.report import FitReport, with_signal_to_noise
from ..search.stages import Stage

# This is added to the noise variance, for outputs of unit variance. It is about the square root of float64's precision.
NOISE_FLOOR = 1e-8


@pytree
class ExactModel:
    """The parameters that a fit may change. All are positive."""

    kernel: Kernel
    noise_variance: Float[Array, ""] | float


@pytree
class ExactRows:
    """Inputs and outputs. Masked rows have no influence."""

    inputs: Float[Array, "n q"]
    targets: Float[Array, " n"]
    is_used: Bool[Array, " n"]

    @classmethod
    def of(cls, inputs: np.ndarray, targets: np.ndarray) -> ExactRows:
        """The rows whose target and inputs are known, filled up with masked rows to a round number."""
        used = ~np.isnan(targets) & ~np.isnan(inputs).any(axis=1)
        inputs, targets = inputs[used], targets[used]
        if not len(targets):
            raise ValueError("No row has a known target and known inputs; at least one is needed.")
        count = nearly(len(targets), share=8)
        return cls(pad_rows(inputs, count), pad_rows(targets, count), np.arange(count) < len(targets))


def _factor(model: ExactModel, rows: ExactRows) -> Float[Array, "n n"]:
    """The Cholesky factor of A, with rows of the identity for masked rows."""
    both = rows.is_used[:, None] & rows.is_used
    noise = jnp.where(rows.is_used, model.noise_variance + NOISE_FLOOR, 1.0)
    return jnp.linalg.cholesky(jnp.where(both, model.kernel.gram(rows.inputs), 0.0) + jnp.diag(noise))


def log_evidence(model: ExactModel, rows: ExactRows) -> Float[Array, ""]:
    """Log p(y), the equation above."""
    factor = _factor(model, rows)
    white = jax.scipy.linalg.solve_triangular(factor, rows.targets, lower=True)
    constant = 0.5 * jnp.sum(rows.is_used) * jnp.log(2.0 * jnp.pi)
    return -0.5 * white @ white - jnp.sum(jnp.log(jnp.diagonal(factor))) - constant


@jax.jit
def _loss_and_gradient(free: ExactModel, rows: ExactRows, hyperpriors: dict[str, LogNormal]):
    def loss(free):
        model = jax.tree.map(jnp.exp, free)
        return -log_evidence(model, rows) - log_hyperprior(by_path(model), hyperpriors)

    return jax.value_and_grad(loss)(free)


def fit_exact(
    model: ExactModel,
    rows: ExactRows,
    hyperpriors: dict[str, LogNormal],
    max_iterations: int,
    tolerance: float = 1e-9,
    callback: Any = None,
) -> tuple[ExactModel, FitReport]:
    """Raise log p(y) + log p(θ), starting from `model`."""
    with jax.enable_x64(True):
        free, rows, priors = jax.tree.map(jnp.asarray, (jax.tree.map(jnp.log, model), rows, hyperpriors))
        stage = Stage("exact", max_iterations)
        best, report = maximise(lambda f: _loss_and_gradient(f, rows, priors), free, [stage], tolerance, callback)
    fitted = jax.tree.map(np.exp, best)
    signal = float(np.mean(in_float64(fitted.kernel.diag)(np.asarray(rows.inputs)[np.asarray(rows.is_used)])))
    return fitted, with_signal_to_noise(report, np.atleast_1d(signal / (fitted.noise_variance + NOISE_FLOOR)))


@pytree
class ExactPosterior:
    """The posterior of f, given the rows."""

    model: ExactModel
    rows: ExactRows
    cholesky: Float[Array, "n n"]
    weights: Float[Array, " n"]  # A⁻¹ y

    def moments(self, mean: Float[Array, "k q"], variance: Any) -> tuple[Float[Array, "k 1"], Float[Array, "k 1"]]:
        """Mean and variance of f at inputs N(mean, variance). Variance None means certain inputs.

        E[f] = ψ1 α,  V[f] = ψ0 - tr A⁻¹Ψ2 + αᵀ(Ψ2 - ψ1ψ1ᵀ) α.
        """
        if variance is None:
            cross = self.cross(mean)
            half = jax.scipy.linalg.solve_triangular(self.cholesky, cross.T, lower=True)
            spread = self.model.kernel.diag(mean) - jnp.sum(half**2, axis=0)
            return (cross @ self.weights)[:, None], jnp.maximum(spread, 0.0)[:, None]
        kernel, inputs, used = self.model.kernel, self.rows.inputs, self.rows.is_used
        psi1 = jnp.where(used, kernel.psi1(mean, variance, inputs), 0.0)
        psi2 = jnp.where(used[:, None] & used, kernel.psi2_rows(mean, variance, inputs), 0.0)
        expected = psi1 @ self.weights
        inverse = jax.scipy.linalg.cho_solve((self.cholesky, True), jnp.eye(len(inputs)))
        conditional = jnp.maximum(kernel.psi0(mean, variance) - jnp.sum(psi2 * inverse, axis=(1, 2)), 0.0)
        spread = jnp.maximum((psi2 @ self.weights) @ self.weights - expected**2, 0.0)
        return expected[:, None], (conditional + spread)[:, None]

    def input_covariance(self, mean: Float[Array, "k q"], variance: Any) -> Float[Array, "k q 1"]:
        """The covariance cov(x, f(x)) at inputs N(mean, variance)."""
        centred = self.model.kernel.psi1_centred(mean, variance, self.rows.inputs)
        return jnp.einsum("nmq,m->nq", centred, jnp.where(self.rows.is_used, self.weights, 0.0))[:, :, None]

    def cross(self, inputs: Float[Array, "k q"]) -> Float[Array, "k n"]:
        """k(x, X), with 0 for masked rows."""
        return jnp.where(self.rows.is_used, self.model.kernel.cross(inputs, self.rows.inputs), 0.0)

    @property
    def noise_variance(self) -> Float[Array, ""] | float:
        """The noise variance, including the floor."""
        return self.model.noise_variance + NOISE_FLOOR


@in_float64
@jax.jit
def condition(model: ExactModel, rows: ExactRows) -> ExactPosterior:
    """The posterior of a fitted model."""
    factor = _factor(model, rows)
    return ExactPosterior(model, rows, factor, jax.scipy.linalg.cho_solve((factor, True), rows.targets))


@pytree
class ExactDraws:
    """r functions drawn from the posterior by Matheron's rule. They share one set of random features."""

    posterior: ExactPosterior
    features: FeatureMap
    feature_weights: Float[Array, "f r"]
    row_weights: Float[Array, "n r"]

    def each(self, inputs: Float[Array, "r q"]) -> Float[Array, " r"]:
        """The values of the functions, each at its own input: function i at row i of `inputs`."""
        prior = jnp.einsum("rf,fr->r", self.features(inputs), self.feature_weights)
        return prior + jnp.einsum("rn,nr->r", self.posterior.cross(inputs), self.row_weights)


def draw_exact(posterior: ExactPosterior, key: Any, n_draws: int, n_features: int) -> ExactDraws:
    """f(·) = φ(·)ᵀw + k(·, X) A⁻¹ (y - φ(X)ᵀw - ε),  w ~ N(0, I), ε ~ N(0, σ²)."""
    key_map, key_weights, key_noise = jax.random.split(key, 3)
    rows = posterior.rows
    features = posterior.model.kernel.feature_map(key_map, n_features, rows.inputs.shape[1])
    at_rows = features(rows.inputs)  # [n, f]
    weights = jax.random.normal(key_weights, (at_rows.shape[1], n_draws), jnp.float64)
    noise = jnp.sqrt(posterior.noise_variance) * jax.random.normal(key_noise, (len(at_rows), n_draws), jnp.float64)
    residual = jnp.where(rows.is_used[:, None], rows.targets[:, None] - at_rows @ weights - noise, 0.0)
    return ExactDraws(posterior, features, weights, jax.scipy.linalg.cho_solve((posterior.cholesky, True), residual))
