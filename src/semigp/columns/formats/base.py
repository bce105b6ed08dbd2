"""The contract of a format: how the cells of a column of text are written."""

from __future__ import annotations

from typing import Any, Protocol


class Format(Protocol):
    """How a whole column of text writes its numbers or its times. It reads all of its cells, and writes new ones alike.

    A class of formats has a function `find` that gives the format of the cells of a column, or None.
    """

    def read(self, text: str) -> Any:
        """The number or the time in a cell without spaces around it, or None if it is not written in this way."""

    def write(self, value: Any) -> str:
        """A number or a time, written as the cells of the column are."""
