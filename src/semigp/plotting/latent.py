"""Rows in the two latent inputs that matter most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .curves import COLOURS, MARKERS


def draw_latent(
    axes: Any,
    mean: np.ndarray,
    std: np.ndarray,
    relevance: np.ndarray,
    classes: Sequence[Any],
    labelled: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Means of q(x) coloured by class, with ellipses of one standard deviation; labelled rows have a dark rim.

    Returns what is drawn: coordinates "x" and "y", their standard deviations "x_std" and "y_std", and "class".
    """
    from matplotlib.collections import EllipseCollection

    first, second = np.argsort(relevance)[::-1][:2] if len(relevance) > 1 else (0, 0)
    drawn = {
        "x": mean[:, first], "y": mean[:, second], "x_std": std[:, first], "y_std": std[:, second],
        "class": np.asarray(classes),
    }  # fmt: skip
    rim = np.zeros(len(mean), bool) if labelled is None else np.isin(np.arange(len(mean)), labelled)
    axes.set_aspect("auto")
    for number, name in enumerate(np.unique(drawn["class"])):
        rows = drawn["class"] == name
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        places = np.column_stack([drawn["x"], drawn["y"]])[rows]
        ellipses = EllipseCollection(
            2 * drawn["x_std"][rows], 2 * drawn["y_std"][rows], np.zeros(rows.sum()), units="xy", offsets=places,
            transOffset=axes.transData, facecolors=colour, alpha=0.06, lw=0, rasterized=True,
        )  # fmt: skip
        axes.add_collection(ellipses)
        axes.scatter(*places.T, s=9, c=colour, marker=marker, lw=0, alpha=0.8, label=str(name), rasterized=True)
        axes.scatter(
            drawn["x"][rows & rim], drawn["y"][rows & rim], s=40, c=colour, marker=marker, edgecolors="black", lw=1.2,
            zorder=4,
        )  # fmt: skip
    axes.set(xlabel=f"latent input {first + 1}", ylabel=f"latent input {second + 1}")
    return drawn
