"""One report of several fits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.search.report import FitReport


def joint_report(reports: list[FitReport]) -> FitReport:
    """One report of all components: status and message of the one that did worst, the trace of the first."""
    if len(reports) == 1:
        return reports[0]
    order = ("failed", "interrupted", "stalled", "iteration limit", "converged")
    worst = min(reports, key=lambda report: order.index(report.status))
    stages: list[tuple] = [("missing inputs", "converged", len(reports))]
    for i, report in enumerate(reports, 1):
        stages += [(f"{name}, draw {i}", status, count) for name, status, count in report.stages]
    return replace(
        worst,
        bound=float(np.mean([report.bound for report in reports])),
        trace=reports[0].trace,
        evaluations=sum(report.evaluations for report in reports),
        seconds=sum(report.seconds for report in reports),
        stages=tuple(stages),
        signal_to_noise=np.mean([report.signal_to_noise for report in reports], axis=0),
    )
