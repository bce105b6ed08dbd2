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
    faint: Sequence[str] = (),
    is_log: bool = False,
) -> None:
    """A line and a band (mean ± 2 standard errors) for each method: name → (means, standard errors).

    Methods in `ours` are drawn thick and dark, those in `flat` dotted, those in `faint` in grey. On a logarithmic
    scale the band is a factor exp(±2 standard errors / mean).
    """
    others = [name for name in curves if name not in (*ours, *flat, *faint)]
    for name, (means, errors) in curves.items():
        means, errors = np.asarray(means, float), np.asarray(errors, float)
        if name in ours:
            look = {
                "color": "black",
                "lw": 2.2,
                "marker": "o",
                "zorder": 5,
                "ls": ("-", "--")[list(ours).index(name) % 2],
            }
        elif name in flat:
            look = {"color": "black", "lw": 1.0, "ls": ":", "zorder": 2}
        elif name in faint:
            look = {"color": "0.7", "lw": 0.9, "marker": MARKERS[list(faint).index(name)], "zorder": 1}
        else:
            i = others.index(name)
            turn, k = divmod(i, len(COLOURS))
            look = {"color": COLOURS[k], "lw": 1.2, "marker": MARKERS[(k + turn) % len(MARKERS)], "zorder": 3}
            look["ls"] = ("-", "--", ":")[turn % 3]
        axes.plot(conditions, means, ms=3.5, label=name, **look)
        low, high = means - 2 * errors, means + 2 * errors
        if is_log:
            low, high = means * np.exp(-2 * errors / means), means * np.exp(2 * errors / means)
        axes.fill_between(conditions, low, high, color=look["color"], alpha=0.1, lw=0)
