"""Sums of kernels, with the expectations of their products."""

import jax
import numpy as np
import pytest

from semigp.core import RBF, Bias, Linear, Matern32, Matern52, White
from tests import oracles

from .battery import INDUCING, Battery, L, V

KERNELS = {
    "rbf + linear": (RBF(1.3, L) + Linear(V), oracles.add(oracles.rbf(1.3, L), oracles.linear(V))),
    "rbf + rbf": (RBF(1.3, L) + RBF(0.5, 3 * L), oracles.add(oracles.rbf(1.3, L), oracles.rbf(0.5, 3 * L))),
    "rbf + linear + bias": (
        RBF(1.3, L) + Linear(V) + Bias(0.4),
        oracles.add(oracles.rbf(1.3, L), oracles.linear(V), oracles.bias(0.4)),
    ),
    "matern32 + rbf": (Matern32(0.9, L) + RBF(1.3, L), oracles.add(oracles.matern32(0.9, L), oracles.rbf(1.3, L))),
    "matern52 + matern32": (
        Matern52(0.9, L) + Matern32(1.1, 0.5),
        oracles.add(oracles.matern52(0.9, L), oracles.matern32(1.1, 0.5)),
    ),
    "matern52 + linear": (Matern52(0.9, L) + Linear(V), oracles.add(oracles.matern52(0.9, L), oracles.linear(V))),
    "linear × rbf + rbf": (
        Linear(0.5, dims=(0,)) * RBF(1.3, 0.7, dims=(1,)) + RBF(0.6, L),
        oracles.add(oracles.multiply(oracles.linear(0.5, (0,)), oracles.rbf(1.3, 0.7, (1,))), oracles.rbf(0.6, L)),
    ),
}


class TestBattery(Battery):
    pass


def test_what_cannot_be_added_or_drawn():
    with pytest.raises(TypeError, match="3 cannot be part of a sum"):
        RBF(1.0, 1.0) + 3
    with pytest.raises(ValueError, match="White noise cannot be drawn as a smooth function"), jax.enable_x64(True):
        (RBF(1.0, 1.0) + White(1.0)).feature_map(jax.random.key(0), 10, 2)


@pytest.mark.usefixtures("x64")
def test_sums_as_people_write_them():
    np.testing.assert_array_equal(
        sum([RBF(1.0, 1.0), Bias(1.0)]).gram(INDUCING), (RBF(1.0, 1.0) + Bias(1.0)).gram(INDUCING)
    )
