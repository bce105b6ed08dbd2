"""A fan chart of a forecast."""

from __future__ import annotations

from typing import Any

import numpy as np

from .curves import COLOURS, STYLE

_BANDS = ((0.025, 0.975, "95 %", 0.15), (0.1, 0.9, "80 %", 0.25), (0.25, 0.75, "50 %", 0.35))


def draw_fan(forecast: Any, truth: Any, history: int | None, axes: Any, n_paths: int) -> Any:
    """Median, bands and some paths of a `Forecast`, after its past; one panel for each column of the series."""
    import matplotlib.pyplot as plt

    names = forecast.timeline.names
    with plt.rc_context(STYLE):
        if axes is None:
            _, axes = plt.subplots(len(names), 1, figsize=(9, 2.8 * len(names)), sharex=True, squeeze=False)
        panels = np.ravel(axes)
        if len(panels) != len(names):
            raise ValueError(f"axes has {len(panels)} panels; the series has {len(names)} columns.")
        for column, (panel, name) in enumerate(zip(panels, names, strict=True)):
            _draw_panel(panel, forecast, column, truth, history, n_paths)
            panel.set_ylabel(name)
        panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=6)
    return panels[0] if len(panels) == 1 else panels


def _draw_panel(axes: Any, forecast: Any, column: int, truth: Any, history: int | None, n_paths: int) -> None:
    steps, past = len(forecast), forecast.past[:, column]
    count = min(len(past), 2 * steps if history is None else history)
    before, after = _times(forecast.timeline, len(past), count, steps)
    if count:
        axes.plot(before, past[len(past) - count :], color="0.35", lw=1, label="past")
    for low, high, label, alpha in _BANDS:
        edges = forecast.quantile([low, high]).reshape(2, steps, -1)[:, :, column]
        axes.fill_between(after, *edges, color=COLOURS[0], alpha=alpha, lw=0, label=label)
    if forecast.paths is not None:
        for path in forecast.paths[:n_paths].reshape(-1, steps, len(forecast.timeline.names))[:, :, column]:
            axes.plot(after, path, color=COLOURS[0], lw=0.5, alpha=0.7)
    axes.plot(after, forecast.quantile(0.5).reshape(steps, -1)[:, column], color=COLOURS[0], lw=1.8, label="median")
    if truth is not None:
        known = np.asarray(truth, float).reshape(len(truth), -1)
        if known.shape[1] != len(forecast.timeline.names):
            raise ValueError(f"truth has {known.shape[1]} columns, the forecast {len(forecast.timeline.names)}.")
        known = known[:steps, column]
        axes.plot(after[: len(known)], known, "k--", lw=1, label="truth")


def _times(timeline: Any, length: int, count: int, steps: int) -> tuple[Any, Any]:
    """What to draw the past and the future against."""
    index = timeline.index
    if index is None:
        return np.arange(-count, 0), np.arange(steps)
    before, after = index[length - count :], timeline.after(steps)
    if hasattr(index, "to_timestamp"):  # periods
        return before.to_timestamp(), after.to_timestamp()
    return before, after
