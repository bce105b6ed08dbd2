"""A table whose columns are numbers or categories, as one array: a category is the number of its level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..forests import one_hot


@dataclass(frozen=True)
class CodedTable:
    """Values (n, q) with NaN where missing, and the labels of the levels for columns that are categories."""

    values: np.ndarray
    names: Sequence[str]
    labels: dict[int, list[str]] = field(default_factory=dict)

    @property
    def levels(self) -> dict[int, int]:
        """The number of levels of every category, by the number of its column."""
        return {j: len(labels) for j, labels in self.labels.items()}

    @property
    def numeric(self) -> np.ndarray:
        """Which columns hold numbers."""
        return np.array([j not in self.labels for j in range(self.values.shape[1])])

    def rows(self, which: np.ndarray) -> CodedTable:
        """Some of the rows."""
        return replace(self, values=self.values[which])

    def without(self, mask: np.ndarray) -> CodedTable:
        """The same with more holes."""
        return replace(self, values=np.where(mask, np.nan, self.values))

    def and_number(self, name: str, values: np.ndarray) -> CodedTable:
        """The same with one more column of numbers, the last."""
        return replace(self, values=np.column_stack([self.values, values]), names=[*self.names, name])

    def encoded(self, without_last: bool = False) -> np.ndarray:
        """Numbers only: a category becomes a 0/1 column for each of its levels, or for each but the last.

        The last is for those that predict columns from each other: the columns of all levels add up to 1, so that every
        one of them would be read off the guesses of the others.
        """
        return one_hot(self.values, {j: count - without_last for j, count in self.levels.items()})

    def frame(self) -> Any:
        """A pandas frame with text where there are categories."""
        import pandas

        columns = {}
        for j, name in enumerate(self.names):
            column = self.values[:, j]
            if j in self.labels:
                known = np.array(self.labels[j], object)[np.nan_to_num(column).astype(int)]
                column = pandas.Series(np.where(np.isnan(column), None, known), dtype="str")
            columns[name] = column
        return pandas.DataFrame(columns)
