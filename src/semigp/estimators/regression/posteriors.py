"""The forms that q(X) can take: a mixture over draws, a Gaussian per row, the Gaussian of the paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.search.report import FitReport, labelled
from ..common.component import LENGTHSCALE_SPREAD, Component, Recipe, fit_complete_rows, fit_component
from ..common.table import Table
from .missing_inputs import CorrelatedInputs

Fitted = tuple[list[Component], list[FitReport]]
# Error bars that explain wiggles away, and ones that are hardly believed at first: the higher bound of the two is kept.
_STARTS = ({"lengthscale_start": 1.0, "variance_start": 1.0}, {"lengthscale_start": 0.3, "variance_start": 0.1})


def fit_mixture(recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> Fitted:
    """A component for every draw of the missing inputs; what the first has found is where the others start."""
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


def fit_gaussian(recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> Fitted:
    """A Gaussian q(x) for every row with the prior N(m, Σ), started where chained GPs expect it.

    Without missing entries the prior is N(x, X_std²), and there are two places to start from.
    """
    recipe = replace(recipe, linear=bool(table.shared.is_certain.all()), lengthscale_spread=LENGTHSCALE_SPREAD)
    if inputs.is_any_drawn:
        component, report = fit_component(recipe, inputs.expected(table), inputs.gaussian_prior)
    else:
        starts = _STARTS if table.shared.is_uncertain.any() else _STARTS[:1]
        fits = [fit_component(replace(recipe, **start), table) for start in starts]
        component, report = max(fits, key=lambda fitted: fitted[1].bound)
    return [component], [report]


def fit_published(recipe: Recipe, table: Table) -> Fitted:
    """Algorithm 1 with the prior N(0, I): complete rows, then the missing inputs, then everything."""
    complete = fit_complete_rows(recipe, table)
    component, report = fit_component(recipe, table, None, complete and complete[0])
    if complete is not None:
        first = complete[1]
        stages = (("complete rows", first.status, len(first.trace)), *report.stages)
        trace = np.concatenate([first.trace, report.trace])
        evaluations, seconds = first.evaluations + report.evaluations, first.seconds + report.seconds
        report = replace(report, stages=stages, trace=trace, evaluations=evaluations, seconds=seconds)
    return [component], [report]
