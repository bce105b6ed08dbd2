"""How the columns of a user's table lie in the table that is fitted, and which values they can have there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# A number has levels if it has at most this many different values for each known one. Draws are then values that occur.
_MOST_LEVELS = 0.5


@dataclass(frozen=True)
class Layout:
    """Groups of features. A number is a group of one feature, and a category has one feature for each level."""

    groups: tuple[tuple[int, ...], ...]
    levels: tuple[np.ndarray | None, ...]  # per group: the values that occur, sorted, if a number has few of them
    lower: np.ndarray  # (d,) smallest known value of every feature
    upper: np.ndarray  # (d,) largest known value

    @classmethod
    def of(cls, table: np.ndarray, groups: tuple[tuple[int, ...], ...]) -> Layout:
        """The layout of a table of features (n, d), NaN where missing, in which every group has a known value."""
        levels = tuple(_levels(table[:, group[0]]) if len(group) == 1 else None for group in groups)
        return cls(groups, levels, np.nanmin(table, axis=0), np.nanmax(table, axis=0))

    @property
    def group_of(self) -> np.ndarray:
        """The number of the group of every feature, (d,)."""
        numbers = np.empty(sum(map(len, self.groups)), int)
        for number, group in enumerate(self.groups):
            numbers[list(group)] = number
        return numbers

    def is_missing(self, table: np.ndarray) -> np.ndarray:
        """Which groups of which rows are missing, (n, groups)."""
        return np.isnan(table[:, [group[0] for group in self.groups]])

    def is_number(self, group: int) -> bool:
        """Whether a group is a number, whose values can be drawn from a Gaussian."""
        return len(self.groups[group]) == 1

    def allowed(self, values: np.ndarray, group: int) -> np.ndarray:
        """Values of a number, moved to where its values can lie: inside its range, and to levels if it has some."""
        place = self.groups[group][0]
        levels = self.levels[group]
        if levels is None:
            return np.clip(values, self.lower[place], self.upper[place])
        right = np.clip(np.searchsorted(levels, values), 1, max(len(levels) - 1, 1))
        pair = levels[np.minimum(np.stack([right - 1, right]), len(levels) - 1)]
        return np.where(np.abs(values - pair[0]) <= np.abs(values - pair[1]), pair[0], pair[1])

    def at(self, rows: np.ndarray, group: int) -> tuple[np.ndarray, np.ndarray]:
        """The index, into a table of features, of a group in some rows."""
        return rows[:, None], np.array(self.groups[group])

    def others(self, rows: np.ndarray, group: int) -> np.ndarray:
        """The rows without the features of a group."""
        return np.delete(rows, self.groups[group], axis=1)


def _levels(values: np.ndarray) -> np.ndarray | None:
    known = values[~np.isnan(values)]
    levels = np.unique(known)
    return levels if len(levels) <= _MOST_LEVELS * len(known) else None
