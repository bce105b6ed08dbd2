"""The bound during a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .style import COLOURS, Drawn, canvas, drawn


@drawn
def draw_bound(model: Any, ax: Any = None) -> Drawn:
    """The bound after every iteration of the optimiser, with a dotted line where a stage ends.

    If there are several draws, the trace of the first one is drawn. The axis begins at the 5 % quantile of the trace,
    so that the first steps, which gain the most, do not hide the last ones. Data: "iteration", "bound" and "stage".
    """
    trace = np.asarray(model.fit_report_.trace, float)
    if not np.isfinite(trace).any():
        raise ValueError("The fit has no finite bound to draw; see model.fit_report_.message.")
    stages = model.fit_report_.stages
    stages = [stage for stage in stages if stage[0].endswith(", draw 1")] or stages
    counts = [count for *_, count in stages]
    iteration = np.arange(1, len(trace) + 1)
    with canvas(ax) as axes:
        axes.plot(iteration, trace, color=COLOURS[0], lw=1.4)
        for (name, _, count), end in zip(stages, np.cumsum(counts), strict=True):
            axes.axvline(end, color="0.4", lw=1, ls=":")
            # Slanted above the middle of the stage, because a stage may be much shorter than its name.
            axes.text(
                end - count / 2, 1.01, name, transform=axes.get_xaxis_transform(), rotation=20, ha="left", va="bottom",
                rotation_mode="anchor", fontsize="small", color="0.3",
            )  # fmt: skip
        low, high = np.nanquantile(trace[np.isfinite(trace)], [0.05, 1.0])
        margin = 0.05 * (high - low) or 1.0
        axes.set(xlabel="iteration", ylabel="bound", ylim=(low - margin, high + margin))
    return axes, {"iteration": iteration, "bound": trace, "stage": np.repeat([name for name, *_ in stages], counts)}
