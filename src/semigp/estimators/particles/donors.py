"""Values of a column that occur, taken from rows that a random tree finds similar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.tree import ExtraTreeRegressor

_SMALLEST_LEAF = 3


@dataclass(frozen=True)
class Tree:
    """A random tree and the rows in its leaves. These rows are the donors of points that fall into the same leaf."""

    tree: Any
    order: np.ndarray  # donors, sorted by leaf
    first: np.ndarray  # by leaf: the place of its first donor in `order`
    count: np.ndarray  # by leaf: how many donors it has
    drawn: np.ndarray  # the donors on which the tree was grown

    @classmethod
    def grown(cls, points: np.ndarray, values: np.ndarray, random: np.random.Generator) -> Tree:
        """A tree grown on a bootstrap sample of the rows, whose donors are all rows."""
        points = np.ascontiguousarray(points, np.float32)
        drawn = random.integers(len(points), size=len(points))
        seed = int(random.integers(2**31 - 1))
        grower = ExtraTreeRegressor(max_features=1.0, min_samples_leaf=_SMALLEST_LEAF, random_state=seed)
        with config_context(skip_parameter_validation=True):  # it would take longer than the tree
            tree = grower.fit(points[drawn], np.ascontiguousarray(values[drawn]), check_input=False).tree_
        leaves = tree.apply(points)
        order, count = np.argsort(leaves, kind="stable"), np.bincount(leaves, minlength=tree.node_count)
        return cls(tree, order, np.cumsum(count) - count, count, drawn)

    def leaves(self, points: np.ndarray) -> np.ndarray:
        """The leaf of every point."""
        return self.tree.apply(points.astype(np.float32))

    def donors(self, points: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """A donor for every point, chosen by a number between 0 and 1."""
        leaves = self.leaves(points)
        return self.order[self.first[leaves] + (uniform * self.count[leaves]).astype(int)]

    def means(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The mean of `values` (donors, k) in the leaf of every point."""
        sums = np.cumsum(np.vstack([np.zeros((1, values.shape[1])), values[self.order]]), axis=0)
        leaves = self.leaves(points)
        first, count = self.first[leaves], self.count[leaves]
        return (sums[first + count] - sums[first]) / count[:, None]
