"""A fan chart of a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .style import ABOVE, COLOURS, Drawn, canvas, drawn, plain

_ALPHAS = 0.15, 0.35  # of the widest and of the narrowest band


@drawn
def draw_fan(
    forecast: Any,
    ax: Any = None,
    truth: Any = None,
    history: int | None = None,
    n_paths: int = 3,
    levels: Sequence[float] = (50, 80, 95),
) -> Drawn:
    """The past of a `Forecast`, then its median, bands and some paths; a panel for each column.

    `levels` are the probabilities of the bands in percent. `history` is the number of past steps to draw, by default
    twice the number of forecast steps. Data: "time" (steps if the series has no times), "series", "past", "truth",
    "median" and the edges of the bands, such as "q0.025" and "q0.975", with NaN where a column has no value.
    """
    panels, names = _panels(forecast, ax), forecast.timeline.names
    count = min(len(forecast.past), 2 * len(forecast) if history is None else history)
    if not all(1 <= level < 100 for level in levels):
        raise ValueError(f"levels are the probabilities of bands in percent, as in (50, 95), and not {tuple(levels)}.")
    bands = [(round(0.5 - level / 200, 6), round(0.5 + level / 200, 6)) for level in sorted(levels, reverse=True)]
    tables = [_series_table(forecast, column, _known(truth, forecast), count, bands) for column in range(len(names))]
    with canvas(panels):
        for column, (panel, table) in enumerate(zip(panels, tables, strict=True)):
            _draw_panel(panel, table, count, bands)
            if forecast.paths is not None:
                for path in forecast.paths[:n_paths].reshape(-1, len(forecast), len(names))[:, :, column]:
                    panel.plot(table["time"][count:], path, color=COLOURS[0], lw=0.5, alpha=0.7, zorder=1.9)
            panel.set_ylabel(plain(names[column]))
            _write_dates(panel, table["time"])
        panels[0].legend(ncols=6, **ABOVE)
    table = {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
    return panels[0] if len(panels) == 1 else panels, table


def _panels(forecast: Any, ax: Any) -> np.ndarray:
    """The axes of a fan chart, one for each column of the series: the given axes, or new ones."""
    count = len(forecast.timeline.names)
    with canvas(ax, (9, 0.3 + 2.6 * count), count) as axes:
        panels = np.ravel(axes)
    if len(panels) != count:
        raise ValueError(f"ax has {len(panels)} panels; the series has {count} columns. Give one panel per column.")
    return panels


def _known(truth: Any, forecast: Any) -> np.ndarray:
    """The truth (steps, p), with NaN where it is not known."""
    steps, p = len(forecast), len(forecast.timeline.names)
    known = np.full((steps, p), np.nan)
    if truth is not None:
        values = np.asarray(truth, float).reshape(len(truth), -1)
        if values.shape[1] != p:
            raise ValueError(f"truth has {values.shape[1]} columns but the forecast has {p}.")
        known[: len(values)] = values[:steps]
    return known


def _series_table(forecast: Any, column: int, truth: np.ndarray, count: int, bands: list) -> dict[str, np.ndarray]:
    """The drawn numbers of one column of the series: `count` steps of the past, then the forecast."""
    steps, past = len(forecast), forecast.past[:, column]
    edges = sorted({0.5, *(edge for band in bands for edge in band)})
    found = forecast.quantile(edges).reshape(len(edges), steps, -1)[:, :, column]
    after = {f"q{edge:g}": values for edge, values in zip(edges, found, strict=True)}
    after = {"truth": truth[:, column], "median": after.pop("q0.5"), **after}
    return {
        "time": _times(forecast.timeline, len(past), count, steps),
        "series": np.repeat(forecast.timeline.names[column], count + steps),
        "past": np.concatenate([past[len(past) - count :], np.full(steps, np.nan)]),
        **{key: np.concatenate([np.full(count, np.nan), values]) for key, values in after.items()},
    }


def _draw_panel(axes: Any, table: dict[str, np.ndarray], count: int, bands: list) -> None:
    time, after = table["time"], slice(count, None)
    if count:
        axes.plot(time[:count], table["past"][:count], color="0.35", lw=1, label="past")
    for (low, high), alpha in zip(bands, np.linspace(*_ALPHAS, len(bands)), strict=True):
        label = f"{100 * (high - low):g} %"
        edges = table[f"q{low:g}"][after], table[f"q{high:g}"][after]
        axes.fill_between(time[after], *edges, color=COLOURS[0], alpha=alpha, lw=0, label=label)
    axes.plot(time[after], table["median"][after], color=COLOURS[0], lw=1.8, label="median")
    if not np.isnan(table["truth"]).all():
        axes.plot(time[after], table["truth"][after], "k--", lw=1, label="truth")


def _write_dates(axes: Any, time: np.ndarray) -> None:
    """A few dates below the axis, without what they have in common."""
    if time.dtype.kind == "M":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(maxticks=8)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def _times(timeline: Any, length: int, count: int, steps: int) -> np.ndarray:
    """The horizontal axis of past and future: times, or steps if the index holds labels rather than times."""
    index = timeline.index
    if index is None or isinstance(index[0], str):
        return np.arange(-count, steps)
    before, after = index[length - count :], timeline.after(steps)
    if hasattr(index, "to_timestamp"):  # periods
        before, after = before.to_timestamp(), after.to_timestamp()
    return np.concatenate([np.asarray(before), np.asarray(after)])
