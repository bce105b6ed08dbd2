"""Relevance. Oracle: the variance of slopes, by hand."""

import numpy as np

from semigp.core import RBF, Linear
from semigp.estimators.common.relevance import relevance, slope_variance


def test_slopes_of_rbf_and_linear():
    kernel = RBF(2.0, np.array([1.0, 2.0])) + Linear(np.array([0.5, 0.0]))
    np.testing.assert_allclose(slope_variance(kernel), [2.5, 0.5])
    np.testing.assert_allclose(relevance([kernel]), [1.0, 0.2])


def test_mean_over_kernels_and_spread_of_the_inputs():
    kernels = [RBF(1.0, np.array([1.0, 1.0])), RBF(1.0, np.array([1.0, 2.0]))]
    np.testing.assert_allclose(relevance(kernels, np.array([0.5, 2.0])), [0.5 / 1.25, 1.0])
