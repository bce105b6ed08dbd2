"""The linear kernel."""

from semigp.core import Linear
from tests import oracles

from .battery import Battery, V

KERNELS = {
    "linear": (Linear(V), oracles.linear(V)),
    "linear on one input": (Linear(0.5, dims=(1,)), oracles.linear(0.5, (1,))),
}


class TestBattery(Battery):
    pass


def test_dims_as_people_write_them():
    assert Linear(0.5, dims=1).dims == (1,)
    assert Linear([1, 2], dims=[1, 0]).dims == (1, 0)
