"""The log density of the unknowns of a stack given a table without holes, and its slopes.

    log p(u | Y) = log p(Y | h(X), ℓ, v, r) - ½ uᵀu + constant

The first term is the evidence of the exact GP on top, with the scale of every output at its best. Its slopes by the
hidden inputs are carried back through the layers by the chain rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..exact.at_points import input_slopes, kernel_slopes
from ..exact.certain import evidence_of, patterns_of
from .stack import Bend, Stack

# Unknowns further than this from their prior mean, in standard deviations, have density 0: numbers would overflow.
_FURTHEST = 20.0


class StackDensity:
    """log p(u | Y), and its gradient, for a table of certain inputs. Outputs may be missing."""

    def __init__(
        self,
        stack: Stack,
        inputs: Float[np.ndarray, "n d"],
        targets: Float[np.ndarray, "n p"],
        has_shared_noise: bool = False,
    ) -> None:
        self.stack, self.inputs, self.has_shared_noise = stack, inputs, has_shared_noise
        self._parts = [(rows, targets[np.ix_(rows, outputs)]) for rows, outputs in patterns_of(targets)]
        self._is_whole = len(self._parts) == 1 and len(self._parts[0][0]) == len(inputs)

    def __call__(self, whitened: Float[np.ndarray, " u"]) -> tuple[float, Float[np.ndarray, " u"]]:
        """The log density and its gradient. The density is 0 where the GP on top has no Cholesky factor."""
        if np.abs(whitened).max() > _FURTHEST:
            return -np.inf, np.zeros_like(whitened)
        unknowns, d = self.stack.read(whitened), len(self.stack.groups)
        kernel, scales = unknowns.kernel, unknowns.kernel.lengthscales[:d]
        bent, passes = self.inputs, []
        for bend in unknowns.bends:
            passes.append(_Pass(bend, self.stack.directions, scales, bent))
            bent = passes[-1].outputs
        points = np.hstack([bent, self.inputs])
        bump = kernel.bumps(points, points)
        try:
            value, pull = self._evidence(bump + (self.inputs * kernel.linear[d:]) @ self.inputs.T, unknowns.noise)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros_like(whitened)
        pulls = pull * bump
        _, by_scale, by_line = kernel_slopes(kernel, points, bump, pull)
        by_scale, by_bent = 0.5 * by_scale[:d], input_slopes(kernel, points, pull, pulls)[:, :d]
        hidden: list[np.ndarray] = []
        for each in reversed(passes):
            by_bent, by_shift, by_lengthscale, *others = each.back(by_bent)
            by_scale, hidden = by_scale + by_shift, [self._grouped(by_lengthscale), *others, *hidden]
        by_last = (self._grouped(by_scale), self._grouped(0.5 * by_line[d:]), [0.5 * unknowns.noise * np.trace(pull)])
        gradient = np.concatenate([*by_last, *hidden]) * self.stack.prior[1] - whitened
        return value - 0.5 * float(whitened @ whitened), gradient

    def _evidence(self, covariance: np.ndarray, noise: float) -> tuple[float, np.ndarray]:
        """The evidence of all outputs, and M of `evidence_of`."""
        if self._is_whole:
            return evidence_of(covariance, noise, self._parts[0][1], self.has_shared_noise)
        total, pull = 0.0, np.zeros(covariance.shape)
        for rows, known in self._parts:
            value, some = evidence_of(covariance[np.ix_(rows, rows)], noise, known, self.has_shared_noise)
            total += value
            pull[np.ix_(rows, rows)] += some
        return total, pull

    def _grouped(self, by_input: np.ndarray) -> np.ndarray:
        return np.bincount(self.stack.groups, by_input, self.stack.n_groups)


@dataclass
class _Pass:
    """Rows on their way through a hidden layer, and slopes on their way back."""

    bend: Bend
    directions: Float[np.ndarray, "k d"]
    scales: Float[np.ndarray, " d"]
    inputs: Float[np.ndarray, "n d"]

    def __post_init__(self) -> None:
        bend = self.bend
        self._scaled = self.inputs / bend.lengthscales
        self._angles = self._scaled @ bend.frequencies + bend.phases
        self._waves = np.cos(self._angles)
        self._shift = (self._waves @ bend.weights) * bend.amplitudes  # a ∘ g   [n, k]
        self.outputs = self.inputs + (self._shift @ self.directions) * self.scales

    def back(self, slopes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Slopes by the inputs, by log ℓ and log λ of every input, by log a and by w, from slopes by the outputs."""
        bend = self.bend
        by_shift = (slopes * self.scales) @ self.directions.T
        by_scale = np.sum(slopes * (self._shift @ self.directions) * self.scales, axis=0)
        by_g = by_shift * bend.amplitudes
        by_weights = np.sqrt(2.0 / len(bend.weights)) * (self._waves.T @ by_g)
        by_scaled = -((by_g @ bend.weights.T) * np.sin(self._angles)) @ bend.frequencies.T
        by_lengthscale = -np.sum(by_scaled * self._scaled, axis=0)
        by_amplitude = np.sum(by_shift * self._shift, axis=0)
        by_inputs = slopes + by_scaled / bend.lengthscales
        return by_inputs, by_scale, by_lengthscale, by_amplitude, by_weights.ravel()
