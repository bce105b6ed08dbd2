"""An order of rows and columns that depends on what they hold, not on how they came.

Sums are rounded by the order of their terms, random numbers are dealt by place, and hundreds of iterations amplify
both: so that a table with its rows or columns exchanged gives the same model, all tables are fitted in this order.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        """Columns by their sorted values, rows by their values, then those of `others`, in standard units.

        Columns that are equal in those go by the values as they are; equal in both, in different rows, they stay as
        they came. Equal rows are as good as each other. An order of columns may be given.
        """
        rough = _standard(inputs)
        if columns is None:
            columns = np.lexsort(np.concatenate([np.sort(inputs, axis=0)[::-1], np.sort(rough, axis=0)[::-1]]))
        keys = np.column_stack([rough[:, columns], *(_standard(other) for other in others)])
        return cls(np.lexsort(keys.T[::-1]), columns)

    def arranged(self, table: np.ndarray) -> np.ndarray:
        """Our order of a table with all rows and columns."""
        return table[np.ix_(self.rows, self.columns)]

    def as_given(self, table: np.ndarray) -> np.ndarray:
        """The order in which rows and columns came; tables may be stacked."""
        return table[..., np.argsort(self.rows)[:, None], np.argsort(self.columns)]

    def columns_as_given(self, table: np.ndarray) -> np.ndarray:
        """As `as_given`, for rows that have their own order."""
        return table[..., np.argsort(self.columns)]


def _standard(table: np.ndarray) -> np.ndarray:
    """Columns in rough standard units, missing last; to the last digit the same whatever the order of rows."""
    ordered = np.sort(table, axis=0)
    count = np.maximum(np.sum(~np.isnan(table), axis=0), 1)
    mean = np.nansum(ordered, axis=0) / count
    spread = np.sqrt(np.nansum((ordered - mean) ** 2, axis=0) / count)
    rough = np.round((table - mean) / np.where(spread > 0, spread, 1.0), DECIMALS)
    return np.where(np.isnan(rough), np.inf, rough) + 0.0  # of the two zeros the one
