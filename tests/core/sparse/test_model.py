"""The objective of a data set with holes. Oracles: the public bound and KL, which have oracles of their own."""

import dataclasses

import jax
import numpy as np
import pytest

from semigp.core import RBF, GaussianPrior, InputBelief, StandardPrior, collapsed_bound, error_bar_prior, kl_divergence
from semigp.core.hyperpriors import LogNormal
from semigp.core.numerics.precision import in_float64
from semigp.core.sparse.model import input_belief, make_data, objective, posterior, start

value = in_float64(jax.jit(objective))
KERNEL = RBF(1.3, np.array([0.8, 1.5]))


@pytest.fixture
def rows(random):
    inputs, targets = random.normal(size=(15, 2)), random.normal(size=(15, 3))
    holes = inputs.copy()
    holes[random.random(inputs.shape) < 0.3] = np.nan
    return inputs, holes, targets


def test_objective_is_bound_minus_kl(rows):
    _, holes, targets = rows
    data = make_data(holes, targets)
    model = start(data, KERNEL, np.eye(2), 0.1, variance=0.3)
    missing = np.isnan(holes)
    belief = InputBelief(np.where(missing, 0.0, holes), np.where(missing, 0.3, 0.0))
    expected = collapsed_bound(KERNEL, belief, np.eye(2), targets, 0.1) - kl_divergence(belief)
    np.testing.assert_allclose(value(model, data), expected, rtol=1e-12)
    np.testing.assert_array_equal(input_belief(model, data).mean, belief.mean[missing.any(axis=1)])


def test_nothing_missing_is_sparse_gp_regression(rows):
    inputs, _, targets = rows
    data = make_data(inputs, targets)
    model = start(data, KERNEL, np.eye(2), 0.1)
    expected = collapsed_bound(KERNEL, InputBelief.observed(inputs), np.eye(2), targets, 0.1)
    np.testing.assert_allclose(value(model, data), expected, rtol=1e-12)


def test_everything_missing_is_a_bayesian_gplvm(rows):
    inputs, _, targets = rows
    data = make_data(np.full_like(inputs, np.nan), targets)
    assert data.observed is None
    model = start(data, KERNEL, np.eye(2), 0.1, variance=0.7)
    belief = InputBelief(np.zeros_like(inputs), np.full_like(inputs, 0.7))
    expected = collapsed_bound(KERNEL, belief, np.eye(2), targets, 0.1) - kl_divergence(belief)
    np.testing.assert_allclose(value(model, data), expected, rtol=1e-12)


def test_correlated_prior_starts_at_the_conditional_mean(rows):
    _, holes, targets = rows
    prior = GaussianPrior(np.array([0.5, -0.2]), np.array([[1.0, 0.8], [0.8, 1.0]]))
    data = make_data(holes, targets, prior=prior)
    belief = input_belief(start(data, KERNEL, np.eye(2), 0.1, variance=0.36), data)
    row = np.isnan(holes[np.isnan(holes).any(axis=1)])
    first_only = belief.mean[row[:, 0] & ~row[:, 1]]
    np.testing.assert_allclose(first_only[:, 0], 0.5 + 0.8 * (first_only[:, 1] + 0.2), rtol=1e-12)


def test_filling_up_changes_nothing(random):
    """35 observed rows become 40, 17 others 24. Oracle: the public bound, which fills nothing up."""
    inputs, targets = random.normal(size=(52, 2)), random.normal(size=(52, 3))
    inputs[:17, 0] = np.nan
    targets[random.random(targets.shape) < 0.1] = np.nan
    data = make_data(inputs, targets)
    model = start(data, KERNEL, np.eye(2), 0.1, variance=0.3)
    assert (len(data.observed.mean), len(data.values)) == (40, 24)
    belief = InputBelief(np.nan_to_num(inputs), np.where(np.isnan(inputs), 0.3, 0.0))
    expected = collapsed_bound(KERNEL, belief, np.eye(2), targets, 0.1) - kl_divergence(belief)
    np.testing.assert_allclose(value(model, data), expected, rtol=1e-12)
    np.testing.assert_array_equal(input_belief(model, data).mean, belief.mean[:17])
    np.testing.assert_array_equal(data.rows, [*range(17), *[-1] * 7])


@pytest.mark.parametrize("constrain_means", [False, True])
def test_error_bars(rows, constrain_means):
    """Figure 1: a prior around the observation with q free, or q's mean pinned at it."""
    inputs, _, targets = rows
    error = np.zeros_like(inputs)
    error[3:7, 0] = 0.5
    data = make_data(inputs, targets, error, constrain_means=constrain_means)
    model = start(data, KERNEL, np.eye(2), 0.1, variance=0.2)
    assert data.values.shape == (8, 2)
    np.testing.assert_array_equal(data.mean_is_free[:4], (error[3:7] > 0) & (not constrain_means))
    belief = InputBelief(inputs, np.where(error > 0, 0.2, 0.0))
    prior = None if constrain_means else error_bar_prior(inputs, error)
    expected = collapsed_bound(KERNEL, belief, np.eye(2), targets, 0.1) - kl_divergence(belief, prior)
    np.testing.assert_allclose(value(model, data), expected, rtol=1e-12)


@pytest.mark.parametrize("correlated", [False, True])
def test_error_bars_times_a_given_prior(correlated):
    """Oracle: the textbook product of Gaussians. Row 0 has two bars; row 1 a bar and a known entry; row 2 nothing."""
    inputs, error = (
        np.array([[1.0, 2.0], [0.5, -1.0], [np.nan, np.nan]]),
        np.array([[0.5, 0.3], [0.2, 0.0], [0.0, 0.0]]),
    )
    mean = np.array([0.2, -0.4]) if correlated else np.zeros(2)
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]]) if correlated else np.eye(2)
    prior = GaussianPrior(mean, covariance) if correlated else StandardPrior()
    data = make_data(inputs, np.zeros((3, 1)), error, prior)
    precision = np.linalg.inv(covariance)
    total = precision + np.diag(error[0] ** -2.0)
    expected = np.linalg.solve(total, precision @ mean + inputs[0] / error[0] ** 2)
    np.testing.assert_allclose(data.prior.mean[0], expected, rtol=1e-12)
    np.testing.assert_allclose(data.prior.log_precision[0], np.linalg.slogdet(total)[1], rtol=1e-12)
    # given the known second entry
    slope = covariance[0, 1] / covariance[1, 1]
    conditional = mean[0] + slope * (-1.0 - mean[1])
    weight, bar = 1 / (covariance[0, 0] - slope * covariance[0, 1]), 0.2**-2.0
    np.testing.assert_allclose(data.prior.mean[1, 0], (weight * conditional + bar * 0.5) / (weight + bar), rtol=1e-12)
    np.testing.assert_allclose(data.prior.mean[2], mean, rtol=1e-12)


def test_an_uncertainty_that_underflows_is_no_gain(rows):
    """KL is infinite where q collapses to a point; it must not drop out of the objective."""
    inputs, _, targets = rows
    data = make_data(np.full_like(inputs, np.nan), targets)
    model = start(data, KERNEL, np.eye(2), 0.1)
    collapsed = dataclasses.replace(model, variance=np.zeros_like(model.variance))
    assert value(collapsed, data) == -np.inf


def test_hyperpriors_are_added(rows):
    inputs, _, targets = rows
    plain = make_data(inputs, targets)
    with_prior = make_data(inputs, targets, hyperpriors={"kernel.lengthscale": LogNormal(1.0, 0.5)})
    model = start(plain, KERNEL, np.eye(2), 0.1)
    expected = -0.5 * np.sum((np.log([0.8, 1.5]) / 0.5) ** 2)
    np.testing.assert_allclose(value(model, with_prior) - value(model, plain), expected, rtol=1e-9)
    both = make_data(inputs, targets, hyperpriors={"*variance": LogNormal(1.0)})
    expected = -0.5 * (np.log(1.3) ** 2 + np.log(0.1) ** 2)  # kernel and noise, nothing of q(X)
    np.testing.assert_allclose(value(model, both) - value(model, plain), expected, rtol=1e-9)
    with pytest.raises(
        ValueError, match=r"hyperprior on 'lengthscales' matches no parameter; there are kernel\.variance, kernel\.l"
    ):
        value(model, make_data(inputs, targets, hyperpriors={"lengthscales": LogNormal(1.0)}))


def test_posterior_of_a_model(rows):
    inputs, _, targets = rows
    data = make_data(inputs, targets)
    fitted = posterior(start(data, KERNEL, np.eye(2), 0.1), data)
    mean, variance = fitted.predict(InputBelief.observed(inputs))
    assert mean.shape == variance.shape == targets.shape
