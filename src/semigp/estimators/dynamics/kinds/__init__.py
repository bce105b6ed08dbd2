"""The kinds of dynamics by name. To add one is to add a file and a line here."""

from .base import Dynamics, Fit, Settings
from .markov import fit as _fit_markov
from .over_time import fit as _fit_over_time

KINDS: dict[str, Fit] = {"markov": _fit_markov, "time": _fit_over_time}

__all__ = ["KINDS", "Dynamics", "Fit", "Settings"]
