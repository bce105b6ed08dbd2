"""Priors on inputs. Oracles: textbook conditionals, Monte Carlo, and KL formulas between full Gaussians."""

import numpy as np
import pytest

from semigp.core import GaussianPrior, InputBelief, RowPrior, StandardPrior, error_bar_prior, kl_divergence


def gaussian_kl(mean_q, cov_q, mean_p, cov_p):
    """KL between two Gaussians with full covariances."""
    solved = np.linalg.solve(cov_p, cov_q)
    difference = mean_p - mean_q
    distance = difference @ np.linalg.solve(cov_p, difference)
    return 0.5 * (np.trace(solved) + distance - len(mean_q) - np.linalg.slogdet(solved)[1])


@pytest.fixture
def belief(random):
    mean, variance = random.normal(size=(6, 3)), random.uniform(0.1, 2, (6, 3))
    variance[random.random((6, 3)) < 0.4] = 0
    variance[0] = 0  # an observed row
    variance[1] = 0.5  # a missing row
    return InputBelief(mean, variance)


@pytest.fixture
def prior(random):
    root = random.normal(size=(3, 3))
    return GaussianPrior(random.normal(size=3), root @ root.T + 0.2 * np.eye(3))


def test_standard_prior(belief):
    unknown = belief.variance > 0
    mean, variance = belief.mean[unknown], belief.variance[unknown]
    expected = 0.5 * np.sum(variance + mean**2 - 1 - np.log(variance))
    np.testing.assert_allclose(kl_divergence(belief), expected, rtol=1e-13)
    np.testing.assert_allclose(kl_divergence(belief, StandardPrior()), expected, rtol=1e-13)


def test_correlated_prior_is_conditioned_on_what_each_row_knows(belief, prior):
    expected = 0.0
    for mean, variance in zip(belief.mean, belief.variance, strict=True):
        u, o = variance > 0, variance == 0
        if not u.any():
            continue
        cov = prior.covariance
        gain = np.linalg.solve(cov[np.ix_(o, o)], cov[np.ix_(o, u)]).T
        conditional_mean = prior.mean[u] + gain @ (mean[o] - prior.mean[o])
        conditional_cov = cov[np.ix_(u, u)] - gain @ cov[np.ix_(o, u)]
        expected += gaussian_kl(mean[u], np.diag(variance[u]), conditional_mean, conditional_cov)
    np.testing.assert_allclose(kl_divergence(belief, prior), expected, rtol=1e-10)


@pytest.mark.parametrize("correlated", [False, True])
def test_full_covariance_beliefs(random, prior, correlated):
    mean, root = random.normal(size=(4, 3)), random.normal(size=(4, 3, 3))
    covariance = root @ np.swapaxes(root, 1, 2)
    chosen = prior if correlated else GaussianPrior(np.zeros(3), np.eye(3))
    expected = sum(gaussian_kl(mean[n], covariance[n], chosen.mean, chosen.covariance) for n in range(4))
    given = prior if correlated else None
    np.testing.assert_allclose(kl_divergence(InputBelief(mean, covariance), given), expected, rtol=1e-10)


def test_error_bars_centre_the_prior_on_the_observation():
    observed = np.array([[1.0, 2.0, np.nan], [0.5, np.nan, 3.0]])
    error = np.array([[0.1, 0.0, 0.0], [0.2, 0.3, 0.0]])
    belief = InputBelief([[1.1, 2.0, 0.4], [0.6, -0.2, 3.0]], [[0.02, 0.0, 0.7], [0.01, 0.9, 0.0]])
    entries = [(1.1, 0.02, 1.0, 0.01), (0.4, 0.7, 0.0, 1.0), (0.6, 0.01, 0.5, 0.04), (-0.2, 0.9, 0.0, 1.0)]
    expected = sum(0.5 * (s / v + (m - c) ** 2 / v - 1 - np.log(s / v)) for m, s, c, v in entries)
    np.testing.assert_allclose(kl_divergence(belief, error_bar_prior(observed, error)), expected, rtol=1e-12)


def test_a_prior_must_fit(belief):
    with pytest.raises(ValueError, match=r"the inputs need shapes \(3,\) and \(3, 3\)"):
        kl_divergence(belief, GaussianPrior(np.zeros(2), np.eye(2)))
    with pytest.raises(ValueError, match=r"mean \(3,\) and covariance \(2, 2\); the inputs need"):
        kl_divergence(belief, GaussianPrior(np.zeros(3), np.eye(2)))
    with pytest.raises(ValueError, match="positive definite, but its smallest eigenvalue is -1"):
        kl_divergence(belief, GaussianPrior(np.zeros(3), np.diag([1.0, 1.0, -1.0])))
    with pytest.raises(ValueError, match=r"The prior is for \(2, 3\) inputs but the belief is \(6, 3\)"):
        kl_divergence(belief, RowPrior(np.zeros((2, 3)), np.ones((2, 3)), np.zeros(2)))
    with pytest.raises(ValueError, match="error has 1 negative value, first at row 0, column 1"):
        error_bar_prior(np.zeros((1, 2)), [[0.1, -0.1]])


def test_a_row_prior_counts_unknown_entries_only():
    observed = InputBelief.observed([[0.0]])
    assert kl_divergence(observed, error_bar_prior([[0.0]], [[0.01]])) == 0
    # q is free where the prior is a point
    assert kl_divergence(InputBelief([[0.0]], [[1.0]]), error_bar_prior([[0.0]], [[0.0]])) == np.inf


def test_error_bars_need_the_shape_of_the_inputs():
    with pytest.raises(ValueError, match=r"error has shape \(1, 2\) but the inputs have shape \(4, 2\)"):
        error_bar_prior(np.zeros((4, 2)), np.ones((1, 2)))
