"""Rows spread over devices: every device sums the statistics of its own rows, and the sums are added up once.

Arrays that grow with the number of rows (inputs, targets, priors, q(x)) are cut along their first axis and stay on
their devices. All others (kernel, inducing inputs, noise) are the same on every device. To evaluate the bound, the
devices add up about m² + mp + 2p numbers, and as many again for its gradient, whatever the number of rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from ..numerics.padding import pad_rows, round_up
from ..numerics.precision import in_float64
from ..sparse.model import Data, Model, objective
from ..sparse.posterior import Posterior, posterior_from_statistics, resolved_posterior
from ..sparse.statistics import Block, Statistics, collect
from ..sparse.targets import Targets
from .processes import Processes, on_devices, own_devices, own_part

ROWS = "rows"
_BY_ROW, _EVERYWHERE = PartitionSpec(ROWS), PartitionSpec()


def row_mesh(devices: Any = None) -> Mesh:
    """A one-dimensional mesh of the given devices, or of all devices, including those of other processes."""
    return Mesh(np.asarray(jax.devices() if devices is None else devices), (ROWS,))


def model_layout(model: Model) -> Model:
    """Which parameters are cut by rows: the means and variances of q(x)."""
    same = jax.tree.map(lambda _: _EVERYWHERE, model)
    return dataclasses.replace(same, mean=_BY_ROW, variance=_BY_ROW)


def data_layout(data: Data) -> Data:
    """Which of the data are cut by rows: all except hyperpriors, jitter, and the groups of the outputs."""
    targets = Targets(_BY_ROW, _BY_ROW, _EVERYWHERE)  # type: ignore[arg-type]
    return dataclasses.replace(
        jax.tree.map(lambda _: _EVERYWHERE, data),
        observed=None if data.observed is None else Block(_BY_ROW, None, targets),  # type: ignore[arg-type]
        prior=jax.tree.map(lambda _: _BY_ROW, data.prior),
        targets=targets, values=_BY_ROW, unknown=_BY_ROW, mean_is_free=_BY_ROW, rows=_BY_ROW,
    )  # fmt: skip


def spread(model: Model, data: Data, mesh: Mesh) -> tuple[Model, Data]:
    """A model and its data on the devices of a mesh, padded with rows of weight 0 to the same number on each device.

    In a run of several processes, each process gives its own rows. They may differ in number, in their patterns of
    missing outputs, and in whether any are observed or uncertain. Arrays that are not cut by rows are taken from the
    first process.
    """
    processes = Processes(mesh)
    data = _alike(data, processes)
    layouts = model_layout(model), data_layout(data)
    fill = _filler(processes, len(data.values))
    model = dataclasses.replace(model, mean=fill(model.mean), variance=fill(model.variance, value=1.0))
    others = dataclasses.replace(data, observed=None), dataclasses.replace(layouts[1], observed=None)
    filled = dataclasses.replace(jax.tree.map(fill, *others), rows=fill(data.rows + 1) - 1)
    if data.observed is not None:
        fill = _filler(processes, len(data.observed.mean))
        filled = dataclasses.replace(filled, observed=jax.tree.map(fill, data.observed, layouts[1].observed))
    return jax.tree.map(functools.partial(_place, processes), (model, filled), layouts)


def take_back(model: Model, n_rows: int) -> Model:
    """A model that is spread over a mesh, restricted to the `n_rows` rows of this process."""
    own = jax.tree.map(own_part, model)
    return dataclasses.replace(own, mean=own.mean[:n_rows], variance=own.variance[:n_rows])


def _alike(data: Data, processes: Processes) -> Data:
    """The data with the same structure in every process.

    If any process has observed rows, all have a block of them, which may be empty. Two outputs are in one group if
    they are in one group in every process.
    """
    groups, group = np.unique(processes.gather(data.targets.group), axis=1, return_inverse=True)

    def regrouped(targets: Targets) -> Targets:
        weights = np.asarray(targets.weights)[:, groups[processes.rank]]
        return Targets(targets.values, weights, group.reshape(-1).astype(np.int32))

    targets, observed = regrouped(data.targets), data.observed
    (is_any_observed,) = processes.any(observed is not None)
    if observed is not None:
        observed = Block(observed.mean, None, regrouped(observed.targets))
    elif is_any_observed:
        observed = Block(data.values[:0], None, targets.take(slice(0)))
    return dataclasses.replace(data, targets=targets, observed=observed)


def _filler(processes: Processes, n_rows: int) -> Callable:
    """A function that pads arrays of `n_rows` rows, so that every device of every process has the same number."""
    devices = len(own_devices(processes.mesh))
    count = int(processes.gather(np.array(round_up(n_rows, devices))).max())

    def fill(leaf: Any, layout: PartitionSpec = _BY_ROW, value: float = 0.0) -> Any:
        if layout != _BY_ROW:
            return leaf
        return pad_rows(np.asarray(leaf), count, value)

    return fill


def _place(processes: Processes, leaf: Any, layout: PartitionSpec) -> jax.Array:
    values = np.asarray(leaf) if layout == _BY_ROW else processes.first(leaf)
    return on_devices(processes.mesh, values, layout)


def spread_objective(mesh: Mesh, model: Model, data: Data) -> Callable[[Model, Data], jax.Array]:
    """`objective` as a function of models and data of these structures that are spread over the mesh."""
    return _on_every_device(mesh, functools.partial(objective, total=_add_up), model, data)


def spread_posterior(mesh: Mesh, model: Model, data: Data) -> Posterior:
    """q(U) of a model that is spread over the mesh. It is small, and the same on every device."""
    program = _posterior_program(mesh, jax.tree.structure(model), jax.tree.structure(data))
    return resolved_posterior(*in_float64(program)(model, data))


@functools.lru_cache(maxsize=16)
def _posterior_program(mesh: Mesh, model_structure: Any, data_structure: Any) -> Callable:
    def of_all_rows(model: Model, data: Data):
        sums = _add_up(collect(model.kernel, model.inducing_inputs, data.blocks(model)).sums())
        statistics = Statistics(**sums, group=data.targets.group)
        return posterior_from_statistics(
            model.kernel, statistics, model.inducing_inputs, model.noise_variance, model.output_scale, data.jitter
        )

    some = (jax.tree.unflatten(tree, range(tree.num_leaves)) for tree in (model_structure, data_structure))
    return jax.jit(_on_every_device(mesh, of_all_rows, *some))


_add_up = functools.partial(jax.lax.psum, axis_name=ROWS)


def _on_every_device(mesh: Mesh, function: Callable, model: Model, data: Data) -> Callable:
    layouts = model_layout(model), data_layout(data)
    return jax.shard_map(function, mesh=mesh, in_specs=layouts, out_specs=_EVERYWHERE, check_vma=False)
