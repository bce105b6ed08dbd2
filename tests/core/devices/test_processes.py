"""Questions between processes, of a process that is alone; several are in test_row_mesh.py."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec

from semigp.core.devices.processes import Processes, on_devices, own_part


@pytest.fixture
def mesh():
    return Mesh(np.array(jax.devices()[:1]), ("rows",))


def test_a_process_that_is_alone_asks_nobody(mesh):
    alone, rows = Processes(mesh), np.arange(6.0).reshape(3, 2)
    assert (alone.rank, alone.count) == (0, 1)
    np.testing.assert_array_equal(alone.gather(rows), rows[None])
    np.testing.assert_array_equal(alone.total(rows), rows)
    np.testing.assert_array_equal(alone.first(rows), rows)
    np.testing.assert_array_equal(alone.gather_rows(rows), rows)
    assert alone.any(True, False) == [True, False]


@pytest.mark.usefixtures("x64")
def test_what_goes_onto_devices_comes_back(mesh):
    rows = np.arange(6.0).reshape(3, 2)
    for layout in (PartitionSpec("rows"), PartitionSpec(), PartitionSpec(None, "rows")):
        np.testing.assert_array_equal(own_part(on_devices(mesh, rows, layout)), rows)
