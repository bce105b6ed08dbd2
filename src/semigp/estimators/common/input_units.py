"""From a table's columns to the features that a GP sees, and back.

A number is warped by a power that makes its known values as normal as can be (Yeo and Johnson 2000), brought to
standard units, and held half a standard deviation beyond the range of the training rows: a row far outside is predicted
no further than the data reach. A category with more than two levels has a feature for each level. These share one
scale, with which their variances add up to 1.

Let u = (x - middle)/spread. The warp with the power λ is sign-symmetric: for u ≥ 0 it is ((1 + u)^λ - 1)/λ, or
log(1 + u) if λ = 0, and for u < 0 it is the negative of the same with -u and 2 - λ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from .units import Units

# Numbers with fewer different values are not warped. A power is searched for in a range, and rounded.
_FEWEST_VALUES, _POWERS, _POWER_DECIMALS = 10, (-3.0, 5.0), 4
# A warp must make the known values more probable by this many nats.
_LEAST_GAIN = 2.0
# How far, in standard deviations, inputs may lie beyond the training rows.
_MARGIN = 0.5
# Nodes and weights with which moments are carried through the warp.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True)
class InputUnits:
    """How every column becomes one or more features, and back."""

    widths: tuple[int, ...]  # the number of features of every column
    middle: np.ndarray  # of every feature: (d,)
    spread: np.ndarray
    power: np.ndarray
    mean: np.ndarray  # of the warped values
    std: np.ndarray
    lower: np.ndarray  # the known range, in features
    upper: np.ndarray
    is_held: bool = field(default=True, kw_only=True)  # whether features are held near the known range

    @classmethod
    def of(cls, codes: np.ndarray, widths: Sequence[int], is_warped: np.ndarray) -> InputUnits:
        """The units of columns of codes (n, q), NaN where missing.

        `widths` holds the number of levels of categories, and 1 for all else. Numbers are warped where `is_warped`. A
        column without any known value is left as it is.
        """
        parts = [_unit(column, width, warp) for column, width, warp in zip(codes.T, widths, is_warped, strict=True)]
        return cls(tuple(int(width) for width in widths), *(np.concatenate(part) for part in zip(*parts, strict=True)))

    @classmethod
    def linear(cls, units: Units) -> InputUnits:
        """Standard units of numbers, without warps and without limits."""
        d = len(units)
        zeros, ones, limits = np.zeros(d), np.ones(d), np.full(d, np.inf)
        return cls((1,) * d, zeros, ones, ones, units.mean, units.std, -limits, limits)

    def without_limits(self) -> InputUnits:
        """The same units for inputs that may lie anywhere."""
        return replace(self, is_held=False)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """For every column the places of its features."""
        ends = np.cumsum([0, *self.widths]).tolist()
        return tuple(tuple(range(*pair)) for pair in pairwise(ends))

    @property
    def is_level(self) -> np.ndarray:
        """Which columns are categories with a feature for each level."""
        return np.array(self.widths) > 1

    def standard(self, codes: np.ndarray) -> np.ndarray:
        """Features (n, d) of codes (n, q)."""
        features = (_warp((_expand(codes, self.widths) - self.middle) / self.spread, self.power) - self.mean) / self.std
        return np.clip(features, self.lower - _MARGIN, self.upper + _MARGIN) if self.is_held else features

    def bars(self, codes: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Error bars of features: those of codes times the slope of the warp, (1 + |u|)^(λ - 1)."""
        values = (np.nan_to_num(_expand(codes, self.widths)) - self.middle) / self.spread
        exponent = np.where(values >= 0.0, self.power, 2.0 - self.power) - 1.0
        slope = (1.0 + np.abs(values)) ** exponent / (self.spread * self.std)
        return np.repeat(error, self.widths, axis=1) * slope

    def natural(self, features: np.ndarray) -> np.ndarray:
        """Codes (…, q) of features (…, d), inside the known range. A category is the level with the largest feature."""
        held = np.clip(features, self.lower, self.upper)
        values = _unwarp(held * self.std + self.mean, self.power) * self.spread + self.middle
        groups = self.groups
        return np.stack([values[..., g[0]] if len(g) == 1 else _largest(values[..., g]) for g in groups], axis=-1)

    def natural_of(self, features: np.ndarray, column: int) -> np.ndarray:
        """Codes (…) of the features (…, width) of one column."""
        some = list(self.groups[column])
        own: dict[str, Any] = {name: part[some] for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return InputUnits((len(some),), **own).natural(features)[..., 0]

    def natural_moments(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of codes, from those of features that are Gaussian. Levels have NaN as theirs."""
        codes = np.array([self.natural(mean + np.sqrt(variance) * node) for node in _NODES])
        weights = (_WEIGHTS / _WEIGHTS.sum())[:, None, None]
        expected = np.sum(weights * codes, axis=0)
        std = np.sqrt(np.maximum(np.sum(weights * (codes - expected) ** 2, axis=0), 0.0))
        first = np.array([group[0] for group in self.groups])
        # Without a warp, moments are exact, and not cut at the range.
        linear, is_linear = (mean * self.std + self.mean) * self.spread + self.middle, self.power[first] == 1.0
        expected = np.where(is_linear, linear[:, first], expected)
        std = np.where(is_linear, (np.sqrt(variance) * self.std * self.spread)[:, first], std)
        return np.where(self.is_level, self.natural(mean), expected), np.where(self.is_level, np.nan, std)


def _unit(codes: np.ndarray, width: int, is_warped: bool) -> tuple[np.ndarray, ...]:
    """Middle, spread, power, mean, std, lower and upper of the features of a column."""
    known = codes[~np.isnan(codes)]
    zeros, ones = np.zeros(width), np.ones(width)
    if not len(known):
        return zeros, ones, ones, zeros, ones, np.full(width, -np.inf), np.full(width, np.inf)
    values = _expand(known[:, None], (width,))
    middle, spread, power = zeros, ones, ones
    if width == 1 and is_warped and len(np.unique(known)) >= _FEWEST_VALUES:
        centre, scale = _robust_scale(known)
        middle, spread = np.array([centre]), np.array([scale])
        power = np.array([_best_power((known - centre) / scale)])
    warped = _warp((values - middle) / spread, power)
    mean, std = warped.mean(axis=0), np.full(width, np.sqrt(np.sum(warped.var(axis=0))))
    std = np.where(std > 10.0 * np.finfo(float).eps * np.maximum(np.abs(mean), 1e-300), std, 1.0)
    features = (warped - mean) / std
    return middle, spread, power, mean, std, features.min(axis=0), features.max(axis=0)


def _robust_scale(values: np.ndarray) -> tuple[float, float]:
    """Median and scaled interquartile range; the standard deviation instead if the latter is too small."""
    low, centre, high = np.quantile(values, (0.25, 0.5, 0.75))
    scale, std = (high - low) / 1.35, np.std(values)
    return float(centre), float(scale if scale > 0.1 * std else std)


def _best_power(values: np.ndarray) -> float:
    """The power under which the values are most likely normal, with the prior λ ~ N(1, 1)."""
    jacobian = float(np.sum(np.sign(values) * np.log1p(np.abs(values))))

    def loss(power: float) -> float:
        variance = np.var(_warp(values[:, None], np.array([power])))
        return 0.5 * len(values) * np.log(max(variance, 1e-300)) - (power - 1.0) * jacobian + 0.5 * (power - 1.0) ** 2

    found = minimize_scalar(loss, bounds=_POWERS, method="bounded")
    return round(float(found.x), _POWER_DECIMALS) if found.fun < loss(1.0) - _LEAST_GAIN else 1.0


def _warp(values: np.ndarray, power: np.ndarray) -> np.ndarray:
    exponent = np.where(values >= 0.0, power, 2.0 - power)
    logs = np.log1p(np.abs(values))
    safe = np.where(exponent == 0.0, 1.0, exponent)
    warped = np.sign(values) * np.where(exponent == 0.0, logs, np.expm1(safe * logs) / safe)
    return np.where(power == 1.0, values, warped)  # to the last digit


def _unwarp(warped: np.ndarray, power: np.ndarray) -> np.ndarray:
    exponent = np.where(warped >= 0.0, power, 2.0 - power)
    safe = np.where(exponent == 0.0, 1.0, exponent)
    logs = np.log1p(np.maximum(safe * np.abs(warped), -1.0 + 1e-12)) / safe
    values = np.sign(warped) * np.expm1(np.where(exponent == 0.0, np.abs(warped), logs))
    return np.where(power == 1.0, warped, values)


def _expand(codes: np.ndarray, widths: Sequence[int]) -> np.ndarray:
    parts = []
    for column, width in zip(codes.T[:, :, None], widths, strict=True):
        parts.append(column if width == 1 else np.where(np.isnan(column), np.nan, column == np.arange(width)))
    return np.column_stack(parts)


def _largest(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values).any(axis=-1), np.nan, np.argmax(values, axis=-1).astype(float))
