"""Standard units, in which everything is fitted, and the user's own units, in which results are reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.preprocessing import StandardScaler

# Columns have different units if the largest standard deviation is more than this many times the lower quartile.
_SAME_UNITS = 10.0


def scale_of(Y: np.ndarray, scaling: str) -> np.ndarray:
    """The numbers by which the columns are divided. If every column has its own, that of a constant column is 1."""
    each = np.nanstd(Y, axis=0)
    each = np.where(each > 1e-10 * np.nanmax(np.abs(Y), axis=0), each, 0.0)  # rounding errors are not a width
    widths = each[each > 0]
    if not widths.size:
        return np.ones(Y.shape[1])
    if scaling == "columns" or (
        scaling == "auto" and widths.max() > _SAME_UNITS * np.quantile(widths, 0.25, method="lower")
    ):
        return np.where(each > 0, each, 1.0)
    return np.full(Y.shape[1], np.sqrt(np.nanmean((Y - np.nanmean(Y, axis=0)) ** 2)))


@dataclass(frozen=True)
class Units:
    """Mean and standard deviation of columns; a constant column has the standard deviation 1."""

    _FORMER_NAMES: ClassVar = {"mean_": "mean", "scale_": "std"}

    mean: np.ndarray
    std: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Units:
        """The units of the columns of `values` (n, d). NaN is ignored."""
        return cls.measured(StandardScaler().fit(values)) if values.shape[1] else cls(np.zeros(0), np.ones(0))

    @classmethod
    def measured(cls, scaler: StandardScaler) -> Units:
        """The units that a scikit-learn scaler has measured, perhaps block by block."""
        return cls(scaler.mean_, scaler.scale_)

    def standard(self, values: np.ndarray, in_place: bool = False) -> np.ndarray:
        """Values with mean 0 and standard deviation 1; on request in the memory that they have already."""
        centred = np.subtract(values, self.mean, out=values if in_place else None)
        return np.divide(centred, self.std, out=centred)

    def natural(self, values: np.ndarray) -> np.ndarray:
        """Convert values from standard units back to their own units."""
        return values * self.std + self.mean

    def __len__(self) -> int:
        return len(self.mean)
