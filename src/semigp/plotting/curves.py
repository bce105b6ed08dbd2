"""Scores of several methods against a condition, such as the share of missing inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .style import COLOURS, MARKERS, look


def draw_curves(
    ax: Any,
    conditions: Sequence[float],
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    ours: Sequence[str] = (),
    flat: Sequence[str] = (),
    faint: Sequence[str] = (),
    is_log: bool = False,
) -> Any:
    """Draw a line and a band (mean ± 2 standard errors) for each method, and return the axes.

    `curves` maps the name of a method to its means and standard errors. Methods in `ours` are drawn thick and dark,
    methods in `flat` dotted, methods in `faint` in grey. On a logarithmic scale the band is a factor
    exp(±2 standard errors / mean).
    """
    others = [name for name in curves if name not in (*ours, *flat, *faint)]
    for name, (means, errors) in curves.items():
        means, errors = np.asarray(means, float), np.asarray(errors, float)
        if name in ours:
            style = {
                "color": "black",
                "lw": 2.2,
                "marker": "o",
                "zorder": 5,
                "ls": ("-", "--")[list(ours).index(name) % 2],
            }
        elif name in flat:
            style = {"color": "black", "lw": 1.0, "ls": ":", "zorder": 2}
        elif name in faint:
            style = {"color": "0.7", "lw": 0.9, "marker": MARKERS[list(faint).index(name)], "zorder": 1}
        else:
            number = others.index(name)
            style = look(number) | {"lw": 1.2, "ls": ("-", "--", ":")[number // len(COLOURS) % 3], "zorder": 3}
        ax.plot(conditions, means, ms=3.5, label=name, **style)
        low, high = means - 2 * errors, means + 2 * errors
        if is_log:
            low, high = means * np.exp(-2 * errors / means), means * np.exp(2 * errors / means)
        ax.fill_between(conditions, low, high, color=style["color"], alpha=0.1, lw=0)
    return ax
