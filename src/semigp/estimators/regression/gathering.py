"""What a fit has to know of all its rows, wherever they are; and the plain case, in which all rows are here.

`across_processes` has the other case.
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
    """The rows of a fit, of which this process has some or all."""

    @property
    def optimise(self) -> Optimise:
        """How a model is fitted to them."""

    @property
    def notes(self) -> Notes:
        """What need not be found again where a fit goes on."""

    def watching(self) -> contextlib.AbstractContextManager:
        """A context that turns the loss of another process into an error that says what to do."""

    def check_alike(self, X: np.ndarray, y: np.ndarray) -> None:
        """Raise ValueError where the rows elsewhere have other numbers of columns."""

    def count_known(self, values: np.ndarray) -> np.ndarray:
        """The number of values in each column that are not NaN."""

    def is_any(self, facts: np.ndarray) -> np.ndarray:
        """For each fact, whether it holds anywhere."""

    def arrange(self, X: np.ndarray, y: np.ndarray, error: np.ndarray) -> Arrangement:
        """An order of rows and columns that depends on what they hold."""

    def begin(self, estimator: Any, *arrays: np.ndarray) -> int:
        """The seed of all random numbers, for a fit of an estimator to these arrays."""

    def units(self, values: np.ndarray) -> Units:
        """Mean and standard deviation of the columns."""

    def with_sample(self, table: Table, seed: int) -> tuple[Table, OwnRows | None]:
        """The table with a sample of all rows, where it has only some, and the place of its rows among them."""

    def agree(self, choice: Any, choices: Sequence[Any]) -> Any:
        """One choice for all."""

    def finish(self) -> None:
        """Nothing is left to be resumed."""


class AllRowsHere:
    """Every row is in this process: nobody else has to be asked."""

    optimise: Optimise = staticmethod(fit_here)
    notes: Notes = NO_NOTES

    def watching(self) -> contextlib.AbstractContextManager:
        """There is nothing to watch."""
        return contextlib.nullcontext()

    def check_alike(self, X: np.ndarray, y: np.ndarray) -> None:
        """There are no rows elsewhere."""

    def count_known(self, values: np.ndarray) -> np.ndarray:
        """The number of values in each column that are not NaN."""
        return np.sum(~np.isnan(values), axis=0)

    def is_any(self, facts: np.ndarray) -> np.ndarray:
        """The facts themselves."""
        return facts

    def arrange(self, X: np.ndarray, y: np.ndarray, error: np.ndarray) -> Arrangement:
        """An order of rows and columns that depends on what they hold."""
        columns = column_order(X, y)
        return Arrangement.of(X, y, error[:, columns], columns=columns)

    def begin(self, estimator: Any, *arrays: np.ndarray) -> int:
        """A seed from the estimator's random state."""
        return int(check_random_state(estimator.random_state).randint(2**31 - 1))

    def units(self, values: np.ndarray) -> Units:
        """Mean and standard deviation of the columns."""
        return Units.of(values)

    def with_sample(self, table: Table, seed: int) -> tuple[Table, OwnRows | None]:
        """The table as it is."""
        return table, None

    def agree(self, choice: Any, choices: Sequence[Any]) -> Any:
        """The choice itself."""
        return choice

    def finish(self) -> None:
        """Nothing was kept."""
