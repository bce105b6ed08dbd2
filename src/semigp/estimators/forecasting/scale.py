"""The scale in which a series is learned: values or their logarithms, in standard units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.exact.over_time import fit_over_time
from ..common.units import Units
from .searches import Searches

_MAX_VALUES = 250
_LEAST_GAIN = 5.0  # nats by which logarithms must be more likely


@dataclass(frozen=True)
class SeriesScale:
    """Which columns are learned as logarithms, which are never negative, and their units."""

    is_log: np.ndarray  # (p,)
    is_positive: np.ndarray  # (p,)
    units: Units
    least: np.ndarray  # (p,) stands for later values that have no logarithm

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        seasons: tuple[float, ...],
        positive: bool | str,
        offsets: np.ndarray | float = 0.0,
        searches: Searches | None = None,
    ) -> SeriesScale:
        """The scale of a series (T, p) with NaN in its gaps, to which offsets are added before it is learned."""
        searches, least = searches or Searches(None), np.nanmin(values, axis=0)
        is_positive = least >= 0.0 if positive == "auto" else np.full(len(least), bool(positive))
        shifted = values + offsets
        least = np.nanmin(shifted, axis=0)
        grows = np.array([_grows(column, seasons, searches) for column in shifted.T])
        is_log = grows & is_positive & (least > 0.0)
        return cls(is_log, is_positive, Units.of(_bent(shifted, is_log, least)), least)

    def standard(self, values: np.ndarray) -> np.ndarray:
        """Values (..., p) in standard units."""
        return self.units.standard(_bent(values, self.is_log, self.least))

    def natural(self, values: np.ndarray) -> np.ndarray:
        """Draws (..., p) in their own units. Columns that cannot be negative are held at 0."""
        found = self.units.natural(values)
        with np.errstate(over="ignore"):
            found = np.where(self.is_log, np.exp(np.minimum(found, 700.0)), found)
        return np.where(self.is_positive, np.maximum(found, 0.0), found)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """The standard deviations (p,) of the values' own units; for logarithms, around the mean of the values."""
        return np.where(self.is_log, self.units.std * np.nanmean(values, axis=0), self.units.std)

    def natural_moments(self, mean: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations (..., p) of Gaussians, in their own units; log-normal where that is so."""
        mean, std = self.units.natural(mean), std * self.units.std
        with np.errstate(over="ignore"):
            centre = np.exp(np.minimum(mean + 0.5 * std**2, 700.0))
            spread = centre * np.sqrt(np.expm1(np.minimum(std**2, 700.0)))
        return np.where(self.is_log, centre, mean), np.where(self.is_log, spread, std)


def _bent(values: np.ndarray, is_log: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The logarithms of some columns, and the other columns."""
    usable = np.where(is_log, np.where(values > 0.0, values, least), 1.0)
    return np.where(is_log, np.log(usable), values) + 0.0 * values


def _grows(column: np.ndarray, seasons: tuple[float, ...], searches: Searches) -> bool:
    """Whether logarithms are clearly more likely: changes are then in proportion to the value.

    Both are Gaussian processes over time. The density of a value is that of its logarithm, divided by the value.
    """
    end = np.flatnonzero(~np.isnan(column))[-1] + 1  # there may be a long gap behind
    latest = column[max(end - max(_MAX_VALUES, int(3 * max(seasons, default=0))), 0) : end]
    known = latest[~np.isnan(latest)]
    if known.min() <= 0.0 or known.max() < 1.2 * known.min() or len(known) < 20:
        return False
    used = tuple(season for season in seasons if 2.5 * season <= len(latest))
    evidence = []
    for values in (latest, np.log(latest)):
        spread = np.nanstd(values)
        _, report = fit_over_time((values - np.nanmean(values)) / spread, used, 50, searches.told("trial"))
        searches.note(report)
        evidence.append(report.bound - len(known) * np.log(spread))
    return bool(evidence[1] - np.sum(np.log(known)) - evidence[0] > _LEAST_GAIN)
