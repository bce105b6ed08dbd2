"""Back constraints: weights that fit given moments; nothing is compiled."""

import numpy as np

from semigp.core.rows.recognition import Weights


def test_moments_that_are_linear_in_the_features_are_found_again(random):
    """Least squares, to 1e-12; a variance above the prior's is cut to it."""
    features, mean = random.normal(size=(20, 4)), random.normal(size=(4, 2))
    log_variance = random.normal(size=(4, 2))
    variance = np.exp(features @ log_variance)
    found = Weights.of(features, features @ mean, variance)
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.log_variance, log_variance, atol=1e-12)
    np.testing.assert_allclose(found.moments(features)[1], np.minimum(variance, 1.0), rtol=1e-10)


def test_without_features_there_is_the_prior():
    mean, variance = Weights(np.ones((3, 2)), -np.ones((3, 2))).moments(np.zeros((5, 3)))
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_array_equal(variance, 1.0)
