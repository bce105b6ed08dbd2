"""One column as a GP of the others. Oracle: the kernel written out, row by row."""

import numpy as np

from semigp.core.chained.regression import CURVED, NOISES, Conditioned, Regression, choose_regression


def test_covariance_and_variance(random):
    """(1 - w) exp(-|z - z'|²/(2 l² d)) + w zᵀz'/d, d the columns of the table; 1e-12."""
    regression = Regression(lengthscale=0.7, linear_share=0.2, noise=0.05, scale=1.3)
    left, right = random.normal(size=(4, 3)), random.normal(size=(5, 3))
    square = np.sum((left[:, None] - right[None]) ** 2, axis=2)
    expected = 0.8 * np.exp(-0.5 * square / (0.7**2 * 4)) + 0.2 * left @ right.T / 4
    np.testing.assert_allclose(regression.covariance(left, right), expected, rtol=1e-12)
    np.testing.assert_allclose(regression.variance(left), np.diag(regression.covariance(left, left)) + 0.05)


def test_a_row_is_predicted_as_if_it_were_alone(random):
    """To the last digit: sweeps would amplify the rest."""
    points, values = random.normal(size=(30, 2)), random.normal(size=30)
    conditioned = Conditioned.on(choose_regression(points, values), points, values)
    new = random.normal(size=(21, 2))
    together, alone = conditioned.predict(new), conditioned.predict(new[7:8])
    assert (together[0][7], together[1][7]) == (alone[0][0], alone[1][0])


def test_noise_and_lines_are_told_apart(random):
    """A straight line is wholly linear with the least noise; numbers at random have the most."""
    points = random.normal(size=(60, 2))
    line = choose_regression(points, points @ [1.0, -0.5], CURVED)
    assert (line.linear_share, line.noise) == (1.0, NOISES[0])
    assert choose_regression(points, random.normal(size=60), CURVED).noise >= NOISES[-2]
