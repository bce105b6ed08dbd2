"""Tables with holes, against the ways of practice: regression, and filling. Not in the paper.

`semigp reproduce tables` runs it. `python -m semigp.experiments.tables` runs it as well, or a part of it, and needs
neither polars nor pooch when `SEMIGP_DATA` names a folder.
"""

from .experiment import NAME, cells, run
from .run import run_cell

__all__ = ["NAME", "cells", "run", "run_cell"]
