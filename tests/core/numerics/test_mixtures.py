"""Mixtures. Oracles: moments of many draws of them, E[v] and E[v²] - E[v]², and SciPy's normal distribution."""

import numpy as np
import scipy.stats

from semigp.core.numerics.mixtures import by_precision, log_densities, pooled, quantiles, weighted


def test_equal_weights(random):
    means, variances = random.normal(size=(3, 4)), random.uniform(0.1, 1.0, size=(3, 4))
    mean, variance = pooled(means, variances)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, np.mean(variances + means**2, axis=0) - mean**2, rtol=1e-12)


def test_weights_by_precision(random):
    """With equal variances they are the counts. A component that is sure, or counts alone, decides."""
    means, variances = random.normal(size=(2, 3, 4)), random.uniform(0.1, 1.0, size=(2, 3, 4))
    same = np.full((2, 3, 4), 0.7)
    for one, other in zip(by_precision(means, same, (3.0, 3.0)), pooled(means, same), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    rows = np.repeat([[0.75], [0.25]], 3, axis=1)
    for one, other in zip(by_precision(means, same, (3.0, 1.0)), weighted(means, same, rows), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_allclose(by_precision(means, variances, (0.0, 1.0))[1], variances[1], rtol=1e-12)
    sure = np.stack([np.full((3, 4), 1e-14), variances[1]])
    np.testing.assert_allclose(by_precision(means, sure, (1.0, 1.0))[0], means[0], atol=1e-10)


def test_weights_of_every_row(random):
    means, variances = random.normal(size=(2, 3, 4)), random.uniform(0.1, 1.0, size=(2, 3, 4))
    weights = np.array([[0.5, 1.0, 0.2], [0.5, 0.0, 0.8]])
    mean, variance = weighted(means, variances, weights)
    np.testing.assert_allclose(mean[0], pooled(means[:, 0], variances[:, 0])[0], rtol=1e-12)
    np.testing.assert_allclose(variance[0], pooled(means[:, 0], variances[:, 0])[1], rtol=1e-12)
    np.testing.assert_allclose(variance[1], variances[0, 1], rtol=1e-12)  # a mixture of one
    second = np.sum(weights[:, :, None] * (variances + means**2), axis=0)
    np.testing.assert_allclose(variance, second - mean**2, rtol=1e-10)


def test_log_densities(random):
    """SciPy's normal density, summed. A value that is missing contributes nothing."""
    means, variances = random.normal(size=(3, 5, 2)), random.uniform(0.1, 1.0, size=(3, 5, 2))
    weights, values = np.array([0.2, 0.5, 0.3]), random.normal(size=(5, 2))
    each = scipy.stats.norm(means, np.sqrt(variances)).pdf(values)
    expected = np.log(np.tensordot(weights, each.prod(axis=2), 1))
    np.testing.assert_allclose(log_densities(means, variances, weights, values), expected, rtol=1e-12)
    values[0, 1] = np.nan
    expected[0] = np.log(weights @ each[:, 0, 0])
    np.testing.assert_allclose(log_densities(means, variances, weights, values), expected, rtol=1e-12)


def test_quantiles(random):
    """The distribution function at a quantile is its level; of a single component it is SciPy's quantile."""
    means, variances = random.normal(size=(3, 5, 2)), random.uniform(0.1, 1.0, size=(3, 5, 2))
    weights, levels = np.array([0.2, 0.5, 0.3]), np.array([0.025, 0.5, 0.9])
    found = quantiles(means, variances, weights, levels)
    below = scipy.stats.norm(means, np.sqrt(variances)).cdf(found[:, None])
    expected = np.broadcast_to(levels[:, None, None], found.shape)
    np.testing.assert_allclose(np.einsum("k,lknd->lnd", weights, below), expected, rtol=1e-10)
    alone = quantiles(means[:1], variances[:1], np.ones(1), levels)
    expected = scipy.stats.norm(means[0], np.sqrt(variances[0])).ppf(levels[:, None, None])
    np.testing.assert_allclose(alone, expected, rtol=1e-10, atol=1e-12)
