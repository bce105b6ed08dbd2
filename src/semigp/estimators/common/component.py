"""One semi-described GP: how it starts, how it is fitted, and what it predicts.

A fitted estimator has one such component, or one for every draw of the missing inputs. All arrays here are in standard
units. Entries that are NaN in a component's inputs have a Gaussian q(x).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import jax
import numpy as np

from ...core import InputBelief, Posterior
from ...core.inputs.priors import InputPrior
from ...core.kernels import Kernel
from ...core.rows.converged import infer_rows
from ...core.search.report import Callback, FitReport
from ...core.search.stages import Stage
from ...core.sparse.defaults import NOISE_VARIANCE, default_hyperpriors, default_kernel, idle_parameters
from ...core.sparse.fit import SIGNAL_AND_NOISE, fit
from ...core.sparse.function_draws import FunctionDraws
from ...core.sparse.model import Data, Model, make_data, posterior, start
from .starts import START_VARIANCE, centres, starting_inputs
from .table import Table

_MODEL = ("kernel*", "noise_variance", "output_scale", "inducing_inputs")
# Standard deviation of the hyperprior on log lengthscales, for regressions.
LENGTHSCALE_SPREAD = 0.5
# A fit has converged when an iteration gains less than this share of the bound.
TOLERANCE = 1e-7
# If all inputs are certain, up to this many rows per inducing point are fitted by an exact GP.
EXACT_ROWS_PER_INDUCING = 2
# (model, data, stages, tolerance, callback) → the fitted model with q(x) of its rows, q(U), and a report.
Optimise = Callable[[Model, Data, Sequence[Stage], float, Callback | None], tuple[Model, Posterior, FitReport]]


def fit_here(
    model: Model, data: Data, stages: Sequence[Stage], tolerance: float, callback: Callback | None
) -> tuple[Model, Posterior, FitReport]:
    """Fit a model whose rows are all in this process."""
    model, report = fit(model, data, stages, tolerance, callback)
    return model, posterior(model, data), report


class Notes(Protocol):
    """Results that are kept by name, so that a resumed fit does not compute them again."""

    def get(self, name: str) -> Any:
        """The value kept under this name, or None."""

    def put(self, name: str, value: Any) -> None:
        """Keep a value, which is made of arrays and plain numbers, under this name."""


class NoNotes:
    """Notes of a fit that cannot be resumed. They keep nothing."""

    def get(self, name: str) -> Any:
        """None, because nothing was kept."""

    def put(self, name: str, value: Any) -> None:
        """Keep nothing."""


NO_NOTES = NoNotes()


@dataclass(frozen=True)
class Recipe:
    """The settings that all components of an estimator share."""

    n_inducing: int
    per_output: bool  # every output has its own noise and signal variance
    constrain_means: bool  # where there is an error bar, the mean of q(x) stays at the observation
    max_iter: int
    random_state: int
    callback: Callback | None = None
    linear: bool = False  # add a linear kernel to the RBF
    lengthscale_spread: float | None = None  # std of the hyperprior on log lengthscales; None means no hyperprior
    lengthscale_start: float = 1.0  # factor on the lengthscales at the start
    variance_start: float = 1.0  # factor on the variance of q(x) at the start
    optimise: Optimise = fit_here
    notes: Notes = NO_NOTES


@dataclass(frozen=True)
class Component:
    """A fitted semi-described GP."""

    model: Model
    data: Data
    posterior: Posterior

    @property
    def kernel(self) -> Kernel:
        """The kernel of outputs of scale 1."""
        return self.model.kernel

    @property
    def noise_variance(self) -> np.ndarray:
        """The noise variance of every output."""
        return np.asarray(self.posterior.likelihood.noise_variance)

    def predict(self, belief: InputBelief) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of new outputs, noise included."""
        mean, variance = self.posterior.predict(belief)
        return np.asarray(mean), np.asarray(variance) + self.noise_variance

    def sample_functions(self, seed: int, n_samples: int) -> FunctionDraws:
        """Draw whole functions from the posterior, without noise."""
        return self.posterior.sample_functions(jax.random.key(seed), n_samples)


def fit_component(
    recipe: Recipe, table: Table, prior: InputPrior | None = None, before: Model | None = None
) -> tuple[Component, FitReport]:
    """Fit a semi-described GP, from scratch or from a model `before` of other rows (Algorithm 1, last step)."""
    model, data, stages = start_component(recipe, table, prior, before)
    model, q_u, report = recipe.optimise(model, data, stages, TOLERANCE, recipe.callback)
    return Component(model, data, q_u), report


def start_component(
    recipe: Recipe, table: Table, prior: InputPrior | None = None, before: Model | None = None
) -> tuple[Model, Data, list[Stage]]:
    """The model that `fit_component` starts from, its data, and the stages of its search."""
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
    """The stages of a search. The last one moves all parameters but those that are always held.

    If there is a q(x) to find, another stage comes first. It holds the whole model if that comes from a fit to other
    rows, otherwise only signal and noise.
    """
    idle = idle_parameters(recipe.linear)
    hold = idle + (("inducing_inputs",) if is_exact else ())
    stages = [Stage("all rows", recipe.max_iter, hold)]
    if is_certain:
        return stages
    if is_warm:
        return [Stage("missing inputs", recipe.max_iter, _MODEL), *stages]
    return [Stage("held signal-to-noise", min(50, recipe.max_iter), (*SIGNAL_AND_NOISE, *idle)), *stages]


def infer_inputs(
    component: Component, inputs: np.ndarray, targets: np.ndarray, prior: InputPrior | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of q(x) of new rows, each row on its own. Known inputs keep their values, with variance 0."""
    free = np.isnan(inputs)
    start = np.where(free, 0.0, inputs), np.full(inputs.shape, START_VARIANCE)
    if not free.any():
        return inputs, np.zeros(inputs.shape)
    return infer_rows(component.posterior, targets, *start, inputs, prior)[:2]
