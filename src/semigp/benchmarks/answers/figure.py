"""The picture: seconds against rows and against columns, with slopes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .jobs import OURS, SCALINGS, WAYS, Scaling
from .records import Records
from .report import measured, slope

NAME = "answers"


def figure(records: Records, folder: Path) -> list[Path]:
    """Both panels, as PNG and SVG."""
    import matplotlib.pyplot as plt

    from semigp.plotting.style import STYLE

    with plt.rc_context(STYLE):
        canvas, panels = plt.subplots(1, len(SCALINGS), figsize=(8.8, 4.2), squeeze=False, layout="constrained")
        for axes, scaling in zip(panels[0], SCALINGS, strict=True):
            draw(axes, scaling, records)
        paths = [folder / f"{NAME}{suffix}" for suffix in (".png", ".svg")]
        for path in paths:
            canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(canvas)
    return paths


def draw(axes, scaling: Scaling, records: Records) -> None:
    """Seconds against size for every way that was measured, on logarithmic axes."""
    from semigp.plotting.style import ABOVE, look

    for number, way in enumerate(WAYS):
        times = measured(scaling, way, records)
        if not times:
            continue
        found = slope(list(times), list(times.values()))
        label = way if np.isnan(found) else f"{way} (slope {found:.2f})"
        style = {"color": "black", "marker": "o", "zorder": 3} if way == OURS else look(number)
        axes.plot(list(times), list(times.values()), label=label, **style)
    n, q = scaling.shape
    axes.set(xscale="log", yscale="log", xlabel=f"rows ({q} columns)" if n is None else f"columns ({n} rows)")
    axes.set_ylabel("seconds for a fit and 100 predictions")
    axes.set_xticks(scaling.sizes, [f"{size:,}" for size in scaling.sizes], rotation=30 if n is None else 0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.minorticks_off()
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**ABOVE)
