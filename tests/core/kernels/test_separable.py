"""RBF, Matérn kernels and their products."""

import jax
import numpy as np
import pytest

from semigp.core import RBF, Linear, Matern32, Matern52
from tests import oracles

from .battery import INDUCING, MEAN, Battery, L

KERNELS = {
    "rbf": (RBF(1.3, L), oracles.rbf(1.3, L)),
    "rbf, one lengthscale": (RBF(1.3, 0.8), oracles.rbf(1.3, 0.8)),
    "rbf on one input": (RBF(1.3, 0.7, dims=(1,)), oracles.rbf(1.3, 0.7, (1,))),
    "matern32": (Matern32(1.3, L), oracles.matern32(1.3, L)),
    "matern52": (Matern52(1.3, L), oracles.matern52(1.3, L)),
    "matern32, short lengthscale": (Matern32(1.0, 0.02), oracles.matern32(1.0, 0.02)),
    "rbf × matern32": (
        RBF(1.3, 0.7, dims=(0,)) * Matern32(0.8, 1.2, dims=(1,)),
        oracles.multiply(oracles.rbf(1.3, 0.7, (0,)), oracles.matern32(0.8, 1.2, (1,))),
    ),
    "linear × rbf": (
        Linear(0.5, dims=(0,)) * RBF(1.3, 0.7, dims=(1,)),
        oracles.multiply(oracles.linear(0.5, (0,)), oracles.rbf(1.3, 0.7, (1,))),
    ),
}


class TestBattery(Battery):
    pass


@pytest.mark.usefixtures("x64")
def test_only_exact_expectations_are_offered():
    with pytest.raises(ValueError, match=r"inputs \[0\] appear in more than one factor"):
        RBF(1.0, 1.0, dims=(0,)) * Matern32(1.0, 1.0, dims=(0,))
    with pytest.raises(ValueError, match=r"cannot be a factor. Factors are RBF, Matern32 and Matern52 with dims"):
        RBF(1.0, 1.0) * Linear(1.0, dims=(0,))
    with pytest.raises(ValueError, match="full input covariance needs a kernel that is Gaussian"):
        Matern32(1.0, L).psi1(MEAN[:1], np.eye(2)[None], INDUCING)


@pytest.mark.usefixtures("x64")
def test_gram_is_exact_at_any_scale():
    """Points a lengthscale apart, ten billion lengthscales from the next pair."""
    points = np.array([[0.0], [1.0], [1e10]])
    expected = np.array([[1.0, np.exp(-0.5), 0.0], [np.exp(-0.5), 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(jax.jit(RBF(1.0, 1.0).gram)(points), expected, rtol=1e-15)


def test_dims_as_people_write_them():
    assert RBF(1.0, 1.0, dims=1).dims == (1,)
    assert RBF(1.0, 1.0, dims=[0, 1]).dims == (0, 1)
