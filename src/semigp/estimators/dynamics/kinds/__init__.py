"""The kinds of dynamics by name. To add one is to add a file and a line here."""

from .base import Dynamics, Fit, Settings
from .markov import fit as _fit_markov

KINDS: dict[str, Fit] = {"markov": _fit_markov}

__all__ = ["KINDS", "Dynamics", "Fit", "Settings"]
