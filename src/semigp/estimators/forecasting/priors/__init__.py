"""Priors of a series: what it may be a function of. A forecast mixes the paths of several."""

from .base import SeriesPrior
from .driven import Driven
from .increments import Increments
from .over_time import OverTime
from .past import Past

__all__ = ["Driven", "Increments", "OverTime", "Past", "SeriesPrior"]
