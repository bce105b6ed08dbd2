"""What every form of q(X) does: it fits one component, or several whose predictions are pooled."""

from __future__ import annotations

from typing import Protocol

from ....core.search.report import FitReport
from ...common.component import Component, Recipe
from ...common.table import Table
from ..missing_inputs import CorrelatedInputs

Fitted = tuple[list[Component], list[FitReport]]


class PosteriorForm(Protocol):
    """A way to fit rows with missing inputs, of which `inputs` knows what to believe."""

    def __call__(self, recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> Fitted:
        """The components, and how the search for each of them went."""
