"""The bar in a notebook: an output of the cell that is updated. Rich itself would need ipywidgets there."""

from __future__ import annotations

import io
import time
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bars

_WIDTH, _BETWEEN = 100, 0.25  # characters, and seconds from one update to the next
_HTML = '<pre style="margin:0;white-space:pre;overflow-x:auto">{code}</pre>'


class NotebookDisplay:
    """Shows what a bar of rich looks like now. It is empty after `stop`."""

    def __init__(self, bars: Bars) -> None:
        self._bars, self._handle, self._shown = bars, None, 0.0

    def start(self) -> None:
        """Show the bar below the cell."""
        from IPython.display import display

        self._handle, self._shown = display(self._now(), raw=True, display_id=True), time.perf_counter()

    def refresh(self) -> None:
        """Show the bar as it is now, unless it was shown a moment ago."""
        if self._handle is not None and time.perf_counter() - self._shown >= _BETWEEN:
            self._handle.update(self._now(), raw=True)
            self._shown = time.perf_counter()

    def stop(self) -> None:
        """Take the bar away."""
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)

    def _now(self) -> dict[str, Any]:
        """The bar as text and as HTML."""
        paper = Console(file=io.StringIO(), width=_WIDTH, record=True, force_jupyter=False)
        paper.print(self._bars.get_renderable())
        html = paper.export_html(inline_styles=True, code_format=_HTML, clear=False)
        return {"text/plain": paper.export_text().rstrip(), "text/html": html}
