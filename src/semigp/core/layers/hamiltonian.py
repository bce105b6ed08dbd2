"""Draws from a density by Hamiltonian Monte Carlo (Neal 2011), in NumPy.

The step is adapted by dual averaging (Hoffman and Gelman 2014), until a given share of proposals is accepted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

# log p(u) and its gradient
Density = Callable[[np.ndarray], tuple[float, np.ndarray]]
# Steps of a path, the size of the first one, and the share of proposals that should be accepted.
STEPS, _FIRST_STEP, _ACCEPTED = 10, 0.1, 0.8
# Dual averaging: how fast it forgets, how strongly it pulls, and how much it trusts the first proposals.
_FORGETTING, _PULL, _TRUST = 0.75, 0.1, 5.0
# Positions are rounded. The last digits depend on where arrays lie in memory, and long paths amplify them.
_DECIMALS = 8


class Hamiltonian:
    """A chain of draws. Its density may be exchanged, as when rows are added."""

    def __init__(self, density: Density, position: Float[np.ndarray, " u"], random: np.random.Generator) -> None:
        self.random, self.iteration, self._shortfall = random, 0, 0.0
        self._step = self._settled = np.log(_FIRST_STEP)
        self.position = position
        self.move_to(density)

    def move_to(self, density: Density) -> None:
        """Go on with another density from the same position, and adapt the step anew from where it is."""
        self.density, self.iteration, self._shortfall, self._centre = density, 0, 0.0, self._settled
        self.value, self._slope = density(self.position)

    def advance(self, is_adapting: bool) -> None:
        """Make one proposal, and accept it or stay."""
        momentum = self.random.normal(size=len(self.position))
        step = np.exp(self._step if is_adapting else self._settled) * self.random.uniform(0.8, 1.2)
        position, value, slope, end = self._path(momentum, step)
        gain = value - 0.5 * float(end @ end) - self.value + 0.5 * float(momentum @ momentum)
        chance = float(np.exp(min(gain, 0.0))) if np.isfinite(gain) else 0.0
        if self.random.uniform() < chance:
            self.position, self.value, self._slope = np.round(position, _DECIMALS), value, slope
        if is_adapting:
            self._adapt(chance)

    def _path(self, momentum: np.ndarray, step: float) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """The end of a path of leapfrog steps: position, log density, its slope, and momentum."""
        position, value, slope = self.position, self.value, self._slope
        for _ in range(STEPS):
            momentum = momentum + 0.5 * step * slope
            position = position + step * momentum
            value, slope = self.density(position)
            if not np.isfinite(value):
                break
            momentum = momentum + 0.5 * step * slope
        return position, value, slope, momentum

    def _adapt(self, chance: float) -> None:
        self.iteration += 1
        share = 1.0 / (self.iteration + _TRUST)
        self._shortfall += share * (_ACCEPTED - chance - self._shortfall)
        self._step = self._centre - np.sqrt(self.iteration) / _PULL * self._shortfall
        share = self.iteration**-_FORGETTING
        self._settled += share * (self._step - self._settled)
