"""Figures, each drawn into an Axes that is given. Needs matplotlib: pip install "semigp[plot]"."""

from .curves import STYLE, draw_curves
from .latent import draw_latent

__all__ = ["STYLE", "draw_curves", "draw_latent"]
