"""Searches one after the other. After an interrupt, those that are left end at once."""

from __future__ import annotations

from ...core.search.report import Callback, FitReport, labelled
from ..common.reports import at_once


class Searches:
    """The searches of a fit: whom they tell, and how they went."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback = callback
        self.interrupted: FitReport | None = None

    def told(self, phase: str, part: int = 1, parts: int = 1) -> Callback | None:
        """The callback of the next search."""
        if self.interrupted is not None:
            return at_once
        return labelled(self._callback, phase=phase, part=part, parts=parts)

    def note(self, report: FitReport) -> FitReport:
        """Note how a search went, and return its report."""
        if report.status == "interrupted" and self.interrupted is None:
            self.interrupted = report
        return report
