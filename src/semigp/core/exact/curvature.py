"""The log evidence as a function of inputs and targets: its slopes and its curvature, in NumPy.

With M = α αᵀ - A⁻¹, B the RBF part of K, and P = M ∘ B, a change of the inputs changes log p(y) by Σ G ∘ dX, where

    G = (P X - diag(P 1) X) diag(1/ℓ²) + M X diag(v),

and a change of the targets by -αᵀ dy.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from .at_points import BumpsAndLines, input_slopes, inverse_of
from .evidence import NOISE_FLOOR


class DataEvidence:
    """Log p(y) at some inputs and targets, and how it changes with them."""

    def __init__(
        self,
        kernel: BumpsAndLines,
        noise_variance: float,
        inputs: Float[np.ndarray, "n q"],
        targets: Float[np.ndarray, " n"],
    ) -> None:
        self.kernel, self.inputs, n = kernel, inputs, len(inputs)
        self._bump = kernel.bumps(inputs, inputs)
        covariance = self._bump + (inputs * kernel.linear) @ inputs.T
        covariance[np.diag_indices(n)] += noise_variance + NOISE_FLOOR
        self._inverse, log_determinant = inverse_of(covariance)
        self.weights = self._inverse @ targets  # α
        self.value = -0.5 * (float(targets @ self.weights) + log_determinant + n * np.log(2.0 * np.pi))
        self._pull = np.multiply.outer(self.weights, self.weights) - self._inverse  # M

    def slopes(self) -> Float[np.ndarray, "n q"]:
        """The derivatives G by the inputs. Those by the targets are -α."""
        return input_slopes(self.kernel, self.inputs, self._pull, self._pull * self._bump)

    def along(
        self,
        rows: Int[np.ndarray, " r"],
        columns: Int[np.ndarray, " r"],
        targets: Int[np.ndarray, " k"],
        at: Int[np.ndarray, " f"],
    ) -> tuple[Float[np.ndarray, "f q"], Float[np.ndarray, " n"]]:
        """The derivatives of G, in the rows `at`, and of α, as some entries of X and y move together.

        One entry moves in each of `rows`, that in `columns`. Then only these rows and columns of K move: K' = E D +
        DᵀEᵀ, where E picks the rows and D holds ∂k(x_a, x_b)/∂x_a.
        """
        X, kernel, inverse = self.inputs, self.kernel, self._inverse
        apart = (X[rows, columns][:, None] - X[:, columns].T) / kernel.lengthscales[columns][:, None] ** 2
        bumps = -self._bump[rows] * apart  # the RBF part of D   [r, n]
        both = bumps + kernel.linear[columns][:, None] * X[:, columns].T  # D
        # α' = A⁻¹ (y' - K'α)
        moved = np.zeros(len(X))
        np.add.at(moved, targets, 1.0)
        np.add.at(moved, rows, -both @ self.weights)
        weights = inverse @ (moved - both.T @ self.weights[rows])
        # M' = α'αᵀ + αα'ᵀ + A⁻¹K'A⁻¹
        carried = both @ inverse  # D A⁻¹   [r, n]
        pull = np.outer(weights[at], self.weights) + np.outer(self.weights[at], weights)
        pull += inverse[np.ix_(at, rows)] @ carried + carried[:, at].T @ inverse[rows]
        # P' = M' ∘ B + M ∘ B'
        pulls = pull * self._bump[at] + self._pull[at] * _on_both_sides(bumps, rows, at)
        # Both change G, and so does X' itself.
        direction = np.zeros(X.shape)
        direction[rows, columns] = 1.0
        still = self._pull[at]
        return (
            input_slopes(kernel, X, pull, pulls, at)
            + input_slopes(kernel, direction, still, still * self._bump[at], at),
            weights,
        )


def _on_both_sides(changes: Float[np.ndarray, "r n"], rows: np.ndarray, at: np.ndarray) -> Float[np.ndarray, "f n"]:
    """Rows `at` of E D + DᵀEᵀ, where E picks `rows`, and D holds the changes."""
    found = (at[:, None] == rows).astype(float) @ changes
    found[:, rows] += changes[:, at].T
    return found
