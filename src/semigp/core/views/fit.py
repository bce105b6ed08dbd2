"""The fit of several views: L-BFGS raises their common bound over unconstrained parameters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from ..numerics.compiler import WIDE_VECTORS
from ..numerics.precision import in_float64
from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport, with_signal_to_noise
from ..search.stages import Stage
from ..sparse.defaults import IDLE
from ..sparse.fit import SIGNAL_AND_NOISE, signal_to_noise
from .model import ViewsData, ViewsModel, objective


def stages(max_iter: int) -> tuple[Stage, ...]:
    """Signal and noise are held at first, as for a single GP. The variances of the RBF kernels are always held."""
    idle, held = (tuple(f"views.*.{path}" for path in paths) for paths in (IDLE[:1], SIGNAL_AND_NOISE))
    return Stage("held signal-to-noise", min(50, max_iter), (*held, *idle)), Stage("all rows", max_iter, idle)


def unconstrain(model: ViewsModel) -> ViewsModel:
    """The model with the logarithms of its positive parameters."""
    return _map_positive(jnp.log, model)


def constrain(model: ViewsModel) -> ViewsModel:
    """The model with its positive parameters in natural units, from their logarithms."""
    return _map_positive(jnp.exp, model)


def _map_positive(function, model: ViewsModel) -> ViewsModel:
    names = ("kernel", "noise_variance", "output_scale")
    views = tuple(
        replace(view, **{name: jax.tree.map(function, getattr(view, name)) for name in names}) for view in model.views
    )
    return ViewsModel(views, model.mean, function(model.variance))


@functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
def loss_and_gradient(free: ViewsModel, data: ViewsData):
    """Minus the objective, and its gradient in the unconstrained parameters."""
    return jax.value_and_grad(lambda f: -objective(constrain(f), data))(free)


def fit_views(
    model: ViewsModel, data: ViewsData, steps: Sequence[Stage], tolerance: float, callback: Callback | None = None
) -> tuple[ViewsModel, FitReport]:
    """Raise the bound by L-BFGS, stage by stage. The arguments are those of `core.sparse.fit.fit`."""
    with jax.enable_x64(True):
        free, known = jax.tree.map(jnp.asarray, (unconstrain(model), data))
        best, report = maximise(lambda f: loss_and_gradient(f, known), free, steps, tolerance, callback)
        fitted = in_float64(constrain)(best)
    ratios = [signal_to_noise(fitted.of_view(number)) for number in range(len(data))]
    return fitted, with_signal_to_noise(report, np.concatenate(ratios))
