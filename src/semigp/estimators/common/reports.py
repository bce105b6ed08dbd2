"""What an estimator says of its fit: how long the whole of it took, one report of several searches, warnings."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...core.search.report import Callback, FitReport, Status

# From the worst to the best.
_ORDER: tuple[Status, ...] = ("failed", "interrupted", "stalled", "iteration limit", "converged")


class Stopwatch:
    """Counts the seconds of a whole fit, from its creation on."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self._started

    def told_to(self, callback: Callback | None) -> Callback | None:
        """A callback whose `progress.seconds` are those of the whole fit, not of the search that runs just now."""
        return None if callback is None else lambda progress: callback(replace(progress, seconds=self.seconds))

    def noted_in(self, report: FitReport) -> FitReport:
        """A report whose seconds are those of the whole fit."""
        return replace(report, seconds=self.seconds)


def worst(reports: Sequence[FitReport]) -> FitReport:
    """The first report of those with the worst status."""
    return min(reports, key=lambda report: _ORDER.index(report.status))


def joint_report(reports: Sequence[FitReport]) -> FitReport:
    """One report of the searches for several draws: status and message of the worst, the trace of the first."""
    if len(reports) == 1:
        return reports[0]
    stages = [
        (f"{name}, draw {draw}", status, count)
        for draw, report in enumerate(reports, 1)
        for name, status, count in report.stages
    ]
    return replace(
        worst(reports),
        bound=float(np.mean([report.bound for report in reports])),
        trace=reports[0].trace,
        evaluations=sum(report.evaluations for report in reports),
        stages=tuple(stages),
        signal_to_noise=np.mean([report.signal_to_noise for report in reports], axis=0),
        is_all_noise=all(report.is_all_noise for report in reports),
    )


def warn_of(report: FitReport, statuses: Sequence[Status] = ("iteration limit", "failed")) -> None:
    """A ConvergenceWarning where a fit has one of these statuses, or has found nothing but noise."""
    if report.status in statuses or report.is_all_noise:
        # The user's line is four calls up: this function, `fit`, and what makes it all or nothing.
        warnings.warn(report.message, ConvergenceWarning, stacklevel=4)
