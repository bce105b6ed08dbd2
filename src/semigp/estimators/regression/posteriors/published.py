"""The Gaussian q(X) of the paper, with the prior N(0, I): its Algorithm 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....core.search.report import FitReport
from ....core.sparse.model import Model
from ...common.component import Recipe, fit_component
from ...common.reports import at_once
from ...common.table import Table
from .base import Fitted

# The first stage needs at least this many certain rows.
_MIN_CERTAIN = 10


def fit_published(recipe: Recipe, table: Table) -> Fitted:
    """Algorithm 1: fit a model to the certain rows, then the missing inputs given that model, then everything."""
    first = _fit_certain_rows(recipe, table)
    if first is not None and first[1].status == "interrupted":
        recipe = replace(recipe, callback=at_once)
    component, report = fit_component(recipe, table, None, first and first[0])
    return [component], [report if first is None else _joined(first[1], report)]


def _fit_certain_rows(recipe: Recipe, table: Table) -> tuple[Model, FitReport] | None:
    """A model of the rows whose inputs are certain. None if all rows are certain, or too few are."""
    rows = table.shared.is_certain_with_output
    if rows.all() or rows.sum() < _MIN_CERTAIN:
        return None
    component, report = fit_component(recipe, table.certain_with_output())
    return component.model, report


def _joined(first: FitReport, second: FitReport) -> FitReport:
    return replace(
        second,
        stages=(("complete rows", first.status, len(first.trace)), *second.stages),
        trace=np.concatenate([first.trace, second.trace]),
        evaluations=first.evaluations + second.evaluations,
    )
