"""The figures of a run: mean ranks and coverage against the share of missing entries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..reporting import Row, save_figure
from .plan import WITH_HOLES
from .problems import AT_RANDOM
from .summary import PARTS, Part, cases, mean_ranks, means, of_case


def draw(records: Sequence[Row], folder: Path) -> list[Path]:
    """One figure for each part that has records."""
    paths = []
    for part in PARTS:
        some = [r for r in records if r["part"] == part.name and "error" not in r]
        if some:
            suffix = "" if part is PARTS[0] else f"-{part.name}"
            paths += _figure(some, part, folder / f"tables{suffix}")
    return paths


def _panels(records: Sequence[Row], part: Part) -> tuple[list[float], dict[str, dict[str, list[float]]]]:
    """Rates, and for each panel the values of every way: entries at random, and the smallest number of rows."""
    chosen = [case for case in cases(records) if case[1] == AT_RANDOM and case[2] != WITH_HOLES]
    chosen = [case for case in chosen if case[0] == chosen[0][0]]
    panels: dict[str, dict[str, list[float]]] = {f"rank by {score}": {} for score in part.ranked} | {"coverage": {}}
    for number, case in enumerate(chosen):
        some = of_case(records, case)
        values = {f"rank by {score}": mean_ranks(means(some, score), part) for score in part.ranked}
        covered = means(some, "coverage")
        values["coverage"] = {w: float(np.mean([v for (o, _), v in covered.items() if o == w])) for w, _ in covered}
        for panel, found in values.items():
            for way, value in found.items():
                line = panels[panel].setdefault(way, [np.nan] * len(chosen))
                line[number] = value
    return [100 * case[3] for case in chosen], panels


def _figure(records: Sequence[Row], part: Part, stem: Path) -> list[Path]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ...plotting import STYLE, draw_curves

    rates, panels = _panels(records, part)
    if not rates:
        return []
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 4.2), squeeze=False)
        entries = {}
        for axes, (title, lines) in zip(grid[0], panels.items(), strict=True):
            # One look for each way in all panels, whether or not it has this score.
            curves = {way: (lines.get(way, [np.nan] * len(rates)), [0.0] * len(rates)) for way in part.ways}
            draw_curves(axes, rates, curves, (part.ours,), part.unranked)
            entries |= {
                label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True) if label in lines
            }
            axes.set(xlabel="missing entries, %", ylabel=title)
        grid[0, -1].axhline(0.95, color="0.6", lw=0.8)
        canvas.legend(entries.values(), entries.keys(), loc="lower center", ncols=5)
        canvas.tight_layout(rect=(0, 0.13, 1, 1))
        return save_figure(canvas, stem)
