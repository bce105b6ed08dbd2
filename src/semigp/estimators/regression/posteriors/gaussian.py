"""q(X) as a Gaussian for every row, optimised together with the model."""

from __future__ import annotations

from dataclasses import replace

from ...common.component import LENGTHSCALE_SPREAD, Recipe, fit_component
from ...common.table import Table
from ..missing_inputs import CorrelatedInputs
from .base import Fitted

# Two starts: one lets error bars explain wiggles away, the other hardly believes them at first. The higher bound is
# kept.
_STARTS = ((1.0, 1.0), (0.3, 0.1))  # factors on lengthscales and on variances of q(x)


def fit_gaussian(recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> Fitted:
    """A Gaussian q(x) for every row with the prior N(m, Σ), started where chained GPs expect it.

    Without missing entries the prior is N(x, X_std²), and there are two places to start from.
    """
    recipe = replace(recipe, linear=bool(table.shared.is_certain.all()), lengthscale_spread=LENGTHSCALE_SPREAD)
    if inputs.is_any_drawn:
        component, report = fit_component(recipe, inputs.expected(table), inputs.gaussian_prior)
    else:
        starts = _STARTS if table.shared.is_uncertain.any() else _STARTS[:1]
        recipes = [replace(recipe, lengthscale_start=a, variance_start=b) for a, b in starts]
        fits = [fit_component(each, table) for each in recipes]
        component, report = max(fits, key=lambda fitted: fitted[1].bound)
    return [component], [report]
