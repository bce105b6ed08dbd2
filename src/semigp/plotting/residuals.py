"""How far predictions were from the truth, in units of what they promised."""

from __future__ import annotations

from typing import Any

import numpy as np

from .style import ABOVE, COLOURS, Drawn, canvas, drawn

_Z95 = 1.959963984540054


@drawn
def draw_residuals(truth: Any, mean: Any, std: Any, ax: Any = None) -> Drawn:
    """Standardised residuals (truth - mean)/std of rows that a model has not seen, against the prediction.

    If the model is right, 95 % of the dots lie between the dashed lines, everywhere. NaN in the truth is left out.
    Data: "row", "mean" and "residual".
    """
    truth, mean, std = (np.asarray(part, float).ravel() for part in (truth, mean, std))
    rows = np.flatnonzero(~np.isnan(truth))
    if not len(rows):
        raise ValueError("truth has no value: there is nothing to compare with. Give the true values.")
    residual = (truth[rows] - mean[rows]) / std[rows]
    with canvas(ax, (5.4, 3.4)) as axes:
        axes.plot(mean[rows], residual, "o", color=COLOURS[0], ms=3, alpha=0.6, mew=0, label="held-back rows")
        axes.axhline(0.0, color="black", lw=1)
        for edge in (-_Z95, _Z95):
            axes.axhline(edge, color="black", lw=1, ls="--", label="95 % between these" if edge > 0 else None)
        axes.set(xlabel="predicted", ylabel="(truth - predicted) / std")
        axes.legend(ncols=2, **ABOVE)
    return axes, {"row": rows, "mean": mean[rows], "residual": residual}
