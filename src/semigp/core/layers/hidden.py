"""A hidden layer with known weights: it bends its inputs.

    h(x) = x + Σ_f w_f cos(ω_fᵀx + b_f)

With w = 0 it is the identity. With normal w it is a draw from a GP whose mean is the identity, in random features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class HiddenLayer:
    """One hidden layer, from d inputs to d outputs, with f waves."""

    frequencies: Float[np.ndarray, "d f"]  # ω
    phases: Float[np.ndarray, " f"]  # b
    weights: Float[np.ndarray, "f d"]  # w

    def __call__(self, inputs: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The outputs h(x) of all rows."""
        return inputs + np.cos(inputs @ self.frequencies + self.phases) @ self.weights


def through(layers: Sequence[HiddenLayer], inputs: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n e"]:
    """What the last GP sees: the inputs bent by all layers, and beside them the inputs themselves; e = 2d."""
    bent = inputs
    for layer in layers:
        bent = layer(bent)
    return np.hstack([bent, inputs])
