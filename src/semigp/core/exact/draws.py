"""Functions drawn from the posterior of an exact GP, by Matheron's rule, in NumPy.

    f(·) = φ(·)ᵀw + k(·, X) A⁻¹ (y - φ(X)ᵀw - ε),    w ~ N(0, I), ε ~ N(0, σ²)

The features φ of the RBF part are cosines with random frequencies. Those of the linear part are the inputs themselves.
So all that is linear in the inputs is one slope for each function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Float

from .at_points import BumpsAndLines, bumps
from .gp import ExactPosterior
from .in_numpy import bumps_and_lines

NONE = np.zeros(0)  # no shared inputs


@dataclass(frozen=True)
class Waves:
    """Functions from the prior of the RBF part, Σ_f w_f √(2a/f) cos(xω_f + b_f). A group of them shares ω and b."""

    frequencies: Float[np.ndarray, "g q f"]  # ω/2π
    phases: Float[np.ndarray, "g 1 f"]  # b/2π
    weights: Float[np.ndarray, "g r f"]  # w √(2a/f), in single precision

    def each(
        self, inputs: Float[np.ndarray, "g r k"], shared: Float[np.ndarray, " c"] = NONE
    ) -> Float[np.ndarray, "g r"]:
        """The values of the functions, each at its own inputs and at inputs that are the same for all."""
        k = inputs.shape[-1]
        phases = self.phases + (shared @ self.frequencies[:, k:])[:, None]
        return np.einsum("grf,grf->gr", _cosines(inputs, self.frequencies[:, :k], phases), self.weights)

    def everywhere(self, inputs: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "g r n"]:
        """The values of all functions at the same inputs, one group after the other: features take much memory."""
        groups = zip(self.frequencies, self.phases, self.weights, strict=True)
        return np.stack([weights @ _cosines(inputs, ours, phases).T for ours, phases, weights in groups])


def _cosines(inputs: np.ndarray, frequencies: np.ndarray, phases: np.ndarray) -> Float[np.ndarray, "*g r f"]:
    """The cosines to 3e-7. Angles are reduced in double precision, and single precision is ten times as fast."""
    turns = inputs @ frequencies
    turns += phases
    turns -= np.rint(turns)
    angles = turns.astype(np.float32)
    angles *= np.float32(2.0 * np.pi)
    return np.cos(angles, out=angles)


@dataclass(frozen=True)
class ExactDraws:
    """Functions from a posterior, in g groups of r."""

    kernel: BumpsAndLines
    points: Float[np.ndarray, "n q"]  # X
    waves: Waves
    weights: Float[np.ndarray, "g r n"]  # A⁻¹ (y - φ(X)ᵀw - ε)
    slopes: Float[np.ndarray, "g r q"]  # of all that is linear

    def each(
        self, inputs: Float[np.ndarray, "g r k"], shared: Float[np.ndarray, " c"] = NONE
    ) -> Float[np.ndarray, "g r"]:
        """The values of the functions, each at its own inputs, followed by inputs that are the same for all; q = k + c.

        What the shared inputs add to distances and angles is computed once.
        """
        groups, each, k = inputs.shape
        found = np.einsum("grk,grk->gr", inputs, self.slopes[..., :k]) + self.slopes[..., k:] @ shared
        if self.kernel.amplitude:
            own, others = np.split(self.kernel.lengthscales, [k])
            apart = 0.5 * np.sum(((self.points[:, k:] - shared) / others) ** 2, axis=1)
            near = bumps(inputs.reshape(groups * each, k) / own, self.points[:, :k] / own, more=apart).reshape(
                groups, each, -1
            )
            found += self.kernel.amplitude * np.einsum("grn,grn->gr", near, self.weights)
            found += self.waves.each(inputs, shared)
        return found

    def everywhere(self, inputs: Float[np.ndarray, "k q"]) -> Float[np.ndarray, "g r k"]:
        """The values of all functions at the same inputs."""
        return (
            self.slopes @ inputs.T
            + self.weights @ self.kernel.bumps(inputs, self.points).T
            + self.waves.everywhere(inputs)
        )


def draw_exact(
    posterior: ExactPosterior, randoms: list[np.random.Generator], n_draws: int, n_features: int
) -> ExactDraws:
    """Functions from the posterior: `n_draws` of them for each source of random numbers."""
    points, targets = posterior.rows.known()
    n, q = points.shape
    kernel, cholesky = bumps_and_lines(posterior.model.kernel, q), np.asarray(posterior.cholesky)[:n, :n]
    noise_variance = float(posterior.noise_variance)
    return draw_given(kernel, cholesky, points, targets, noise_variance, randoms, n_draws, n_features)


def draw_given(
    kernel: BumpsAndLines,
    cholesky: Float[np.ndarray, "n n"],
    points: Float[np.ndarray, "n q"],
    targets: Float[np.ndarray, " n"],
    noise_variance: float,
    randoms: list[np.random.Generator],
    n_draws: int,
    n_features: int,
) -> ExactDraws:
    """The same given the Cholesky factor of A, the covariance of the targets with their noise."""
    n, q = points.shape
    normal = [random.normal(size=(n_draws, n_features + q + n)) for random in randoms]
    features, lines, noise = np.split(np.stack(normal), [n_features, n_features + q], axis=2)
    waves = Waves(
        np.stack([random.normal(size=(q, n_features)) for random in randoms])
        / (2.0 * np.pi * kernel.lengthscales[:, None]),
        np.stack([random.uniform(size=(1, n_features)) for random in randoms]),
        (features * np.sqrt(2.0 * kernel.amplitude / n_features)).astype(np.float32),
    )
    slopes = lines * np.sqrt(kernel.linear)
    residual = targets - waves.everywhere(points) - slopes @ points.T - np.sqrt(noise_variance) * noise
    solved = scipy.linalg.cho_solve((cholesky, True), residual.reshape(-1, n).T, check_finite=False)
    weights = np.ascontiguousarray(solved.T).reshape(residual.shape)
    # k(x, X) A⁻¹r has the linear part xᵀ V Xᵀ A⁻¹r.
    return ExactDraws(kernel, points, waves, weights, slopes + (weights @ points) * kernel.linear)
