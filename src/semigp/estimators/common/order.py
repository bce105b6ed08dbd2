"""An order of rows and columns that depends on what they hold, not on how they came.

Sums are rounded by the order of their terms, random numbers are dealt by place, and hundreds of iterations amplify
both: so that a table with its rows or columns exchanged gives the same model, all tables are fitted in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cmp_to_key

import numpy as np

# Of data in standard units. Units of measure show in the digits after, which hundreds of iterations would amplify.
DECIMALS = 10


@dataclass(frozen=True)
class Arrangement:
    """Places of the arranged rows and columns among those that were given."""

    rows: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, inputs: np.ndarray, *others: np.ndarray, columns: np.ndarray | None = None) -> Arrangement:
        """Columns of `inputs`, which may have an order already, and rows, also by those of `others`."""
        columns = column_order(inputs, *others) if columns is None else columns
        return cls(_lexicographic([_standard(inputs)[:, columns], *map(_standard, others)]), columns)

    def arranged(self, table: np.ndarray) -> np.ndarray:
        """Our order of a table with all rows and columns."""
        return table[np.ix_(self.rows, self.columns)]

    def as_given(self, table: np.ndarray) -> np.ndarray:
        """The order in which rows and columns came; tables may be stacked."""
        return table[..., np.argsort(self.rows)[:, None], np.argsort(self.columns)]

    def columns_as_given(self, table: np.ndarray) -> np.ndarray:
        """As `as_given`, for rows that have their own order."""
        return table[..., np.argsort(self.columns)]


def column_order(inputs: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """By sorted values in standard units. Where these are equal, as in a grid, by values in a provisional row order.

    That knows no columns: rows go by the others, then by what they hold, sorted.
    """
    inputs = _standard(inputs)
    ordered = np.sort(inputs, axis=0)

    @cache
    def placed() -> np.ndarray:
        return inputs[_lexicographic([*map(_standard, others), np.sort(inputs, axis=1)])]

    def compare(i: int, j: int) -> int:
        return _compared(ordered[:, i], ordered[:, j]) or _compared(placed()[:, i], placed()[:, j])

    return np.array(sorted(range(inputs.shape[1]), key=cmp_to_key(compare)), int)


def _compared(one: np.ndarray, other: np.ndarray) -> int:
    """-1, 0 or 1, by the first place at which two arrays differ."""
    first = int(np.argmax(one != other))
    return int(one[first] > other[first]) - int(one[first] < other[first])


def _lexicographic(tables: list[np.ndarray]) -> np.ndarray:
    """The order of rows, by the first column of the first table, and so on; equal rows are as good as each other."""
    return np.lexsort(np.column_stack(tables).T[::-1])


def _standard(table: np.ndarray) -> np.ndarray:
    """Columns in rough standard units, missing last; to the last digit the same whatever the order of rows."""
    ordered = np.sort(table, axis=0)
    count = np.maximum(np.sum(~np.isnan(table), axis=0), 1)
    mean = np.nansum(ordered, axis=0) / count
    spread = np.sqrt(np.nansum((ordered - mean) ** 2, axis=0) / count)
    rough = np.round((table - mean) / np.where(spread > 0, spread, 1.0), DECIMALS)
    return np.where(np.isnan(rough), np.inf, rough) + 0.0  # of the two zeros the one
