"""The unknowns of stacked GPs, as one vector whose prior is N(0, I).

A stack of L layers has L - 1 hidden ones, each from d inputs to d outputs, and an exact GP of the outputs on top:

    h⁰ = x,    hˡ = hˡ⁻¹ + ((a ∘ g(hˡ⁻¹)) P) ∘ ℓ,    y = f(hᴸ⁻¹) + vᵀx + noise.

Every g_k is a GP with the kernel exp(-½ |(x - x')/λ|²), in random features: g(x) = √(2/f) Σ_i w_i cos(ω_iᵀ(x/λ) + b_i),
with fixed ω_i ~ N(0, I) and b_i ~ U(0, 2π), and unknown w_i ~ N(0, 1). The shift a ∘ g is in units of the lengthscales
ℓ of f, and has as many directions P as there are inputs, or eight random ones if there are more. For a = 0 all hidden
layers are the identity, and the model is a GP with one layer. The prior of a says that they are near it.

The unknowns are log ℓ, log v and log r of the last GP, with the hyperpriors of `core.exact.certain`, and log λ, log a
and w of every hidden layer. Inputs of one column (a category's levels) share ℓ, v and λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from ..exact.at_points import BumpsAndLines
from ..exact.certain import log_priors
from .hidden import HiddenLayer

# The number of waves of a hidden layer, and the largest number of its directions.
_WAVES, _MOST_DIRECTIONS = 30, 8
# Hyperpriors for q groups: log λ ~ N(log √q, 1), log a ~ N(log .3, 1).
_INNER_SPREAD, _AMPLITUDE, _AMPLITUDE_SPREAD = 1.0, np.log(0.3), 1.0
# Kernels have positive and finite parameters. This lengthscale along x, and this slope along h, make no difference.
_ENDLESS = 1e8
# Weights start this much smaller than their prior.
_START = 0.3


@dataclass(frozen=True)
class Bend:
    """The unknowns of one hidden layer in natural units, and its fixed random numbers."""

    lengthscales: Float[np.ndarray, " d"]  # λ
    amplitudes: Float[np.ndarray, " k"]  # a
    weights: Float[np.ndarray, "f k"]  # w, with the factor √(2/f)
    frequencies: Float[np.ndarray, "d f"]  # ω
    phases: Float[np.ndarray, " f"]  # b


@dataclass(frozen=True)
class Unknowns:
    """All unknowns in natural units."""

    kernel: BumpsAndLines  # of the last GP, with inputs [h, x]
    noise: float  # r
    bends: tuple[Bend, ...]


@dataclass(frozen=True)
class Stack:
    """The prior of stacked GPs, with the random numbers of its features."""

    groups: Int[np.ndarray, " d"]  # the number of the group of every input
    directions: Float[np.ndarray, "k d"]  # P
    frequencies: Float[np.ndarray, "l d f"]  # ω of every hidden layer
    phases: Float[np.ndarray, "l f"]  # b

    @classmethod
    def drawn(cls, groups: Int[np.ndarray, " d"], n_layers: int, random: np.random.Generator) -> Stack:
        """A stack of `n_layers`, the last one included, with random features."""
        d, hidden = len(groups), n_layers - 1
        directions = np.eye(d)
        if d > _MOST_DIRECTIONS:
            directions = np.linalg.qr(random.normal(size=(d, _MOST_DIRECTIONS)))[0].T
        frequencies = random.normal(size=(hidden, d, _WAVES))
        return cls(groups, directions, frequencies, random.uniform(0.0, 2.0 * np.pi, (hidden, _WAVES)))

    @cached_property
    def n_groups(self) -> int:
        """The number of columns, q."""
        return int(self.groups.max()) + 1

    @property
    def n_of_last(self) -> int:
        """The number of unknowns of the last GP. They come first."""
        return 2 * self.n_groups + 1

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of unknowns of a hidden layer: λ, a and w."""
        k = len(self.directions)
        return self.n_groups, k, _WAVES * k

    @property
    def size(self) -> int:
        """The number of all unknowns."""
        return self.n_of_last + len(self.phases) * sum(self.sizes)

    @cached_property
    def prior(self) -> tuple[Float[np.ndarray, " u"], Float[np.ndarray, " u"]]:
        """Means and standard deviations of all unknowns, before they are brought to N(0, I)."""
        means, spreads = log_priors(self.n_groups)
        q, k, weights = self.sizes
        inner = np.r_[np.full(q, 0.5 * np.log(q)), np.full(k, _AMPLITUDE), np.zeros(weights)]
        around = np.r_[np.full(q, _INNER_SPREAD), np.full(k, _AMPLITUDE_SPREAD), np.ones(weights)]
        hidden = len(self.phases)
        return np.r_[means, np.tile(inner, hidden)], np.r_[spreads, np.tile(around, hidden)]

    def start(self, free: Float[np.ndarray, " h"], random: np.random.Generator) -> Float[np.ndarray, " u"]:
        """Unknowns near those of a GP with one layer, whose logarithms are `free`."""
        (means, spreads), (q, k, weights) = self.prior, self.sizes
        last = (free - means[: self.n_of_last]) / spreads[: self.n_of_last]
        hidden = [np.r_[np.zeros(q + k), _START * random.normal(size=weights)] for _ in self.phases]
        return np.concatenate([last, *hidden])

    def logs(self, whitened: Float[np.ndarray, " u"]) -> Float[np.ndarray, " u"]:
        """The unknowns as logarithms and weights."""
        means, spreads = self.prior
        return means + spreads * whitened

    def read(self, whitened: Float[np.ndarray, " u"]) -> Unknowns:
        """The unknowns in natural units."""
        logs, q = self.logs(whitened), self.n_groups
        lengthscales, linear = np.exp(logs[:q])[self.groups], np.exp(logs[q : 2 * q])[self.groups]
        none = np.ones(len(self.groups))
        kernel = BumpsAndLines(1.0, np.r_[lengthscales, _ENDLESS * none], np.r_[none / _ENDLESS**2, linear])
        parts = np.split(logs[self.n_of_last :], len(self.phases))
        return Unknowns(kernel, float(np.exp(logs[2 * q])), tuple(map(self._bend, parts, range(len(parts)))))

    def _bend(self, logs: np.ndarray, layer: int) -> Bend:
        q, k, _ = self.sizes
        weights = np.sqrt(2.0 / _WAVES) * logs[q + k :].reshape(_WAVES, k)
        return Bend(
            np.exp(logs[:q])[self.groups], np.exp(logs[q : q + k]), weights, self.frequencies[layer], self.phases[layer]
        )

    def of_last(self, whitened: Float[np.ndarray, " u"]) -> tuple[Float[np.ndarray, " h"], Int[np.ndarray, " e"]]:
        """The logarithms of ℓ, v and r of the last GP for its inputs [h, x], and the groups of these."""
        logs, q = self.logs(whitened)[: self.n_of_last], self.n_groups
        endless, groups = np.full(q, np.log(_ENDLESS)), np.r_[self.groups, q + self.groups]
        return np.r_[logs[:q], endless, -2.0 * endless, logs[q:]], groups

    def layers(self, whitened: Float[np.ndarray, " u"]) -> tuple[HiddenLayer, ...]:
        """The hidden layers, ready to bend any inputs."""
        unknowns, d = self.read(whitened), len(self.groups)
        scales = unknowns.kernel.lengthscales[:d]
        return tuple(
            HiddenLayer(
                bend.frequencies / bend.lengthscales[:, None],
                bend.phases,
                ((bend.weights * bend.amplitudes) @ self.directions) * scales,
            )
            for bend in unknowns.bends
        )
