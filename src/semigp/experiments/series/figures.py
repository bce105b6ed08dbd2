"""The figure of a run: quantile loss relative to the best, and coverage, of every way on every part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..reporting import Row, save_figure, summarise
from .plan import HERE, OURS, PEERS
from .problems import KINDS

SCORES = ("quantile loss", "coverage")
RANGE_OF_LOSS = (0.93, 5.0)  # what is beyond it is drawn at its end


def drawn(records: Sequence[Row]) -> tuple[list[str], list[str], dict[str, np.ndarray]]:
    """Parts, ways, and for each score its mean (ways, parts); losses relative to the lowest of the part."""
    good = [record for record in records if "error" not in record]
    parts = [part for part in KINDS if any(record["part"] == part for record in good)]
    ways = [way for way in (*HERE, *PEERS) if any(record["way"] == way for record in good)]
    found = {}
    for score in SCORES:
        means = summarise(good, ("way", "part"), score)
        found[score] = np.array([[means[w, p].mean if (w, p) in means else np.nan for p in parts] for w in ways])
    found["quantile loss"] = found["quantile loss"] / np.nanmin(found["quantile loss"], axis=0)
    return parts, ways, found


def draw(records: Sequence[Row], folder: Path) -> list[Path]:
    """A point for every way and part: its loss, and its coverage."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ...plotting import STYLE

    parts, ways, found = drawn(records)
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(1, 2, figsize=(10, 0.55 * len(parts) + 2.0), sharey=True)
        for axes, score in zip(grid, SCORES, strict=True):
            _points(axes, found[score], ways)
        grid[0].set(xscale="log", xlabel="quantile loss, relative to the lowest of the part", xlim=RANGE_OF_LOSS)
        grid[0].set_xticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
        grid[0].set_yticks(range(len(parts)), parts)
        grid[0].invert_yaxis()
        grid[1].axvline(0.95, color="0.6", lw=0.8)
        grid[1].set(xlabel="coverage of 95 % intervals", xlim=(0.0, 1.02))
        canvas.legend(*grid[1].get_legend_handles_labels(), loc="lower center", ncols=5)
        canvas.tight_layout(rect=(0, 0.75 / (0.55 * len(parts) + 2.0), 1, 1))
        return save_figure(canvas, folder / "series")


def _points(axes: Any, means: np.ndarray, ways: Sequence[str]) -> None:
    """A marker for each way and part; ways are a little apart from each other. Ours is black and large."""
    from ...plotting.style import look

    others = [way for way in (*HERE, *PEERS) if way != OURS]  # a way looks the same whichever others are there
    for number, way in enumerate(ways):
        style = {"color": "black", "marker": "o", "s": 55} if way == OURS else look(others.index(way)) | {"s": 24}
        places = np.arange(means.shape[1]) + 0.5 * (number / max(len(ways) - 1, 1) - 0.5)
        within = np.minimum(means[number], RANGE_OF_LOSS[1] * 0.98)
        axes.scatter(within, places, label=way, zorder=5 if way == OURS else 3, **style)
