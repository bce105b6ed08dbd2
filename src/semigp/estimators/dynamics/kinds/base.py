"""The contract of a kind of dynamics. All arrays are in standard units; the estimator turns results back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ....core.search.report import Callback, FitReport


@dataclass(frozen=True)
class Settings:
    """What a user has asked for."""

    n_states: int
    n_inducing: int
    max_iter: int
    random_state: int
    callback: Callback | None = None


class Dynamics(Protocol):
    """Dynamics that were fitted to some series."""

    @property
    def report(self) -> FitReport:
        """How the fit went."""

    def states(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mean and std (T, q) of q(x) of every training series."""

    def complete(
        self, series: list[np.ndarray] | None, inputs: list[np.ndarray] | None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mean and variance (T, p) of the outputs of series with gaps, with noise; None means the training series."""

    def simulate(
        self, steps: int, inputs: np.ndarray | None, n_paths: int, random: np.random.Generator, number: int = -1
    ) -> np.ndarray:
        """Paths (n_paths, steps, p) that continue training series `number`."""


class Fit(Protocol):
    """The function that fits a kind of dynamics."""

    def __call__(self, series: list[np.ndarray], inputs: list[np.ndarray] | None, settings: Settings) -> Dynamics:
        """Dynamics fitted to series (T, p), whose gaps are NaN, and to their inputs (T, c)."""
