"""Moments of mixtures. Oracle: moments of many draws of them, E[v] and E[v²] - E[v]²."""

import numpy as np

from semigp.core.numerics.mixtures import pooled, weighted


def test_equal_weights(random):
    means, variances = random.normal(size=(3, 4)), random.uniform(0.1, 1.0, size=(3, 4))
    mean, variance = pooled(means, variances)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, np.mean(variances + means**2, axis=0) - mean**2, rtol=1e-12)


def test_weights_of_every_row(random):
    means, variances = random.normal(size=(2, 3, 4)), random.uniform(0.1, 1.0, size=(2, 3, 4))
    weights = np.array([[0.5, 1.0, 0.2], [0.5, 0.0, 0.8]])
    mean, variance = weighted(means, variances, weights)
    np.testing.assert_allclose(mean[0], pooled(means[:, 0], variances[:, 0])[0], rtol=1e-12)
    np.testing.assert_allclose(variance[0], pooled(means[:, 0], variances[:, 0])[1], rtol=1e-12)
    np.testing.assert_allclose(variance[1], variances[0, 1], rtol=1e-12)  # a mixture of one
    second = np.sum(weights[:, :, None] * (variances + means**2), axis=0)
    np.testing.assert_allclose(variance, second - mean**2, rtol=1e-10)
