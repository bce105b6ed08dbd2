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


LEVELS = np.array([0.1, 0.5, 0.9])


def test_quantile_loss_by_hand():
    """At 2 against quantiles 1, 3 and 4: 2 (.1·1 + .5·1 + .1·2) / 3; NaN in the truth does not count."""
    quantiles = np.array([[1.0, 0.0], [3.0, 0.0], [4.0, 0.0]])
    found = scores.quantile_loss(np.array([2.0, np.nan]), quantiles, LEVELS)
    np.testing.assert_allclose(found, 2 * (0.1 * 1 + 0.5 * 1 + 0.1 * 2) / 3)


def test_crps_of_quantiles_is_that_of_the_distribution():
    """Oracle: the closed form of a Gaussian. With 2000 levels, what is left out in the tails is below 1e-3."""
    levels = (np.arange(2000) + 0.5) / 2000
    truth, mean, std = TRUTH[SEEN], MEAN[SEEN], STD[SEEN]
    quantiles = stats.norm.ppf(levels)[:, None] * std + mean
    np.testing.assert_allclose(scores.quantile_crps(truth, quantiles, levels), scores.crps(truth, mean, std), rtol=1e-3)
    # By hand: losses .2, 1 and .4 at .1, .5 and .9, straight lines between them, and zero at 0 and 1.
    found = scores.quantile_crps(np.array([2.0]), np.array([[1.0], [3.0], [4.0]]), LEVELS)
    np.testing.assert_allclose(found, 0.1 * 0.1 + 0.4 * 0.6 + 0.4 * 0.7 + 0.1 * 0.2)


def test_scale_of_mase():
    past = np.array([1.0, 4.0, 2.0, np.nan, 5.0])
    assert scores.mase_scale(past, 1) == (3 + 2) / 2
    assert scores.mase_scale(past, 2) == (1 + 3) / 2


def test_log_loss_is_scikit_learns():
    from sklearn.metrics import log_loss

    probabilities = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.05, 0.9, 0.05]])
    expected = log_loss([0, 2, 0], probabilities, labels=[0, 1, 2])
    np.testing.assert_allclose(scores.log_loss(np.array([0, 2, 0]), probabilities), expected)


def test_calibration_error_by_hand():
    """Two chosen with .9, one of them right, and two with .6, both right: ½ |.9 - .5| + ½ |.6 - 1| = .4."""
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    assert np.isclose(scores.calibration_error(np.array([0, 1, 1, 1]), probabilities), 0.4)
