"""Scores. Oracles: SciPy's normal distribution, and the integral that defines the CRPS."""

import numpy as np
from scipy import integrate, stats

from semigp import scores

TRUTH, MEAN, STD = np.array([0.3, -1.0, np.nan, 2.0]), np.array([0.0, 0.5, 1.0, 1.9]), np.array([1.0, 0.4, 1.0, 2.0])
SEEN = ~np.isnan(TRUTH)


def test_density():
    expected = -np.mean(stats.norm.logpdf(TRUTH[SEEN], MEAN[SEEN], STD[SEEN]))
    np.testing.assert_allclose(scores.negative_log_density(TRUTH, MEAN, STD), expected, rtol=1e-12)


def test_crps_is_the_integral_of_the_squared_difference_of_distributions():
    def one(y, m, s):
        cdf = lambda x: stats.norm.cdf(x, m, s)  # noqa: E731
        below = integrate.quad(lambda x: cdf(x) ** 2, -30, y)[0]
        return below + integrate.quad(lambda x: (1 - cdf(x)) ** 2, y, 30)[0]

    expected = np.mean([one(*row) for row in zip(TRUTH[SEEN], MEAN[SEEN], STD[SEEN], strict=True)])
    np.testing.assert_allclose(scores.crps(TRUTH, MEAN, STD), expected, rtol=1e-6)


def test_coverage_and_errors():
    assert scores.coverage(TRUTH, MEAN, STD) == 2 / 3
    np.testing.assert_allclose(scores.mean_squared_error(TRUTH, MEAN), np.mean([0.09, 2.25, 0.01]))
    np.testing.assert_allclose(scores.mean_absolute_error(TRUTH, MEAN), np.mean([0.3, 1.5, 0.1]))


def test_log_loss_is_scikit_learns():
    from sklearn.metrics import log_loss

    probabilities = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.05, 0.9, 0.05]])
    expected = log_loss([0, 2, 0], probabilities, labels=[0, 1, 2])
    np.testing.assert_allclose(scores.log_loss(np.array([0, 2, 0]), probabilities), expected)


def test_calibration_error_by_hand():
    """Two chosen with .9, one of them right, and two with .6, both right: ½ |.9 - .5| + ½ |.6 - 1| = .4."""
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    assert np.isclose(scores.calibration_error(np.array([0, 1, 1, 1]), probabilities), 0.4)
