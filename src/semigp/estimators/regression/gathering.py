"""What a fit must know about all its rows, and the plain case, in which this process has all of them.

The other case, rows in several processes, is in `across_processes`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from ..common.component import NO_NOTES, Notes, Optimise, fit_here
from ..common.order import Arrangement, column_order
from ..common.table import Table
from ..common.units import Units
from .missing_inputs import OwnRows


class Gathering(Protocol):
    """The rows of a fit. This process has some or all of them."""

    @property
    def optimise(self) -> Optimise:
        """The function that fits a model to the rows."""

    @property
    def notes(self) -> Notes:
        """Results that a resumed fit does not compute again."""

    def watching(self) -> contextlib.AbstractContextManager:
        """A context in which the loss of another process raises an error that says what to do."""

    def check_alike(self, X: np.ndarray, y: np.ndarray) -> None:
        """Raise ValueError if the rows of another process have another number of columns."""

    def count_known(self, values: np.ndarray) -> np.ndarray:
        """The number of values in each column that are not NaN, over all rows."""

    def is_any(self, facts: np.ndarray) -> np.ndarray:
        """For each fact, whether it holds in any process."""

    def arrange(self, X: np.ndarray, y: np.ndarray, error: np.ndarray) -> Arrangement:
        """An order of rows and columns that depends on their values only."""

    def begin(self, estimator: Any, *arrays: np.ndarray) -> int:
        """Prepare a fit of an estimator to these arrays, and return the seed of all its random numbers."""

    def units(self, values: np.ndarray) -> Units:
        """Mean and standard deviation of the columns, over all rows."""

    def with_sample(self, table: Table, seed: int) -> tuple[Table, OwnRows | None]:
        """The table with a sample of all rows, and its own rows with their places in the sample.

        If this process has all rows, there is no sample, and the second value is None.
        """

    def agree(self, choice: Any, choices: Sequence[Any]) -> Any:
        """The one choice that all processes make."""

    def finish(self) -> None:
        """Remove what was kept for a resumed fit, because the fit has ended."""


class AllRowsHere:
    """The plain case: every row is in this process."""

    optimise: Optimise = staticmethod(fit_here)
    notes: Notes = NO_NOTES

    def watching(self) -> contextlib.AbstractContextManager:
        """A context that does nothing, because there is no other process."""
        return contextlib.nullcontext()

    def check_alike(self, X: np.ndarray, y: np.ndarray) -> None:
        """Accept any rows, because no other process has some."""

    def count_known(self, values: np.ndarray) -> np.ndarray:
        """The number of values in each column that are not NaN."""
        return np.sum(~np.isnan(values), axis=0)

    def is_any(self, facts: np.ndarray) -> np.ndarray:
        """The facts themselves."""
        return facts

    def arrange(self, X: np.ndarray, y: np.ndarray, error: np.ndarray) -> Arrangement:
        """An order of rows and columns that depends on their values only."""
        columns = column_order(X, y)
        return Arrangement.of(X, y, error[:, columns], columns=columns)

    def begin(self, estimator: Any, *arrays: np.ndarray) -> int:
        """A seed from the estimator's random state."""
        return int(check_random_state(estimator.random_state).randint(2**31 - 1))

    def units(self, values: np.ndarray) -> Units:
        """Mean and standard deviation of the columns."""
        return Units.of(values)

    def with_sample(self, table: Table, seed: int) -> tuple[Table, OwnRows | None]:
        """The table itself, without a sample."""
        return table, None

    def agree(self, choice: Any, choices: Sequence[Any]) -> Any:
        """The choice itself."""
        return choice

    def finish(self) -> None:
        """Do nothing, because nothing was kept."""
