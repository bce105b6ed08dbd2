"""Which problems a run solves. A cell is one way on one problem."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..reporting import FIRST_SEED as FIRST_SEED
from .columns import NAMES
from .problems import AT_RANDOM, DEPENDING, IMPUTED_ROWS, OUTAGES

REGRESSION, IMPUTATION = "regression", "imputation"
COMPLETE, WITH_HOLES = "complete", "with holes"
KEYS = ("part", "table", "rows", "mechanism", "rate", "test", "seed", "way")
RATES = (0.1, 0.3, 0.5)


@dataclass(frozen=True)
class Block:
    """All combinations of some tables, rates and ways to lose entries."""

    part: str
    rates: Sequence[float] = (0.3,)
    mechanisms: Sequence[str] = (AT_RANDOM,)
    test: str = COMPLETE
    rows: int = 300
    tables: Sequence[str] = NAMES
    most_seeds: int = 1000

    def __str__(self) -> str:
        rates = ", ".join(f"{rate:.0%}" for rate in self.rates)
        holes = f"{rates} {' / '.join(self.mechanisms)}" + (", test rows too" if self.test == WITH_HOLES else "")
        return f"{self.part}, {self.rows} rows: {holes}; {', '.join(self.tables)}"

    def problems(self, tables: Sequence[str], seeds: Sequence[int]) -> list[tuple]:
        """The keys of the block's problems, without the way."""
        chosen = [name for name in self.tables if name in tables]
        # Seeds come first, so that a run that is stopped has whole comparisons.
        return [
            (self.part, table, self.rows, mechanism, rate, self.test, seed)
            for seed, mechanism, rate, table in itertools.product(
                seeds[: self.most_seeds], self.mechanisms, self.rates, chosen
            )
        ]


PROFILES: dict[str, dict[str, Any]] = {
    "quick": {
        "seeds": 1,
        "blocks": (
            Block(REGRESSION, rows=100, tables=("yacht", "tips")),
            Block(IMPUTATION, rows=100, tables=("yacht", "tips"), test=""),
        ),
    },
    "paper": {
        "seeds": 2,
        "blocks": (
            Block(REGRESSION, RATES),
            Block(REGRESSION, mechanisms=(DEPENDING, OUTAGES)),
            Block(REGRESSION, test=WITH_HOLES),
            Block(REGRESSION, (0.2,), rows=1000, tables=("kin40k",)),
            Block(REGRESSION, (0.2,), rows=3000, tables=("kin40k",), most_seeds=1),
            Block(IMPUTATION, RATES, rows=IMPUTED_ROWS, test=""),
            Block(IMPUTATION, mechanisms=(DEPENDING, OUTAGES), rows=IMPUTED_ROWS, test=""),
        ),
    },
}
