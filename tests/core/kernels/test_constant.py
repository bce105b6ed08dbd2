"""Kernels that do not look at the inputs."""

import numpy as np
import pytest

from semigp.core import RBF, Bias, White
from tests import oracles

from .battery import INDUCING, MEAN, VARIANCE, Battery, L

KERNELS = {"bias": (Bias(0.4), oracles.bias(0.4))}


class TestBattery(Battery):
    pass


@pytest.mark.usefixtures("x64")
def test_white_is_noise():
    kernel = RBF(1.3, L) + White(0.2)
    plain = RBF(1.3, L)
    np.testing.assert_allclose(kernel.psi0(MEAN, VARIANCE), plain.psi0(MEAN, VARIANCE) + 0.2)
    np.testing.assert_allclose(kernel.psi1(MEAN, VARIANCE, INDUCING), plain.psi1(MEAN, VARIANCE, INDUCING))
    one = np.ones((len(MEAN), 1))
    np.testing.assert_allclose(kernel.psi2(MEAN, VARIANCE, INDUCING, one), plain.psi2(MEAN, VARIANCE, INDUCING, one))
    np.testing.assert_allclose(kernel.gram(INDUCING), plain.gram(INDUCING) + 0.2 * np.eye(3))
