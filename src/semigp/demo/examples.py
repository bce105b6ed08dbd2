"""Small example problems, each with the true values that were hidden."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..datasets import make_mackey_glass

SEED = 7
Scores = list[tuple[str, list[float]]]  # (method, scores), our own method first


@dataclass(frozen=True)
class Regression:
    """A regression of y on a, b and c, which depend on each other. All three have gaps, and a has error bars."""

    names = ("a", "b", "c")
    n_rows: int = 120
    n_new: int = 200

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        random = np.random.default_rng(SEED)
        n = self.n_rows + self.n_new
        a, b = random.normal(size=(2, n))
        truth = np.column_stack([a, b, np.tanh(a) + 0.6 * b + 0.1 * random.normal(size=n)])
        y = np.sin(1.5 * a) + 0.5 * b * b - 0.4 * truth[:, 2] + 0.1 * random.normal(size=n)
        std = np.column_stack([random.choice([0.0, 0.15], n), np.zeros((n, 2))])
        recorded = truth + std * random.normal(size=truth.shape)
        recorded[random.random(truth.shape) < 0.25] = np.nan
        return truth, recorded, std, y

    def train(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs, error bars and outputs of the training rows."""
        _, recorded, std, y = (part[: self.n_rows] for part in self._rows)
        return recorded, std, y

    def test(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs, error bars and outputs of new rows."""
        _, recorded, std, y = (part[self.n_rows :] for part in self._rows)
        return recorded, std, y

    def truth(self) -> np.ndarray:
        """The true inputs of the training rows."""
        return self._rows[0][: self.n_rows]


@dataclass(frozen=True)
class Series:
    """A chaotic series with a gap, and its continuation."""

    n_steps: int = 200
    n_ahead: int = 100
    gap = slice(120, 128)

    @cached_property
    def values(self) -> np.ndarray:
        """The whole series, measured with noise of standard deviation 0.2."""
        values = 10.0 * make_mackey_glass(self.n_steps + self.n_ahead)
        return values + 0.2 * np.random.default_rng(SEED).normal(size=len(values))

    def past(self) -> np.ndarray:
        """The recorded past, with NaN in the gap."""
        recorded = self.values[: self.n_steps].copy()
        recorded[self.gap] = np.nan
        return recorded

    def future(self) -> np.ndarray:
        """The true values after the past."""
        return self.values[self.n_steps :]


@dataclass(frozen=True)
class Shops:
    """What three shops sold: weeks, trends, and a price that is known in advance. Some days are missing."""

    names = ("north", "south", "west")
    n_days: int = 112
    n_ahead: int = 28

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        random = np.random.default_rng(SEED)
        shape = len(self.names), self.n_days + self.n_ahead
        day = np.arange(shape[1])
        level, slope = np.array([[40.0], [60.0], [25.0]]), np.array([[0.1], [-0.1], [0.0]])
        price = np.where(random.random(shape) < 0.2, 1.5, 2.0)
        sold = (
            level + slope * day + 6.0 * np.sin(2 * np.pi * day / 7) - 12.0 * (price - 2.0) + random.normal(size=shape)
        )
        return sold, price, random.random(shape) < 0.05

    def sold(self) -> np.ndarray:
        """What was sold (shops, days), with the days to come."""
        return self._rows[0]

    def prices(self) -> np.ndarray:
        """The prices (shops, days), with the days to come."""
        return self._rows[1]

    def is_missing(self) -> np.ndarray:
        """Which days were not recorded (shops, days)."""
        return self._rows[2][:, : self.n_days]


@dataclass(frozen=True)
class Labels:
    """Three bent clusters in eight columns. Only a dozen rows have a label."""

    n_rows: int = 300
    n_labels: int = 12
    names = ("circle", "square", "star")

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(SEED)
        classes = np.arange(self.n_rows) % 3
        along = random.uniform(-1.4, 1.4, self.n_rows)
        bend = np.column_stack([np.cos(along + 2.1 * classes), np.sin(along + 2.1 * classes), 0.4 * along])
        mixing = random.normal(size=(3, 8))
        rows = np.tanh(bend @ mixing) + 0.1 * random.normal(size=(self.n_rows, 8))
        return rows, classes

    def rows(self) -> np.ndarray:
        """All rows."""
        return self._rows[0]

    def classes(self) -> np.ndarray:
        """The class of every row."""
        return np.array(self.names)[self._rows[1]]

    def labels(self) -> np.ndarray:
        """The classes of the first few rows, and None for the others."""
        known = self.classes().astype(object)
        known[self.n_labels :] = None
        return known


@dataclass(frozen=True)
class Table:
    """Five columns of measurements. A fifth of the values is missing."""

    n_rows: int = 150
    names = ("length", "width", "area", "weight", "price")

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(SEED)
        length, width = random.uniform(1.0, 4.0, (2, self.n_rows))
        area = length * width * (1 + 0.02 * random.normal(size=self.n_rows))
        weight = 0.3 * area**1.5 * (1 + 0.03 * random.normal(size=self.n_rows))
        price = 5 + 20 / (1 + np.exp(6 - weight)) + 0.3 * random.normal(size=self.n_rows)
        truth = np.column_stack([length, width, area, weight, price])
        return truth, np.where(random.random(truth.shape) < 0.2, np.nan, truth)

    def truth(self) -> np.ndarray:
        """The true table."""
        return self._rows[0]

    def recorded(self) -> np.ndarray:
        """The recorded table, with NaN for missing values."""
        return self._rows[1]
