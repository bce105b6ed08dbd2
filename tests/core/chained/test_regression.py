"""One column as a GP of the others. Oracle: the kernel written out, row by row."""

import numpy as np
import pytest
import scipy.stats

from semigp.core.chained.regression import CURVED, NOISES, Conditioned, Regression, _best_noise, choose_regression


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


def test_joint_draws_have_the_dense_covariance(random, monkeypatch):
    """s (K + rI - KᵀC⁻¹K), read off by drawing with one normal at a time, as draws are linear in them; 1e-10. Points of
    another block are independent."""
    points, values, new = random.normal(size=(25, 2)), random.normal(size=25), random.normal(size=(6, 2))
    regression = Regression(0.6, 0.2, 0.01, 1.7)
    conditioned = Conditioned.on(regression, points, values)
    mean, variance = conditioned.predict(new)
    np.testing.assert_allclose(conditioned.draw_jointly(new, np.zeros(6)), mean, rtol=1e-10)
    root = np.array([conditioned.draw_jointly(new, unit) - mean for unit in np.eye(6)])
    inverse = np.linalg.inv(regression.covariance(points, points) + 0.01 * np.eye(25))
    cross = regression.covariance(points, new)
    expected = 1.7 * (regression.covariance(new, new) + 0.01 * np.eye(6) - cross.T @ inverse @ cross)
    np.testing.assert_allclose(root.T @ root, expected, atol=1e-10)
    np.testing.assert_allclose(np.diag(expected), variance, rtol=1e-8)
    monkeypatch.setattr("semigp.core.chained.regression._JOINT", 4)
    root = np.array([conditioned.draw_jointly(new, unit) - mean for unit in np.eye(6)])
    expected[:4, 4:] = expected[4:, :4] = 0.0
    np.testing.assert_allclose(root.T @ root, expected, atol=1e-10)


def test_left_out(random):
    """Each value as it is predicted by a regression on the other rows; 1e-9."""
    points, values = random.normal(size=(12, 2)), random.normal(size=12)
    regression = Regression(0.6, 0.2, 0.05, 1.7)
    mean, std = Conditioned.on(regression, points, values).left_out(values)
    for i in range(12):
        others = np.arange(12) != i
        expected = Conditioned.on(regression, points[others], values[others]).predict(points[i : i + 1])
        np.testing.assert_allclose([mean[i], std[i] ** 2], np.ravel(expected), rtol=1e-9)


def test_noise_has_the_highest_evidence(random):
    """That of the values and of one more, of size 1, at the best scale. Oracle: SciPy's densities."""
    points, values = random.normal(size=(4, 2)), random.normal(size=4)
    loss, found = _best_noise(points, values, 0.7, 0.2)

    def expected(noise):
        covariance = Regression(0.7, 0.2, 0.0, 1.0).covariance(points, points) + noise * np.eye(4)
        scale = (values @ np.linalg.solve(covariance, values) + 1.0) / 5.0
        density = scipy.stats.multivariate_normal(np.zeros(4), scale * covariance).logpdf(values)
        return -density - scipy.stats.norm(scale=np.sqrt(scale)).logpdf(1.0), scale, noise

    best = min(expected(noise) for noise in NOISES)
    assert (loss + 2.5 * (1.0 + np.log(2.0 * np.pi)), found.scale, found.noise) == pytest.approx(best, rel=1e-9)
