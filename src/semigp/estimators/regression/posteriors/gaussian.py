"""q(X) as a Gaussian for every row, optimised together with the model."""

from __future__ import annotations

from dataclasses import replace

from ...common.component import LENGTHSCALE_SPREAD, Recipe, fit_component
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
        recipes = [replace(recipe, lengthscale_start=a, variance_start=b) for a, b in starts]
        fits = [fit_component(each, table) for each in recipes]
        component, report = max(fits, key=lambda fitted: fitted[1].bound)
    return [component], [report]
