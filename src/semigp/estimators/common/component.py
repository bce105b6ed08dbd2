"""q(X) as a mixture: a semi-described GP for every draw of the missing inputs, and their predictions pooled.

All arrays here are in standard units. Entries that are NaN in a component's inputs have a Gaussian q(x) of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ...core import InputBelief, Posterior
from ...core.inputs.priors import InputPrior
from ...core.rows.converged import infer_rows
from ...core.search.report import Callback, FitReport
from ...core.search.stages import Stage
from ...core.sparse.defaults import NOISE_VARIANCE, default_hyperpriors, default_kernel, idle_parameters
from ...core.sparse.fit import SIGNAL_AND_NOISE, fit
from ...core.sparse.model import Data, Model, make_data, posterior, start
from .starts import START_VARIANCE, centres, starting_inputs
from .table import Table

_MODEL = ("kernel*", "noise_variance", "output_scale", "inducing_inputs")
# Of the hyperprior on log lengthscales, for regressions.
LENGTHSCALE_SPREAD = 0.5
# Relative gain at which a fit has converged.
TOLERANCE = 1e-7
# Up to so many times the number of inducing points, rows whose inputs are all certain get an exact GP.
EXACT_ROWS_PER_INDUCING = 2
# Model, data, stages, tolerance and callback to the fitted model with its rows, q(U), and how it went.
Optimise = Callable[[Model, Data, Sequence[Stage], float, Callback | None], tuple[Model, Posterior, FitReport]]


def fit_here(
    model: Model, data: Data, stages: Sequence[Stage], tolerance: float, callback: Callback | None
) -> tuple[Model, Posterior, FitReport]:
    """All rows in one place."""
    model, report = fit(model, data, stages, tolerance, callback)
    return model, posterior(model, data), report


class Notes(Protocol):
    """Results by name, that need not be found again where a fit is taken up."""

    def get(self, name: str) -> Any:
        """What is known by that name, or None."""

    def put(self, name: str, value: Any) -> None:
        """Keep arrays and plain values."""


class NoNotes:
    """Nothing is kept."""

    def get(self, name: str) -> Any:
        """Never anything."""

    def put(self, name: str, value: Any) -> None:
        """Forgotten at once."""


NO_NOTES = NoNotes()


@dataclass(frozen=True)
class Recipe:
    """What is the same for every component."""

    n_inducing: int
    per_output: bool  # noise and signal variance of every output its own
    constrain_means: bool  # q's mean at the observation where there is an error bar
    max_iter: int
    random_state: int
    callback: Callback | None = None
    linear: bool = False  # a linear kernel beside the RBF
    lengthscale_spread: float | None = None  # of the hyperprior on log lengthscales
    lengthscale_start: float = 1.0  # factor on the lengthscales to start from
    variance_start: float = 1.0  # factor on the variance of q(x) to start from
    optimise: Optimise = fit_here
    notes: Notes = NO_NOTES


@dataclass(frozen=True)
class Component:
    """One semi-described GP, fitted."""

    model: Model
    data: Data
    posterior: Posterior

    @property
    def noise_variance(self) -> np.ndarray:
        """Per output."""
        return np.asarray(self.posterior.likelihood.noise_variance)


def fit_component(
    recipe: Recipe, table: Table, prior: InputPrior | None = None, before: Model | None = None
) -> tuple[Component, FitReport]:
    """A semi-described GP, from scratch or from a model of other rows (Algorithm 1, last step)."""
    model, data, stages = start_component(recipe, table, prior, before)
    model, q_u, report = recipe.optimise(model, data, stages, TOLERANCE, recipe.callback)
    return Component(model, data, q_u), report


def start_component(
    recipe: Recipe, table: Table, prior: InputPrior | None = None, before: Model | None = None
) -> tuple[Model, Data, list[Stage]]:
    """Where `fit_component` begins, what is known, and what it does."""
    q = table.inputs.shape[1]
    hyperpriors = default_hyperpriors(q, recipe.linear, recipe.lengthscale_spread)
    data = make_data(table.inputs, table.targets, table.error, prior, recipe.constrain_means, hyperpriors)
    filled, variance = starting_inputs(table)
    landmarks = filled if table.sample is None else starting_inputs(table.sample)[0]
    n, is_certain = len(landmarks), bool(table.shared.is_certain.all())
    is_exact = is_certain and table.sample is None and n <= EXACT_ROWS_PER_INDUCING * recipe.n_inducing
    is_small = is_exact or n <= recipe.n_inducing
    inducing = landmarks if is_small else centres(landmarks, recipe.n_inducing, recipe.random_state)
    if before is not None and before.inducing_inputs.shape == inducing.shape and not is_exact:
        inducing = np.asarray(before.inducing_inputs)
    per_output: np.ndarray = np.ones(table.targets.shape[1] if recipe.per_output else ())
    kernel = default_kernel(q, recipe.linear, recipe.lengthscale_start)
    noise, scale = np.asarray(NOISE_VARIANCE * per_output), per_output
    if before is not None:
        kernel = before.kernel
        noise, scale = np.asarray(before.noise_variance), np.asarray(before.output_scale)
    model = start(data, kernel, inducing, noise, scale)
    is_real = data.rows >= 0
    rows = data.rows[is_real]
    means, variances = model.mean.copy(), model.variance.copy()
    means[is_real], variances[is_real] = filled[rows], recipe.variance_start * variance[rows]
    model = replace(model, mean=np.where(data.mean_is_free, means, data.values), variance=variances)
    return model, data, _stages(recipe, is_certain, before is not None, is_exact)


def _stages(recipe: Recipe, is_certain: bool, is_warm: bool, is_exact: bool) -> list[Stage]:
    """With q(x) to find: that first, in a model that is given, or with signal and noise held. Then everything."""
    idle = idle_parameters(recipe.linear)
    hold = idle + (("inducing_inputs",) if is_exact else ())
    stages = [Stage("all rows", recipe.max_iter, hold)]
    if is_certain:
        return stages
    if is_warm:
        return [Stage("missing inputs", recipe.max_iter, _MODEL), *stages]
    return [Stage("held signal-to-noise", min(50, recipe.max_iter), (*SIGNAL_AND_NOISE, *idle)), *stages]


def predict(component: Component, belief: InputBelief) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of new outputs, noise included."""
    mean, variance = component.posterior.predict(belief)
    return np.asarray(mean), np.asarray(variance) + component.noise_variance


def infer_inputs(
    component: Component, inputs: np.ndarray, targets: np.ndarray, prior: InputPrior | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of q(x) for the NaN of new rows, each row on its own; known inputs are as they are."""
    free = np.isnan(inputs)
    start = np.where(free, 0.0, inputs), np.full(inputs.shape, START_VARIANCE)
    if not free.any():
        return inputs, np.zeros(inputs.shape)
    return infer_rows(component.posterior, targets, *start, inputs, prior)[:2]
