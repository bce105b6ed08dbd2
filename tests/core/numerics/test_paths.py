"""Parameters by path."""

import numpy as np

from semigp.core import RBF, Linear
from semigp.core.numerics.paths import by_path, is_held, matches, parameter_paths

TREE = {"kernel": RBF(1.3, np.ones(2)) + Linear(0.5), "noise_variance": 0.1}
PATHS = ["kernel.kernels.0.variance", "kernel.kernels.0.lengthscale", "kernel.kernels.1.variances", "noise_variance"]


def test_paths_and_values_in_the_order_of_the_leaves():
    assert parameter_paths(TREE) == PATHS
    assert dict(by_path(TREE))["kernel.kernels.1.variances"] == 0.5


def test_patterns():
    assert is_held(TREE, ["kernel*lengthscale", "noise_variance"]) == [False, True, False, True]
    assert is_held(TREE, []) == [False] * 4
    assert matches("kernel.variance", ["*variance"])
    assert not matches("kernel.variances", ["*variance"])
