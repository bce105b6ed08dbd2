"""Exact GP regression at certain inputs, with one output, for noise that is too small for inducing points.

A sparse bound needs jitter on K_uu, which acts like a noise variance of 1e-6 or more. That would ruin the simulation of
a noise-free system. Fits and posteriors are computed in NumPy, where nothing has to be compiled. Moments at uncertain
inputs are computed in JAX. For them rows can be masked, so that data of nearly the same size share one program.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Bool, Float

from ..hyperpriors import LogNormal, meant_by
from ..kernels import Kernel
from ..numerics.padding import nearly, pad_rows
from ..numerics.paths import parameter_paths
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..search.lbfgs import maximise
from ..search.report import FitReport, with_signal_to_noise
from ..search.stages import Stage
from .at_points import factor_of
from .evidence import NOISE_FLOOR, Evidence
from .in_numpy import bumps_and_lines, with_slopes

# The relative rise of log p(y) + log p(θ) at which a search ends. Hardly ever is a tenth of a nat left to gain.
TOLERANCE = 3e-6
_DECIMALS = 8


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
        """The rows whose target and inputs are known."""
        used = ~np.isnan(targets) & ~np.isnan(inputs).any(axis=1)
        if not used.any():
            raise ValueError("No row has a known target and known inputs; at least one is needed.")
        return cls(inputs[used], targets[used], np.ones(used.sum(), bool))

    def known(self) -> tuple[Float[np.ndarray, "k q"], Float[np.ndarray, " k"]]:
        """Inputs and outputs of the rows that are not masked, in NumPy. Masked rows come last."""
        count = int(np.sum(self.is_used))
        return np.asarray(self.inputs)[:count], np.asarray(self.targets)[:count]


def fit_exact(
    model: ExactModel,
    rows: ExactRows,
    hyperpriors: dict[str, LogNormal],
    max_iterations: int,
    tolerance: float = TOLERANCE,
    callback: Any = None,
) -> tuple[ExactModel, FitReport]:
    """Raise log p(y) + log p(θ), starting from `model`, in NumPy."""
    evidence = Evidence(*rows.known())
    priors = list(meant_by(parameter_paths(model), hyperpriors))

    def loss(free: ExactModel) -> tuple[float, ExactModel]:
        with np.errstate(all="ignore"):  # a line search may go far out; the search turns back there
            value, slopes = _of_logs(free, evidence)
        leaves, structure = jax.tree.flatten(slopes)
        for place, prior in priors:
            more, slope = prior.of_logs(jax.tree.leaves(free)[place])
            value, leaves[place] = value + more, leaves[place] + slope
        return -value, jax.tree.unflatten(structure, [-leaf for leaf in leaves])

    start = jax.tree.map(lambda leaf: np.log(np.asarray(leaf, float)), model)
    best, report = maximise(loss, start, [Stage("exact", max_iterations)], tolerance, callback)
    # The last digits depend on where arrays lie in memory.
    fitted = jax.tree.map(lambda leaf: np.exp(np.round(leaf, _DECIMALS)), best)
    signal = bumps_and_lines(fitted.kernel, evidence.inputs.shape[1]).variance(evidence.inputs).mean()
    return fitted, with_signal_to_noise(report, np.atleast_1d(signal / (fitted.noise_variance + NOISE_FLOOR)))


def _of_logs(free: ExactModel, evidence: Evidence) -> tuple[float, ExactModel]:
    """Log p(y), given the logarithms of a model's parameters, and its derivatives in the places of the parameters."""
    model = jax.tree.map(np.exp, free)
    kernel = bumps_and_lines(model.kernel, evidence.inputs.shape[1])
    try:
        value, (amplitude, lengthscales, linear, noise) = evidence(kernel, float(model.noise_variance))
    except np.linalg.LinAlgError:
        return -np.inf, jax.tree.map(np.zeros_like, free)
    return value, ExactModel(with_slopes(model.kernel, amplitude, lengthscales, linear), noise)


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

    def padded(self) -> ExactPosterior:
        """The same with masked rows, up to a round number, so that posteriors share compiled programs."""
        count, more = len(self.weights), nearly(len(self.weights), share=8) - len(self.weights)
        rows = ExactRows(*(pad_rows(part, count + more) for part in jax.tree.leaves(self.rows)))
        cholesky = scipy.linalg.block_diag(self.cholesky, np.eye(more))
        return ExactPosterior(self.model, rows, cholesky, pad_rows(self.weights, count + more))

    @property
    def noise_variance(self) -> Float[Array, ""] | float:
        """The noise variance, including the floor."""
        return self.model.noise_variance + NOISE_FLOOR


def condition(model: ExactModel, rows: ExactRows) -> ExactPosterior:
    """The posterior of a fitted model, in NumPy."""
    inputs, targets = rows.known()
    covariance = bumps_and_lines(model.kernel, inputs.shape[1])(inputs, inputs)
    covariance[np.diag_indices(len(inputs))] += model.noise_variance + NOISE_FLOOR
    cholesky = factor_of(covariance)
    weights = scipy.linalg.cho_solve((cholesky, True), targets, check_finite=False)
    return ExactPosterior(model, ExactRows.of(inputs, targets), cholesky, weights)
