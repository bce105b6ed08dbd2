"""q(X) as a mixture: the missing inputs are drawn several times, and every draw has a GP of its own."""

from __future__ import annotations

from dataclasses import replace

from ....core.search.report import FitReport, labelled
from ...common.component import LENGTHSCALE_SPREAD, Component, Recipe, fit_component
from ...common.table import Table
from ..missing_inputs import CorrelatedInputs
from .base import Fitted


def fit_mixture(recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> Fitted:
    """Fit a component to every draw of the missing inputs. The others start from the parameters of the first."""
    recipe = replace(recipe, linear=True, lengthscale_spread=LENGTHSCALE_SPREAD)
    components: list[Component] = []
    reports: list[FitReport] = []
    tables = inputs.drawn(table)
    for part, drawn in enumerate(tables, 1):
        before = components[0].model if components else None
        told = replace(recipe, callback=labelled(recipe.callback, part=part, parts=len(tables)))
        component, report = fit_component(told, drawn, None, before)
        components.append(component)
        reports.append(report)
        if report.status == "interrupted":
            break
    return components, reports
