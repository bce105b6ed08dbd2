"""Standard units, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scale:
    """To standard units and back."""

    mean: np.ndarray
    std: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Scale:
        """Of columns with NaN; 1 for those that are constant."""
        std = np.nanstd(values, axis=0)
        return cls(np.nanmean(values, axis=0), np.where(std > 0, std, 1.0))

    def standard(self, values: np.ndarray) -> np.ndarray:
        """Mean 0, standard deviation 1."""
        return (values - self.mean) / self.std

    def natural(self, values: np.ndarray) -> np.ndarray:
        """As they were."""
        return values * self.std + self.mean
