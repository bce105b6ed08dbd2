"""Forecasts of series, against those of practice: M4, classics, simulated and chaotic series. Not in the paper.

`semigp reproduce series` runs it. `python -m semigp.experiments.series` runs a part of it, such as only our way beside
the records of others that are there already.
"""

from .experiment import NAME, cells, run
from .run import run_cell

__all__ = ["NAME", "cells", "run", "run_cell"]
