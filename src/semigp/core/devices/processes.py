"""Communication between the processes of a run, besides sums over rows: small arrays, gathered over a mesh.

Every process of the mesh must make the same calls in the same order. If this is the only process, nothing is sent.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..numerics.padding import pad_rows


@dataclass(frozen=True)
class Processes:
    """The processes whose devices are in a mesh."""

    mesh: Mesh

    @functools.cached_property
    def ranks(self) -> list[int]:
        """The numbers of the processes, in the order in which their arrays are gathered."""
        return sorted({device.process_index for device in self.mesh.devices.flat})

    @property
    def rank(self) -> int:
        """The position of this process in `ranks`."""
        return self.ranks.index(jax.process_index())

    @property
    def count(self) -> int:
        """The number of processes."""
        return len(self.ranks)

    def gather(self, values: Any) -> np.ndarray:
        """The arrays of all processes, which must have the same shape, stacked."""
        values = np.asarray(values)
        if self.count == 1:
            return values[None]
        with jax.enable_x64(True):
            own = np.repeat(values[None], len(own_devices(self.mesh)), axis=0)
            told = np.asarray(_replicate(self.mesh)(on_devices(self.mesh, own, PartitionSpec(*self.mesh.axis_names))))
        speakers = [device.process_index for device in self.mesh.devices.flat]
        return told[[speakers.index(rank) for rank in self.ranks]]

    def total(self, values: Any) -> np.ndarray:
        """The sum of the arrays of all processes."""
        return self.gather(np.asarray(values, float)).sum(axis=0)

    def first(self, values: Any) -> np.ndarray:
        """The array of the first process, for numbers that must be the same everywhere to the last digit."""
        return self.gather(values)[0]

    def any(self, *facts: bool) -> list[bool]:
        """For each fact, whether it is true in any process."""
        return np.any(self.gather(np.array(facts)), axis=0).tolist()

    def gather_rows(self, rows: np.ndarray) -> np.ndarray:
        """The rows of all processes, concatenated. Processes may have different numbers of rows."""
        counts = self.gather(np.array(len(rows)))
        everyones = self.gather(pad_rows(rows, int(counts.max())))
        return np.concatenate([part[:n] for part, n in zip(everyones, counts, strict=True)])


def own_devices(mesh: Mesh) -> list[jax.Device]:
    """The devices of this process, in the order of the mesh."""
    return [device for device in mesh.devices.flat if device.process_index == jax.process_index()]


def on_devices(mesh: Mesh, values: np.ndarray, layout: PartitionSpec) -> jax.Array:
    """An array on a mesh. The axis that the layout names is divided evenly between the devices of this process."""
    devices = own_devices(mesh)
    shape, parts = values.shape, [values] * len(devices)
    for axis, name in enumerate(layout):
        if name is not None:
            parts = np.split(values, len(devices), axis)
            shape = (*shape[:axis], parts[0].shape[axis] * mesh.size, *shape[axis + 1 :])
    pieces = [jax.device_put(jnp.asarray(part), device) for part, device in zip(parts, devices, strict=True)]
    return jax.make_array_from_single_device_arrays(shape, NamedSharding(mesh, layout), pieces)


def own_part(array: jax.Array) -> np.ndarray:
    """The part of an array on a mesh that this process holds."""
    pieces = {
        tuple((cut.start or 0) for cut in piece.index): np.asarray(piece.data) for piece in array.addressable_shards
    }
    places = sorted(pieces)
    cut = next((axis for axis in range(array.ndim) if len({place[axis] for place in places}) > 1), 0)
    return np.concatenate([pieces[place] for place in places], cut) if len(places) > 1 else pieces[places[0]]


@functools.lru_cache
def _replicate(mesh: Mesh) -> Any:
    return jax.jit(lambda values: values, out_shardings=NamedSharding(mesh, PartitionSpec()))
