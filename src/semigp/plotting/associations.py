"""Which columns of a table know each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .style import Drawn, canvas, drawn, name_columns, plain, shortened


@drawn
def draw_associations(strength: Any, names: Sequence[Any], ax: Any = None) -> Drawn:
    """A map of the strength (q, q) of the relations between columns, from 0 to 1. NaN marks pairs without a strength.

    Data: "column", "other" and "strength" of every pair.
    """
    strength = np.asarray(strength, float)
    q = len(names)
    if strength.shape != (q, q):
        raise ValueError(f"strength has shape {strength.shape}; give one row and column for each of {q} names.")
    shown = np.where(np.eye(q, dtype=bool), np.nan, strength)
    with canvas(ax, (min(8.0, 2.4 + 0.36 * q), min(7.0, 1.8 + 0.32 * q))) as axes:
        image = axes.imshow(shown, vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto")
        axes.grid(visible=False)
        name_columns(axes, names)
        axes.set_yticks(range(q), [plain(shortened(name)) for name in names])
        axes.figure.colorbar(image, ax=axes, label="strength", shrink=0.8)
    first, second = np.triu_indices(q, 1)
    labels = np.array([str(name) for name in names])
    return axes, {"column": labels[first], "other": labels[second], "strength": strength[first, second]}
