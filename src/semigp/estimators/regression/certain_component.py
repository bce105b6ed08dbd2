"""The GP of a table without holes, in NumPy. Nothing is compiled as long as new inputs are certain."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import jax
import numpy as np

from ...core import InputBelief, Posterior
from ...core.exact.at_points import JITTER, factor_of
from ...core.exact.certain import Hyperparameters, OutputDensity
from ...core.exact.draws import ExactDraws, draw_given
from ...core.kernels import RBF, Kernel, Linear
from ...core.sparse.function_draws import FunctionDraws
from ...core.sparse.model import make_data, posterior, start

_WAVES = 1000  # random features of a function
_MOST_EXACT = 3000  # given up to so many rows, functions are exact


@dataclass(frozen=True)
class ExactFunctions:
    """Draws of functions, which are in units of the scale of their output."""

    draws: tuple[ExactDraws, ...]  # of every output
    scale: np.ndarray
    n_samples: int

    def __call__(self, inputs: Any) -> np.ndarray:
        """The values of all functions at the same inputs (n, d): (s, n, p)."""
        return np.stack([each.everywhere(np.asarray(inputs))[:, 0] for each in self.draws], axis=2) * self.scale


@dataclass(frozen=True)
class CertainComponent:
    """A GP with certain inputs, in standard units. It does what a `Component` does."""

    inputs: np.ndarray
    targets: np.ndarray
    parameters: Hyperparameters
    inducing: np.ndarray | None  # None if the GP is exact

    def _stored(self) -> dict[str, Any]:
        """What a file holds: not what is computed from it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def kernel(self) -> Kernel:
        """The kernel of outputs of scale 1."""
        return RBF(1.0, self.parameters.lengthscales) + Linear(self.parameters.linear)

    @property
    def noise_variance(self) -> np.ndarray:
        """The noise variance of every output."""
        return self.parameters.scale * self.parameters.noise

    def predict(self, belief: InputBelief) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of new outputs, noise included."""
        if np.any(belief.variance):
            mean, variance = self.posterior.predict(belief)
            return np.asarray(mean), np.asarray(variance) + self.noise_variance
        return self._density.moments(np.asarray(belief.mean))

    def sample_functions(self, seed: int, n_samples: int) -> ExactFunctions | FunctionDraws:
        """Draw whole functions from the posterior, without noise.

        Given not too many rows they are exact, and drawn in NumPy: nothing is compiled, and little noise does no harm.
        """
        if len(self.inputs) > _MOST_EXACT:
            return self.posterior.sample_functions(jax.random.key(seed), n_samples)
        random = np.random.default_rng(seed)
        kernel, draws = self.parameters.kernel, []
        for output, (noise, scale) in enumerate(zip(self.parameters.noise, self.parameters.scale, strict=True)):
            rows = ~np.isnan(self.targets[:, output])
            some, values = self.inputs[rows], self.targets[rows, output] / np.sqrt(scale)
            factor = factor_of(kernel(some, some) + (noise + JITTER) * np.eye(len(some)))
            draws.append(draw_given(kernel, factor, some, values, noise + JITTER, random.spawn(n_samples), 1, _WAVES))
        return ExactFunctions(tuple(draws), np.sqrt(self.parameters.scale), n_samples)

    @cached_property
    def _density(self) -> OutputDensity:
        return OutputDensity.given(self.parameters, self.inputs, self.targets, self.inducing, precision=float)

    @cached_property
    def posterior(self) -> Posterior:
        """The same GP in the engine, for inputs that are uncertain and for draws of functions."""
        data, scale = make_data(self.inputs, self.targets), np.sqrt(self.parameters.scale)
        inducing = self.inputs if self.inducing is None else self.inducing  # with all rows it is exact
        return posterior(start(data, self.kernel, inducing, self.noise_variance, scale), data)
