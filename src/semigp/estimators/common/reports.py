"""What an estimator tells about its fit: how long it took, one report for several searches, and warnings."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...core.search.report import Callback, FitReport, Progress, Status

# From the worst to the best.
_ORDER: tuple[Status, ...] = ("failed", "interrupted", "stalled", "iteration limit", "converged")


def at_once(progress: Progress) -> bool:
    """A callback that ends a search after its first iteration, for what is left of a fit that was interrupted."""
    return True


class Stopwatch:
    """Counts the seconds of a whole fit, from its creation on."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return time.perf_counter() - self._started

    def told_to(self, callback: Callback | None) -> Callback | None:
        """A callback whose `progress.seconds` count from the start of the whole fit, not of the current search."""
        return None if callback is None else lambda progress: callback(replace(progress, seconds=self.seconds))

    def noted_in(self, report: FitReport) -> FitReport:
        """The report, with the seconds of the whole fit."""
        return replace(report, seconds=self.seconds)


def worst(reports: Sequence[FitReport]) -> FitReport:
    """The report with the worst status; the first one, if several have it."""
    return min(reports, key=lambda report: _ORDER.index(report.status))


def joint_report(reports: Sequence[FitReport]) -> FitReport:
    """One report for the fits to several draws, with the status and message of the worst and the trace of the first."""
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


def warn_of(
    report: FitReport, statuses: Sequence[Status] = ("iteration limit", "failed"), is_noise_wrong: bool = True
) -> None:
    """Warn with a ConvergenceWarning if a fit has one of these statuses, or has found nothing but noise.

    `is_noise_wrong` is False where noise alone is a fair answer, as for a series without memory.
    """
    if report.status in statuses or (report.is_all_noise and is_noise_wrong):
        # The user's line is the fourth level: above this function, `fit`, and the wrapper by `all_or_nothing`.
        warnings.warn(report.message, ConvergenceWarning, stacklevel=4)
