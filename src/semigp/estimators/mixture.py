"""q(X) as a mixture: a semi-described GP for every draw of the missing inputs, and their predictions pooled.

All arrays here are in standard units. Entries that are NaN in a component's inputs have a Gaussian q(x) of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.impute import KNNImputer

from ..core import InputBelief, Posterior
from ..core.defaults import NOISE_VARIANCE, default_hyperpriors, default_kernel, idle_parameters
from ..core.model import Data, Model, describe, posterior, start
from ..core.optimise import SIGNAL_AND_NOISE, Callback, FitReport, Stage, fit
from ..core.priors import InputPrior

_MODEL = ("kernel*", "noise_variance", "output_scale", "inducing_inputs")
# Fewer complete rows than this tell too little to begin with.
_MIN_COMPLETE = 10
# Variance of q(x) at the start, where nothing is known of it, and at least.
_START_VARIANCE, _MIN_VARIANCE = 0.5, 0.01
# Relative gain at which a fit has converged.
TOLERANCE = 1e-7
# Up to so many times the number of inducing points, rows whose inputs are all certain get an exact GP.
EXACT_ROWS_PER_INDUCING = 2


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


@dataclass(frozen=True)
class Table:
    """Training rows in standard units."""

    inputs: np.ndarray  # (n, q), NaN where q(x) is free
    targets: np.ndarray  # (n, p), NaN where missing
    error: np.ndarray  # (n, q) error bars

    @property
    def is_uncertain(self) -> np.ndarray:
        """Entries that are missing or have an error bar."""
        return np.isnan(self.inputs) | (self.error > 0)

    @property
    def is_complete(self) -> np.ndarray:
        """Rows whose inputs are all known exactly."""
        return ~self.is_uncertain.any(axis=1)

    def take(self, rows: np.ndarray) -> Table:
        """Some of the rows."""
        return Table(self.inputs[rows], self.targets[rows], self.error[rows])


def fit_complete_rows(recipe: Recipe, table: Table) -> tuple[Model, FitReport] | None:
    """Algorithm 1, first step: a model of the complete rows alone; None if all are, or too few."""
    rows = table.is_complete & ~np.isnan(table.targets).all(axis=1)
    if rows.all() or rows.sum() < _MIN_COMPLETE:
        return None
    component, report = fit_component(recipe, table.take(rows), None)
    return component.model, report


def fit_component(
    recipe: Recipe,
    table: Table,
    prior: InputPrior | None = None,
    before: Model | None = None,
    moments: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[Component, FitReport]:
    """A semi-described GP, from scratch or from a model of other rows (Algorithm 1, last step).

    `moments` are mean and variance that q(x) starts from, by default those of the nearest row and 0.5.
    """
    model, data, stages = start_component(recipe, table, prior, before, moments)
    model, report = fit(model, data, stages, TOLERANCE, recipe.callback)
    return Component(model, data, posterior(model, data)), report


def start_component(
    recipe: Recipe,
    table: Table,
    prior: InputPrior | None = None,
    before: Model | None = None,
    moments: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[Model, Data, list[Stage]]:
    """Where `fit_component` begins, what is known, and what it does."""
    n, q = table.inputs.shape
    hyperpriors = default_hyperpriors(q, recipe.linear, recipe.lengthscale_spread)
    data = describe(table.inputs, table.targets, table.error, prior, recipe.constrain_means, hyperpriors)
    filled, variance = _starting_inputs(table, moments)
    is_exact = bool(table.is_complete.all()) and n <= EXACT_ROWS_PER_INDUCING * recipe.n_inducing
    inducing = filled if is_exact or n <= recipe.n_inducing else centres(filled, recipe.n_inducing, recipe.random_state)
    if before is not None and before.inducing_inputs.shape == inducing.shape and not is_exact:
        inducing = before.inducing_inputs
    per_output = np.ones(table.targets.shape[1] if recipe.per_output else ())
    kernel = default_kernel(q, recipe.linear, recipe.lengthscale_start)
    noise, scale = NOISE_VARIANCE * per_output, per_output
    if before is not None:
        kernel, noise, scale = before.kernel, before.noise_variance, before.output_scale
    model = start(data, kernel, inducing, noise, scale)
    is_real = data.rows >= 0
    rows = data.rows[is_real]
    means, variances = model.mean.copy(), model.variance.copy()
    means[is_real], variances[is_real] = filled[rows], recipe.variance_start * variance[rows]
    model = replace(model, mean=np.where(data.mean_is_free, means, data.values), variance=variances)
    return model, data, _stages(recipe, data, before is not None, is_exact)


def _stages(recipe: Recipe, data: Data, is_warm: bool, is_exact: bool) -> list[Stage]:
    """With q(x) to find: that first, in a model that is given, or with signal and noise held. Then everything."""
    idle = idle_parameters(recipe.linear)
    hold = idle + (("inducing_inputs",) if is_exact else ())
    stages = [Stage("all rows", recipe.max_iter, hold)]
    if not data.values.shape[0]:
        return stages
    if is_warm:
        return [Stage("missing inputs", recipe.max_iter, _MODEL), *stages]
    return [Stage("held signal-to-noise", min(50, recipe.max_iter), (*SIGNAL_AND_NOISE, *idle)), *stages]


def _starting_inputs(table: Table, moments: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray]:
    """Where q(x) starts: at the moments given, else at the nearest row on [X, Y]; latent inputs at Y's components."""
    has_bar = table.error > 0
    mean, variance = table.inputs.copy(), np.where(has_bar, np.maximum(table.error**2, 1e-8), _START_VARIANCE)
    is_latent = np.isnan(mean).all(axis=0)
    if is_latent.any():
        mean[:, is_latent] = principal_components(table.targets, int(is_latent.sum()))
    holes = np.isnan(mean)
    if holes.any() and moments is not None:
        mean[holes], variance[holes] = moments[0][holes], np.maximum(moments[1][holes], _MIN_VARIANCE)
    elif holes.any():
        both = np.column_stack([mean, table.targets])
        mean = KNNImputer(n_neighbors=1).fit_transform(both)[:, : mean.shape[1]]
    return mean, variance


def principal_components(targets: np.ndarray, count: int) -> np.ndarray:
    """The first components of Y (0 where missing) with unit variance; small noise for those beyond its rank."""
    left, singular, _ = np.linalg.svd(np.nan_to_num(targets), full_matrices=False)
    scores = 0.1 * np.random.default_rng(0).normal(size=(len(targets), count))
    rank = min(count, int(np.sum(singular > 1e-8 * max(singular[0], 1e-300))))
    scores[:, :rank] = left[:, :rank] * np.sqrt(len(targets))
    return scores


def centres(rows: np.ndarray, count: int, random_state: int) -> np.ndarray:
    """Of clusters of rows; fewer than asked for if fewer rows differ."""
    count = min(count, len(np.unique(rows, axis=0)))
    return KMeans(count, n_init=1, max_iter=20, random_state=random_state).fit(rows).cluster_centers_


def pooled(means: Sequence[np.ndarray], variances: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of an equal mixture."""
    return np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0)


def predict(component: Component, belief: InputBelief) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of new outputs, noise included."""
    mean, variance = component.posterior.predict(belief)
    return mean, variance + component.noise_variance


def infer_inputs(
    component: Component,
    inputs: np.ndarray,
    targets: np.ndarray,
    prior: InputPrior | None,
    max_iter: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of q(x) for the NaN of new rows, all rows at once, q(U) and all else as they are."""
    data = replace(describe(inputs, targets, None, prior), given=component.posterior)
    free = np.isnan(inputs)
    mean, variance = np.where(free, 0.0, inputs), np.zeros(inputs.shape)
    if not free.any():
        return mean, variance
    fitted = component.model
    model = start(data, fitted.kernel, fitted.inducing_inputs, fitted.noise_variance, fitted.output_scale)
    is_real = data.rows >= 0
    rows = data.rows[is_real]
    model, _ = fit(model, data, [Stage("missing inputs", max_iter, _MODEL)])
    mean[rows], variance[rows] = model.mean[is_real], model.variance[is_real]
    return np.where(free, mean, inputs), np.where(free, variance, 0.0)
