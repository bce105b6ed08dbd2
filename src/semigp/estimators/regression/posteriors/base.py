"""What every form of q(X) does: it fits one component, or several components whose predictions are pooled."""

from __future__ import annotations

from typing import Protocol

from ....core.search.report import FitReport
from ...common.component import Component, Recipe
from ...common.table import Table
from ..missing_inputs import CorrelatedInputs

Fitted = tuple[list[Component], list[FitReport]]


class PosteriorForm(Protocol):
    """A way to fit rows with missing inputs. `inputs` holds the beliefs about these inputs."""

    def __call__(self, recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> Fitted:
        """The fitted components, and a report for each of them."""
