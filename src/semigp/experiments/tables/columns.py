"""A table whose columns are numbers or categories, as one array: a category is the number of its level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from ... import datasets
from ...baselines.forests import one_hot
from ...datasets.files import MIXED_TARGETS, UCI_TABLES

NAMES = ("concrete", "energy", "yacht", "airfoil", "stock", "machine", "kin40k", "penguins", "tips", "mpg")
MOST_LEVELS = 20  # a text column with more levels is a name, and is left out


@dataclass(frozen=True)
class Columns:
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

    def rows(self, which: np.ndarray) -> Columns:
        """Some of the rows."""
        return replace(self, values=self.values[which])

    def without(self, mask: np.ndarray) -> Columns:
        """The same with more holes."""
        return replace(self, values=np.where(mask, np.nan, self.values))

    def and_number(self, name: str, values: np.ndarray) -> Columns:
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


@cache
def load(name: str) -> tuple[Columns, np.ndarray]:
    """The inputs and the output of a table."""
    if name in UCI_TABLES:
        X, y = datasets.load_uci(name)
        return Columns(X, [f"x{j + 1}" for j in range(X.shape[1])]), y
    frame, y = datasets.load_mixed(name)
    return _from_frame(frame), np.asarray(y, float)


def _from_frame(frame: Any) -> Columns:
    """A frame as numbers, without columns of names."""
    values, names, labels = [], [], {}
    for name in frame.columns:
        if frame[name].dtype.kind in "biuf":
            values.append(frame[name].to_numpy(float))
        else:
            codes, found = frame[name].factorize(sort=True)
            if len(found) > MOST_LEVELS:
                continue
            labels[len(values)] = [str(label) for label in found]
            values.append(np.where(codes < 0, np.nan, codes))
        names.append(name)
    return Columns(np.column_stack(values), names, labels)


def loadable(names: Sequence[str]) -> list[str]:
    """The tables that can be read here: those with text need pandas."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        left_out = [name for name in names if name in MIXED_TARGETS]
        if left_out:
            print(f"Without pandas, tables with text are left out: {', '.join(left_out)}.")
        return [name for name in names if name not in MIXED_TARGETS]
    return list(names)
