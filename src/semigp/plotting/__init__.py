"""Figures of fitted models and results, in one style. Needs matplotlib: pip install "semigp[plot]".

Each function draws into `ax`, or into new axes if none are given, and returns the axes. With ``return_data=True`` it
returns the axes and the numbers that it drew, as columns of equal length: a table for `pandas.DataFrame`.
"""

from .associations import draw_associations
from .bound import draw_bound
from .calibration import draw_calibration, draw_reliability
from .curves import draw_curves
from .fan import draw_fan
from .inputs import draw_imputed, draw_missingness, draw_relevance
from .latent import draw_latent, draw_views
from .prediction import draw_prediction
from .residuals import draw_residuals
from .style import COLOURS, STYLE

__all__ = [
    "COLOURS",
    "STYLE",
    "draw_associations",
    "draw_bound",
    "draw_calibration",
    "draw_curves",
    "draw_fan",
    "draw_imputed",
    "draw_latent",
    "draw_missingness",
    "draw_prediction",
    "draw_relevance",
    "draw_reliability",
    "draw_residuals",
    "draw_views",
]
