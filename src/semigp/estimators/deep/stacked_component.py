"""A draw of stacked GPs: hidden layers that are known, and the exact GP on top of them. All in standard units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ...core import InputBelief
from ...core.exact.certain import Hyperparameters, OutputDensity
from ...core.layers.hidden import HiddenLayer, through
from ..regression.certain_component import CertainComponent


@dataclass(frozen=True)
class StackedComponent:
    """Hidden layers and the GP on top. It does what a `CertainComponent` does, at inputs that are certain."""

    layers: tuple[HiddenLayer, ...]
    inputs: np.ndarray  # before they are bent
    targets: np.ndarray
    parameters: Hyperparameters  # of the GP on top
    inducing: np.ndarray | None  # before they are bent; None if the GP is exact

    def _stored(self) -> dict[str, Any]:
        """What a file holds: not what is computed from it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_layers(self) -> int:
        """The number of layers, with the last one."""
        return len(self.layers) + 1

    @property
    def noise_variance(self) -> np.ndarray:
        """The noise variance of every output."""
        return self.parameters.scale * self.parameters.noise

    def predict(self, belief: InputBelief) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of new outputs, noise included."""
        bent = through(self.layers, np.asarray(belief.mean))
        return self._on_top.predict(InputBelief(bent, np.zeros(bent.shape)))

    def sample_functions(self, seed: int, n_samples: int) -> StackedFunctions:
        """Draw whole functions of the GP on top, as functions of the inputs before they are bent."""
        return StackedFunctions(self.layers, self._on_top.sample_functions(seed, n_samples), n_samples)

    @cached_property
    def _on_top(self) -> CertainComponent:
        inducing = None if self.inducing is None else through(self.layers, self.inducing)
        return CertainComponent(through(self.layers, self.inputs), self.targets, self.parameters, inducing)


@dataclass(frozen=True)
class StackedFunctions:
    """Functions on top of hidden layers."""

    layers: tuple[HiddenLayer, ...]
    functions: Callable[[np.ndarray], Any]  # of bent inputs
    n_samples: int

    def __call__(self, inputs: Any) -> Any:
        """The values of all functions at the same inputs (n, d): (s, n, p)."""
        return self.functions(through(self.layers, np.asarray(inputs)))


@dataclass(frozen=True)
class BentDensity:
    """The density of the outputs of rows at any inputs, through hidden layers, given the outputs of other rows."""

    layers: tuple[HiddenLayer, ...]
    on_top: OutputDensity

    @classmethod
    def given(
        cls,
        layers: tuple[HiddenLayer, ...],
        parameters: Hyperparameters,
        inputs: np.ndarray,
        targets: np.ndarray,
        inducing: np.ndarray | None = None,
    ) -> BentDensity:
        """The density given these rows."""
        bent, between = through(layers, inputs), None if inducing is None else through(layers, inducing)
        return cls(layers, OutputDensity.given(parameters, bent, targets, between, precision=float))

    def log_densities(self, options: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The log density of the outputs of b rows at c candidates for the inputs of each: (b, c, d) → (b, c)."""
        bent = through(self.layers, options.reshape(-1, options.shape[2]))
        return self.on_top.log_densities(bent.reshape(*options.shape[:2], -1), targets)
