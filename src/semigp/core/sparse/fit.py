"""The fit of a model to its data: L-BFGS raises the bound over unconstrained parameters."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..numerics.checks import check_count
from ..numerics.compiler import WIDE_VECTORS
from ..numerics.paths import is_held, matches, parameter_paths
from ..numerics.precision import in_float64
from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport, with_signal_to_noise
from ..search.stages import Stage
from .model import Data, Model, objective
from .threads import ParallelLoss, is_worthwhile

# Paths of the parameters that set the signal-to-noise ratio.
SIGNAL_AND_NOISE = ("noise_variance", "output_scale", "kernel*.variance", "kernel*.variances")
# In the first stage, noise and signal variance are held while q(X) and the lengthscales move. Without it, the first
# steps often explain everything as noise.
DEFAULT_STAGES = (Stage("held signal-to-noise", 50, SIGNAL_AND_NOISE), Stage("all", 2000))


def unconstrain(model: Model) -> Model:
    """The model with the logarithms of its positive parameters."""
    return _map_positive(jnp.log, model)


def constrain(model: Model) -> Model:
    """The model with its positive parameters in natural units, from their logarithms."""
    return _map_positive(jnp.exp, model)


def _map_positive(function, model: Model) -> Model:
    names = ("kernel", "noise_variance", "output_scale", "variance")
    return replace(model, **{name: jax.tree.map(function, getattr(model, name)) for name in names})


@functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
def _loss_and_gradient(free: Model, data: Data):
    return jax.value_and_grad(lambda f: -objective(constrain(f), data))(free)


def fit(
    model: Model,
    data: Data,
    stages: Sequence[Stage] = DEFAULT_STAGES,
    tolerance: float = 1e-8,
    callback: Callback | None = None,
) -> tuple[Model, FitReport]:
    """Raise the bound by L-BFGS, stage by stage. `tolerance` is the relative gain at which a stage has converged.

    `callback` is called after every iteration. If it returns True, or on an interrupt from the keyboard, the fit ends
    with the best parameters so far.
    """
    check_stages(model, stages)
    with jax.enable_x64(True):
        free, known = jax.tree.map(jnp.asarray, (unconstrain(model), data))
        with _loss_of(free, known) as loss_and_gradient:
            best, report = maximise(loss_and_gradient, free, stages, tolerance, callback)
        fitted = in_float64(constrain)(best)
    return fitted, with_signal_to_noise(report, signal_to_noise(fitted))


@contextlib.contextmanager
def _loss_of(free: Model, data: Data) -> Iterator[Callable[[Model], tuple[Any, Model]]]:
    """The loss for `maximise`: a single program for small problems, all cores for large ones."""
    if not is_worthwhile(free, data):
        yield lambda f: _loss_and_gradient(f, data)
        return
    loss = ParallelLoss(free, data, constrain)
    try:
        yield loss
    finally:
        loss.close()


def signal_to_noise(model: Model) -> np.ndarray:
    """Signal variance over noise variance, per output or shared."""
    return np.atleast_1d(_signal_to_noise(model))


@in_float64
@jax.jit
def _signal_to_noise(model: Model):
    signal = jnp.mean(model.kernel.diag(model.inducing_inputs)) * model.output_scale**2
    return signal / model.noise_variance


def check_stages(model: Model, stages: Sequence[Stage]) -> None:
    """Raise ValueError if there is no stage, or if a stage holds every parameter or one that does not exist."""
    paths = parameter_paths(model)
    if not stages:
        raise ValueError("stages is empty; give at least one Stage.")
    for stage in stages:
        check_count(f"max_iterations of stage {stage.name!r}", stage.max_iterations)
        for pattern in set(stage.hold) - set(SIGNAL_AND_NOISE):  # these need not match: they are for any kernel
            if not any(matches(path, [pattern]) for path in paths):
                raise ValueError(
                    f"Stage {stage.name!r} holds {pattern!r}, which matches no parameter; there are {', '.join(paths)}."
                )
        if all(is_held(model, stage.hold)):
            raise ValueError(f"Stage {stage.name!r} holds everything; nothing is left to fit.")


def fit_restarts(
    models: Sequence[Model],
    data: Data,
    stages: Sequence[Stage] = DEFAULT_STAGES,
    tolerance: float = 1e-8,
    callback: Callback | None = None,
) -> tuple[Model, FitReport]:
    """Fit from several starting models, and keep the fit with the highest bound."""
    if not models:
        raise ValueError("models is empty; give at least one starting model.")
    fits: list[tuple[Model, FitReport]] = []
    for model in models:
        fits.append(fit(model, data, stages, tolerance, callback))
        if fits[-1][1].status == "interrupted":
            break
    bounds = tuple(report.bound for _, report in fits)
    model, report = fits[int(np.argmax(np.where(np.isfinite(bounds), bounds, -np.inf)))]
    return model, replace(report, restart_bounds=bounds)
