"""What a model believes of missing entries, and which inputs matter to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import plotting
from ...words import told_number
from ..figures import Drawing
from ..page import Report


def add_beliefs(page: Report, model: Any) -> None:
    """Imputed entries beside the known ones. Nothing if no number is missing."""
    drawing = Drawing((6.4, 3.4))
    try:
        table = drawing.draw(plotting.draw_imputed, model)
    except ValueError:  # nothing is missing, or only categories
        return
    page.section(
        "What is believed of the holes",
        "Missing numbers are not replaced by one value. Each has a distribution, given the other entries of its row. "
        "Columns are shown in standard units, so that they can stand side by side.",
    )
    columns = [table[key] for key in ("row", "column", "mean", "std")]
    texts = [
        f"row {i + 1}, {k}: {told_number(m, 4)} ± {told_number(1.96 * s, 2)}"
        for i, k, m, s in zip(*columns, strict=True)
    ]
    drawn = np.isfinite(table["x"])
    drawing.spots(table["x"][drawn], table["y"][drawn], [text for text, some in zip(texts, drawn, strict=True) if some])
    page.figure(
        drawing,
        "Known values in grey, and imputed values with 95 % intervals.",
        f"Columns of dots; {len(columns[0])} imputed values among them have error bars.",
    )


def add_relevance(page: Report, model: Any, title: str, text: str) -> None:
    """Bars of the relevance of inputs, or of lags."""
    values = getattr(model, "lag_relevance_", None)
    count = len(np.ravel(model.relevance_)) if values is None else len(values)
    page.section(title, text)
    drawing = Drawing((5.4, 0.9 + 0.2 * min(count, 30)))
    drawing.draw(plotting.draw_relevance, model)
    page.figure(drawing, "1 matters most.", f"Bars of the relevance of {count} inputs.")
