"""An order of rows and columns that depends on their values, not on the order in which the user gave them.

How a sum is rounded depends on the order of its terms, and which random number a row gets depends on its place.
Hundreds of iterations amplify both. Therefore all tables are fitted in this order: a table with its rows or columns
exchanged then gives the same model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cmp_to_key

import numpy as np

# Data in standard units are rounded to this many decimals. The digits after that depend on the user's units of measure,
# and hundreds of iterations would amplify the difference.
DECIMALS = 10


@dataclass(frozen=True)
class Arrangement:
    """For every row and column in our order, its place in the table that was given."""

    rows: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, inputs: np.ndarray, *others: np.ndarray, columns: np.ndarray | None = None) -> Arrangement:
        """The arrangement of `inputs`. Rows are compared by `inputs` first, then by `others`.

        `columns` is the order of the columns, if it is known already.
        """
        columns = column_order(inputs, *others) if columns is None else columns
        return cls(_lexicographic([_standard(inputs)[:, columns], *map(_standard, others)]), columns)

    def arranged(self, table: np.ndarray) -> np.ndarray:
        """A table, with all rows and columns, in our order."""
        return table[np.ix_(self.rows, self.columns)]

    def as_given(self, table: np.ndarray) -> np.ndarray:
        """A table, or a stack of tables, with rows and columns back in the order in which they were given."""
        return table[..., np.argsort(self.rows)[:, None], np.argsort(self.columns)]

    def columns_as_given(self, table: np.ndarray) -> np.ndarray:
        """A table of other rows, or a stack of tables, with the columns back in the order in which they were given."""
        return table[..., np.argsort(self.columns)]


def column_order(inputs: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """The order of the columns of `inputs`, compared by their sorted values in standard units.

    Columns with the same sorted values, as in a grid, are compared by their values in a provisional order of rows. That
    order must not depend on the order of columns: it compares rows by `others`, then by their own sorted values.
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
    """-1, 0 or 1: how two arrays compare at the first place where they differ."""
    first = int(np.argmax(one != other))
    return int(one[first] > other[first]) - int(one[first] < other[first])


def _lexicographic(tables: list[np.ndarray]) -> np.ndarray:
    """The order of rows by the first column of the first table, then the second, and so on; ties go either way."""
    return np.lexsort(np.column_stack(tables).T[::-1])


def _standard(table: np.ndarray) -> np.ndarray:
    """Columns in rounded standard units, with missing values as +∞ so that they come last.

    The result is the same to the last digit, whatever the order of the rows.
    """
    ordered = np.sort(table, axis=0)
    count = np.maximum(np.sum(~np.isnan(table), axis=0), 1)
    mean = np.nansum(ordered, axis=0) / count
    spread = np.sqrt(np.nansum((ordered - mean) ** 2, axis=0) / count)
    rough = np.round((table - mean) / np.where(spread > 0, spread, 1.0), DECIMALS)
    return np.where(np.isnan(rough), np.inf, rough) + 0.0  # turns -0.0 into 0.0
