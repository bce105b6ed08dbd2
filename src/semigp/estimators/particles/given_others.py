"""What is known about a column from the other columns: a mixture of a GP and of donors from random trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

from ...core.chained.regression import CURVED, NEARLY_LINEAR, Conditioned, Regression, choose_regressions
from ...core.exact.at_points import SINGLE
from .donors import Tree
from .layout import Layout
from .side_by_side import map_side_by_side

S = TypeVar("S")
T = TypeVar("T")
# The largest numbers of rows: to choose a GP's hyperparameters, to condition it on, and to grow a tree on.
_TO_CHOOSE, _TO_CONDITION, _TO_GROW = 150, 300, 5000
_MANY = 2000  # rows from which on trees are grown side by side
# Equally probable nodes with the variance of a standard normal: exact enough for means, and fair to levels.
_NODES = ndtri((np.arange(25) + 0.5) / 25)
_NODES = _NODES / np.std(_NODES)
_TREES_TO_WEIGH, _STEPS_TO_WEIGH, _BINS, _LEAST_SHARE = 12, 20, 20, 0.05


@dataclass(frozen=True)
class ColumnModel:
    """What is chosen once for a column."""

    regression: Regression | None  # None for categories
    gp_share: float  # the share of the GP in the mixture

    @classmethod
    def chosen(
        cls, layout: Layout, group: int, filled: np.ndarray, known: np.ndarray, random: np.random.Generator
    ) -> ColumnModel:
        """The model of a column, from the rows in which it is known."""
        if not layout.is_number(group) or len(known) < 3:
            return cls(None, 0.0)
        some = random.permutation(known)[:_TO_CHOOSE]
        points, values = layout.others(filled[some], group), filled[some, layout.groups[group][0]]
        # Nearly linear relations are found by another grid, which misleads where little is known: so both are tried.
        found = dict.fromkeys(choose_regressions(points, values, (CURVED, NEARLY_LINEAR)))
        gps = [Conditioned.on(regression, points, values) for regression in found]
        best = max(gps, key=lambda gp: float(np.sum(_log_density(values, *gp.left_out(values)))))
        return cls(best.regression, _gp_share(best, points, values, random))


def _log_density(values: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """The log density of normal distributions, up to a constant."""
    return -np.log(std) - 0.5 * ((values - mean) / std) ** 2


def _gp_share(gp: Conditioned, points: np.ndarray, values: np.ndarray, random: np.random.Generator) -> float:
    """The share of the GP with which the mixture best predicts known values, each left out in turn.

    The values are sorted into bins, so that donors have probabilities, too.
    """
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, _BINS + 1)[1:-1], method="nearest"))
    bins = np.searchsorted(edges, values, side="right")
    mean, std = gp.left_out(values)
    limits = np.r_[-np.inf, edges, np.inf]
    by_gp = ndtr((limits[bins + 1] - mean) / std) - ndtr((limits[bins] - mean) / std)
    by_trees = _out_of_bag(points, values, bins, random)
    share = 0.5
    for _ in range(_STEPS_TO_WEIGH):  # expectation and maximisation
        part = share * np.maximum(by_gp, 1e-9)
        share = float(np.mean(part / (part + (1.0 - share) * by_trees)))
    return float(np.clip(share, _LEAST_SHARE, 1.0 - _LEAST_SHARE))


def _out_of_bag(points: np.ndarray, values: np.ndarray, bins: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The probability that donors give each value its own bin, in trees that were grown without it."""
    is_in = np.eye(bins.max() + 1)[bins]
    base = is_in.mean(axis=0)[bins]
    total, trees = base.copy(), np.ones(len(values))
    for _ in range(_TREES_TO_WEIGH):
        tree = Tree.grown(points, values[:, None], random)
        leaves = tree.leaves(points)
        own = tree.means(points, is_in)[np.arange(len(bins)), bins] * tree.count[leaves]
        out = ~np.isin(np.arange(len(bins)), tree.drawn)
        total += np.where(out, (own - 1.0 + base) / tree.count[leaves], 0.0)
        trees += out
    return np.maximum(total / trees, 1e-9)


@dataclass(frozen=True)
class Conditional:
    """The distribution of a column given the other columns, conditioned on a filled table."""

    layout: Layout
    group: int
    gp: Conditioned | None
    gp_share: float
    trees: tuple[Tree, ...]
    values: np.ndarray  # values of the donors, (donors, features of the group)

    @classmethod
    def on(
        cls, model: ColumnModel, layout: Layout, group: int, filled: np.ndarray, known: np.ndarray, n_trees: int,
        random: np.random.Generator, is_quick: bool = False,
    ) -> Conditional:  # fmt: skip
        """Condition a column's model on the rows in which it is known. A quick one has single precision."""
        some = known if len(known) <= _TO_GROW else random.permutation(known)[:_TO_GROW]
        points, values = layout.others(filled[some], group), filled[layout.at(some, group)]
        trees = _grown(points, values, random.spawn(n_trees))
        gp = None
        if model.regression is not None:
            few = np.arange(len(some)) if len(some) <= _TO_CONDITION else random.permutation(len(some))[:_TO_CONDITION]
            gp = Conditioned.on(model.regression, points[few], values[few, 0], SINGLE if is_quick else float)
        return cls(layout, group, gp, model.gp_share, trees, values)

    def draw(
        self, rows: np.ndarray, choice: np.ndarray, normal: np.ndarray, uniform: np.ndarray, is_joint: bool = False
    ) -> np.ndarray:
        """A value of the column for every row, (k, features of the group), from one random number of each kind a row.

        With `is_joint`, what is not known about the GP's function is an error that the rows share.
        """
        points = self.layout.others(rows, self.group)
        drawn = np.empty((len(rows), self.values.shape[1]))
        from_gp = choice < self.gp_share
        if from_gp.any() and self.gp is not None:
            values = self._gp_draw(points[from_gp], normal[from_gp], is_joint)
            drawn[from_gp, 0] = self.layout.allowed(values, self.group)
        # What is left of `choice` is uniform again, and says which tree.
        which = np.minimum((choice - self.gp_share) / (1.0 - self.gp_share) * len(self.trees), len(self.trees) - 1)
        which = np.where(from_gp, -1, which.astype(int))
        for number, tree in enumerate(self.trees):
            here = which == number
            if here.any():
                drawn[here] = self.values[tree.donors(points[here], uniform[here])]
        return drawn

    def _gp_draw(self, points: np.ndarray, normal: np.ndarray, is_joint: bool) -> np.ndarray:
        if is_joint:
            return self.gp.draw_jointly(points, normal)  # type: ignore[union-attr]
        mean, variance = self.gp.predict(points)  # type: ignore[union-attr]
        return mean + np.sqrt(variance) * normal

    def _tree_means(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The mean, over trees, of `values` (donors, k) among the donors of every point."""
        means = _for_each(lambda tree: tree.means(points, values), self.trees, len(points))
        return np.mean(means, axis=0)

    def expectations(self, rows: np.ndarray, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The mean of functions of the column for every row, (k, functions).

        `of` takes values of the column (…, features of the group) and returns values of the functions (…, functions).
        """
        points = self.layout.others(rows, self.group)
        by_trees = self._tree_means(points, of(self.values))
        if self.gp is None:
            return by_trees
        mean, variance = self.gp.predict(points)
        nodes = self.layout.allowed(mean + np.sqrt(variance) * _NODES[:, None], self.group)
        by_gp = np.mean(of(nodes[:, :, None]), axis=0)
        return (1.0 - self.gp_share) * by_trees + self.gp_share * by_gp

    def mean(self, rows: np.ndarray) -> np.ndarray:
        """The mean of the column for every row, (k, features of the group)."""
        points = self.layout.others(rows, self.group)
        by_trees = self._tree_means(points, self.values)
        if self.gp is None:
            return by_trees
        return (1.0 - self.gp_share) * by_trees + self.gp_share * self.gp.predict(points)[0][:, None]

    def between(self, rows: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """A number for every row (k,): between the mean of the trees and a draw of the GP.

        The GP's weight is the square of its share, so that it counts where it is clearly ahead.
        """
        points = self.layout.others(rows, self.group)
        by_trees = self._tree_means(points, self.values)[:, 0]
        drawn = 0.0 if self.gp is None else self._gp_draw(points, normal, is_joint=False)
        weight = self.gp_share**2
        return self.layout.allowed((1.0 - weight) * by_trees + weight * drawn, self.group)


def _grown(points: np.ndarray, values: np.ndarray, numbers: list[np.random.Generator]) -> tuple[Tree, ...]:
    return tuple(_for_each(lambda own: Tree.grown(points, values, own), numbers, len(points)))


def _for_each(function: Callable[[S], T], items: Iterable[S], n_rows: int) -> list[T]:
    """The values of a function, side by side if there are enough rows for that to pay."""
    return map_side_by_side(function, items) if n_rows > _MANY else [function(item) for item in items]
