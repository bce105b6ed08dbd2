"""The contract of a kind of report: from a fitted model, and the data it was fitted to, to a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..page import Report


@dataclass(frozen=True)
class Subject:
    """What a report is about. Sections that need what was not given are left out, and the page says so."""

    model: Any
    X: Any = None
    y: Any = None
    X_std: Any = None
    forecast: Any = None
    reading: str = ""  # lines of Python that read X and y, if they come from a file


Tell = Callable[[Subject], Report]
