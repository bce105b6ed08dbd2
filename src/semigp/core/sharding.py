"""Rows spread over devices: every device sums the statistics of its own rows, and the sums are added up once.

What grows with the number of rows (inputs, targets, priors, q(x)) is cut along its first axis and stays where it is.
What does not (kernel, inducing inputs, noise) is the same everywhere. An evaluation of the bound adds up m² + mp + 2p
numbers and a few, its gradient the like, whatever the number of rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .model import Data, Model, objective
from .posterior import Posterior, posterior_from_statistics, resolved_posterior
from .precision import in_float64
from .statistics import Block, Statistics, collect
from .targets import Targets

ROWS = "rows"
_BY_ROW, _EVERYWHERE = PartitionSpec(ROWS), PartitionSpec()


def row_mesh(devices: Any = None) -> Mesh:
    """All devices in a line, those of other processes included, or those that are given."""
    return Mesh(np.asarray(jax.devices() if devices is None else devices), (ROWS,))


def model_layout(model: Model) -> Model:
    """Which parameters are cut by rows: those of q(x)."""
    same = jax.tree.map(lambda _: _EVERYWHERE, model)
    return dataclasses.replace(same, mean=_BY_ROW, variance=_BY_ROW)


def data_layout(data: Data) -> Data:
    """Which of the data are cut by rows: all but hyperpriors, jitter, and which output is in which group."""
    targets = Targets(_BY_ROW, _BY_ROW, _EVERYWHERE)  # type: ignore[arg-type]
    return dataclasses.replace(
        jax.tree.map(lambda _: _EVERYWHERE, data),
        observed=None if data.observed is None else Block(_BY_ROW, None, targets),  # type: ignore[arg-type]
        prior=jax.tree.map(lambda _: _BY_ROW, data.prior),
        targets=targets, values=_BY_ROW, unknown=_BY_ROW, mean_is_free=_BY_ROW, rows=_BY_ROW,
    )  # fmt: skip


def spread(model: Model, data: Data, mesh: Mesh) -> tuple[Model, Data]:
    """A model and its data on the devices of a mesh, filled up with rows of weight 0 so that all have as many.

    In a run of several processes every process gives the same arrays, of which its devices take their rows.
    """
    fill = functools.partial(_fill_up, mesh.size)
    layout = data_layout(data)
    data = jax.tree.map(lambda leaf, cut: fill(leaf) if cut == _BY_ROW else leaf, data, layout)
    data = dataclasses.replace(data, rows=fill(data.rows + 1) - 1)
    model = dataclasses.replace(model, mean=fill(model.mean), variance=fill(model.variance, 1.0))
    return jax.tree.map(functools.partial(_place, mesh), (model, data), (model_layout(model), layout))


def _fill_up(count: int, leaf: Any, value: float = 0.0) -> np.ndarray:
    leaf = np.asarray(leaf)
    return np.pad(leaf, [(0, -len(leaf) % count)] + [(0, 0)] * (leaf.ndim - 1), constant_values=value)


def _place(mesh: Mesh, leaf: Any, cut: PartitionSpec) -> jax.Array:
    leaf = np.asarray(leaf)
    return jax.make_array_from_callback(leaf.shape, NamedSharding(mesh, cut), lambda index: jnp.asarray(leaf[index]))


def spread_objective(mesh: Mesh, model: Model, data: Data) -> Callable[[Model, Data], jax.Array]:
    """`objective` for models and data of these structures, spread over the mesh."""
    return _on_every_device(mesh, functools.partial(objective, total=_add_up), model, data)


def spread_posterior(mesh: Mesh, model: Model, data: Data) -> Posterior:
    """q(U) of a model that is spread over the mesh: small, and the same everywhere."""

    def of_all_rows(model: Model, data: Data):
        sums = _add_up(collect(model.kernel, model.inducing_inputs, data.blocks(model)).sums())
        statistics = Statistics(**sums, group=data.targets.group)
        return posterior_from_statistics(
            model.kernel, statistics, model.inducing_inputs, model.noise_variance, model.output_scale, data.jitter
        )

    return resolved_posterior(*in_float64(jax.jit(_on_every_device(mesh, of_all_rows, model, data)))(model, data))


_add_up = functools.partial(jax.lax.psum, axis_name=ROWS)


def _on_every_device(mesh: Mesh, function: Callable, model: Model, data: Data) -> Callable:
    layouts = model_layout(model), data_layout(data)
    return jax.shard_map(function, mesh=mesh, in_specs=layouts, out_specs=_EVERYWHERE, check_vma=False)
