"""Several views of the same rows: one view predicted from another, and what is shared. Not in the paper.

`semigp reproduce views` runs it. `python -m semigp.experiments.views` runs some seeds of it, and needs neither pandas
nor Matplotlib.
"""

from .experiment import NAME, cells, run, run_cell

__all__ = ["NAME", "cells", "run", "run_cell"]
