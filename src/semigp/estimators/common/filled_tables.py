"""How filled tables are returned: arrays as arrays, and frames as frames with their own types, index and columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...columns import Columns
from ...columns.columns import holds_only_numbers
from ...columns.tables import copied, is_frame
from ...frames import FrameKind, as_frame


@dataclass
class FilledTables:
    """What is known of the training table, so that it, and tables like it, can be returned without holes."""

    kind: FrameKind | None  # None for arrays
    columns: Columns | None  # None for arrays of numbers, and in old files
    training: Any = None  # the training table; files do not keep it

    @classmethod
    def like(cls, table: Any, columns: Columns | None) -> FilledTables:
        """Tables like the training table, whose columns are given unless all of them are numbers."""
        if columns is None and is_frame(table) and holds_only_numbers(table):
            columns = Columns.learn(table)
        return cls(FrameKind.of(table), columns, copied(table) if columns is not None else None)

    @property
    def without_types(self) -> FilledTables:
        """The same for tables of numbers in which known entries change, too."""
        return replace(self, columns=None) if self._holds_numbers else self

    def filled(self, codes: np.ndarray, table: Any = None) -> Any:
        """A table, by default that of the training rows, with its holes filled in from codes (n, q)."""
        if self.columns is None or (table is not None and not is_frame(table) and self._holds_numbers):
            return as_frame(codes, self.kind if table is None else FrameKind.of(table))
        table = self.training if table is None else table
        if table is not None:
            return self.columns.fill(codes, table)
        if self._holds_numbers:
            return as_frame(codes, self.kind)
        raise ValueError("A file does not keep a training table whose columns are not all numbers. Give the table.")

    def spreads(self, std: np.ndarray, table: Any = None) -> Any:
        """Standard deviations (n, q) of the used columns, as a frame if the table is one."""
        kind = self.kind if table is None else FrameKind.of(table)
        if kind is not None and self.columns is not None:
            kind = replace(kind, columns=self.columns.names_of_used)
        return as_frame(std, kind)

    @property
    def _holds_numbers(self) -> bool:
        return self.columns is None or self.columns.is_numeric_only

    def _stored(self) -> dict[str, Any]:
        return {**vars(self), "training": None}
