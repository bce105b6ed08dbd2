"""How many chains there are, how long they are, and which of their tables are kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Chains of sweeps over a table. The last `n_kept` tables of each are kept, `n_between` sweeps apart."""

    n_chains: int
    n_sweeps: int
    n_kept: int
    n_between: int = 1

    def is_kept(self, sweep: int) -> bool:
        """Whether the table after this sweep is kept."""
        left = self.n_sweeps - 1 - sweep
        return left % self.n_between == 0 and left // self.n_between < self.n_kept
