"""Scores of several methods against a condition, such as the share of missing inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# Okabe and Ito's colours, which colour-blind readers can tell apart; our own method is black and in front.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#8B4513", "#6A3D9A")
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">")
STYLE: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 9,
    "legend.frameon": False,
    "figure.dpi": 120,
    "svg.hashsalt": "semigp",
}


def draw_curves(
    axes: Any,
    conditions: Sequence[float],
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    ours: Sequence[str] = (),
    flat: Sequence[str] = (),
) -> None:
    """A line and a band (mean ± 2 standard errors) for each method: name → (means, standard errors).

    Methods in `ours` are drawn thick and dark, those in `flat` as dashed lines without markers.
    """
    others = [name for name in curves if name not in ours]
    for name, (means, errors) in curves.items():
        means, errors = np.asarray(means, float), np.asarray(errors, float)
        if name in ours:
            colour, width, marker, order = ("black", "#444444")[list(ours).index(name) % 2], 2.2, "o", 5
            line = "-" if name == ours[0] else "--"
        else:
            index = others.index(name)
            colour, width, order = COLOURS[index % len(COLOURS)], 1.2, 3
            marker, line = MARKERS[index % len(MARKERS)], "-"
        if name in flat:
            marker, line = "", ":"
        axes.plot(conditions, means, line, color=colour, lw=width, marker=marker, ms=3.5, label=name, zorder=order)
        axes.fill_between(conditions, means - 2 * errors, means + 2 * errors, color=colour, alpha=0.12, lw=0)


def draw_bars(axes: Any, names: Sequence[str], means: Sequence[float], errors: Sequence[float]) -> None:
    """A horizontal bar (mean ± 2 standard errors) for each method, the first on top."""
    places = np.arange(len(names))[::-1]
    axes.barh(places, means, xerr=2 * np.asarray(errors), color=COLOURS[0], alpha=0.8, height=0.65)
    axes.set_yticks(places, names)
