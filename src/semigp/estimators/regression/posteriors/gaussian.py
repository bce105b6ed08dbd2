"""q(X) as a Gaussian for every row, optimised together with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....core.search.report import FitReport, labelled
from ...common.component import LENGTHSCALE_SPREAD, Component, Recipe, fit_component
from ...common.table import Table
from ..missing_inputs import CorrelatedInputs
from .base import Fitted

# There are two starts, and the fit with the higher bound is kept. The first lets error bars explain the wiggles of the
# data. The second starts with small variances, as if the inputs were nearly exact.
_STARTS = ((1.0, 1.0), (0.3, 0.1))  # factors on lengthscales and on variances of q(x)


def fit_gaussian(recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> Fitted:
    """Fit a Gaussian q(x) for every row, with the prior N(m, Σ), starting at the moments from chained GPs.

    If no entry is missing, the prior is N(x, X_std²), and the search starts from two places.
    """
    recipe = replace(recipe, linear=bool(table.shared.is_certain.all()), lengthscale_spread=LENGTHSCALE_SPREAD)
    if inputs.is_any_drawn:
        component, report = fit_component(recipe, inputs.expected(table), inputs.gaussian_prior)
    else:
        starts = _STARTS if table.shared.is_uncertain.any() else _STARTS[:1]
        component, report = _fit_from(starts, recipe, table)
    return [component], [report]


def _fit_from(starts: Sequence[tuple[float, float]], recipe: Recipe, table: Table) -> tuple[Component, FitReport]:
    """The fit with the highest bound from several starts. After an interrupt, it is the best so far."""
    fits: list[tuple[Component, FitReport]] = []
    for part, (lengthscale, variance) in enumerate(starts, 1):
        told = labelled(recipe.callback, part=part, parts=len(starts))
        fits.append(
            fit_component(replace(recipe, lengthscale_start=lengthscale, variance_start=variance, callback=told), table)
        )
        if fits[-1][1].status == "interrupted":
            break
    component, report = max(fits, key=lambda fitted: fitted[1].bound)
    if fits[-1][1].status == "interrupted":
        report = replace(report, status="interrupted", message=fits[-1][1].message)
    return component, report
