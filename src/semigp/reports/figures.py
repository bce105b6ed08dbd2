"""Matplotlib figures as SVG inside a page, in the page's colours (light or dark), with values shown on hovering."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..plotting.style import COLOURS, STYLE

_POINTS_PER_INCH = 72.0
_PIXELS_PER_INCH = 115.0  # on the page
_MOST_SPOTS = 400
_MOST_PLACES = 3000  # dots of a line, or lines of a collection: more are drawn as a picture
_MOST_LISTED = 20_000  # rows of the drawn data: more cannot be downloaded
# Black, grey and white are replaced by the page's own colours; the other colours are lighter on a dark page.
_THEMED = {
    "#000000": "--ink", "#262626": "--ink", "#404040": "--ink", "#595959": "--soft", "#808080": "--soft",
    "#b3b3b3": "--faint", "#b0b0b0": "--faint", "#cccccc": "--faint", "#ffffff": "--paper",
    **{colour.lower(): f"--c{i}" for i, colour in enumerate(COLOURS)},
}  # fmt: skip


class Drawing:
    """A figure in the making: axes to draw into, the drawn data, and spots that show values on hovering."""

    def __init__(self, size: tuple[float, float] = (6.4, 3.9), n_panels: int = 1) -> None:
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        with rc_context(STYLE):
            self._figure = Figure(figsize=size, layout="constrained")
            self.axes = self._figure.subplots(n_panels, sharex=True)
        self.table: dict[str, np.ndarray] = {}
        self._spots: list[tuple[Any, Any, str]] = []

    def draw(self, function: Callable[..., Any], *args: Any, **options: Any) -> dict[str, np.ndarray]:
        """Draw with a function of `semigp.plotting`, and keep the numbers that it drew."""
        _, self.table = function(*args, ax=self.axes, return_data=True, **options)
        self._lighten()
        return self.table

    def _lighten(self) -> None:
        """Draw very many dots and lines as a picture, so that the page stays small."""
        for axes in np.ravel(self.axes):
            for artist in (*axes.lines, *axes.collections):
                artist.set_rasterized(_n_places(artist) > _MOST_PLACES)

    def spots(self, x: Sequence[Any], y: Sequence[Any], texts: Sequence[str]) -> None:
        """Add places that show a text on hovering. If there are very many, only some are kept."""
        every = -(-len(texts) // _MOST_SPOTS)
        self._spots += list(zip(x, y, texts, strict=True))[::every]

    def svg(self, prefix: str, label: str) -> str:
        """The figure as SVG. `prefix` makes its element names different from those of other figures on the page."""
        from matplotlib import rc_context

        file = io.StringIO()
        with rc_context({**STYLE, "svg.fonttype": "none"}):
            self._figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        text = file.getvalue()
        text = text[text.index("<svg") :].strip()
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
        text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", text)
        text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
        text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
        text = re.sub(r"#[0-9a-f]{6}\b", lambda found: _themed(found.group()), text)
        width = self._figure.get_figwidth() * _PIXELS_PER_INCH
        told = f'role="img" aria-label="{escape(label, quote=True)}" style="max-width: {width:.0f}px"'
        text = text.replace("<svg", f"<svg {told}", 1)
        return text.removesuffix("</svg>") + self._hot() + "</svg>"

    def _hot(self) -> str:
        """Invisible circles that show their texts on hovering."""
        if not self._spots:
            return ""
        height = self._figure.get_figheight() * _POINTS_PER_INCH
        scale = _POINTS_PER_INCH / self._figure.dpi
        xs = np.asarray(self.axes.convert_xunits([x for x, _, _ in self._spots]), float)
        ys = np.asarray(self.axes.convert_yunits([y for _, y, _ in self._spots]), float)
        places = self.axes.transData.transform(np.column_stack([xs, ys])) * scale
        low, high = self.axes.bbox.min * scale - 2, self.axes.bbox.max * scale + 2
        circles = [
            f'<circle cx="{x:.1f}" cy="{height - y:.1f}" r="6" data-tip="{escape(text, quote=True)}"/>'
            for (x, y), (_, _, text) in zip(places, self._spots, strict=True)
            if np.all([x, y] >= low) and np.all([x, y] <= high)
        ]
        return '<g class="hot">' + "".join(circles) + "</g>"

    def csv_link(self, name: str) -> str:
        """A link to download the drawn data as CSV; nothing if there are none, or too many for a page."""
        if not self.table or len(next(iter(self.table.values()))) > _MOST_LISTED:
            return ""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(self.table)
        writer.writerows(zip(*(_plain(column) for column in self.table.values()), strict=True))
        data = base64.b64encode(file.getvalue().encode()).decode()
        return f'<a download="{name}.csv" href="data:text/csv;base64,{data}">the drawn data</a>'


def _n_places(artist: Any) -> int:
    """The number of dots or lines of an artist of Matplotlib."""
    if hasattr(artist, "get_xdata"):
        return len(artist.get_xdata())
    return max(len(artist.get_paths()), len(artist.get_offsets()))


def _themed(colour: str) -> str:
    return f"var({_THEMED[colour]})" if colour in _THEMED else colour


def _plain(column: np.ndarray) -> list[Any]:
    column = np.asarray(column)
    return [f"{value:.6g}" for value in column] if column.dtype.kind == "f" else [str(value) for value in column]
