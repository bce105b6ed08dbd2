"""What every kind of latent dynamics can do once it is fitted. All arrays are in standard units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ....core.search.report import Callback, FitReport


@dataclass(frozen=True)
class Settings:
    """What a fit is told."""

    n_states: int
    n_inducing: int
    max_iter: int
    random_state: int
    callback: Callback | None = None


class Dynamics(Protocol):
    """Fitted latent dynamics with the outputs that belong to them."""

    report: FitReport

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
