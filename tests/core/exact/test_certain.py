"""Exact GPs at certain inputs. Oracles: the dense formulas written out, finite differences, and scikit-learn's GP."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import multivariate_normal, norm
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from semigp.core.exact.at_points import JITTER
from semigp.core.exact.certain import OutputDensity, _loss, fit_hyperparameters, left_out, with_noise

GROUPS = np.array([0, 1, 1])


@pytest.fixture(scope="module")
def table():
    """Three inputs, the last two of which are one group, and two outputs of different noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2]]) + [0.05, 0.5] * random.normal(size=(40, 2))
    return X, Y


@pytest.fixture(scope="module")
def found(table):
    return fit_hyperparameters(*table, GROUPS, None, 30)


def _covariance(parameters, left, right):
    squares = np.sum(((left[:, None] - right[None]) / parameters.lengthscales) ** 2, axis=2)
    return np.exp(-0.5 * squares) + (left * parameters.linear) @ right.T


def _dense(parameters, X, Y, point, y, output):
    """log p(y | point) of one output, by the formulas of every book."""
    known = ~np.isnan(Y[:, output])
    X, values = X[known], Y[known, output]
    noise, scale = parameters.noise[output], parameters.scale[output]
    weights = np.linalg.solve(
        _covariance(parameters, X, X) + (noise + JITTER) * np.eye(len(X)), _covariance(parameters, X, point[None])
    )[:, 0]
    variance = _covariance(parameters, point[None], point[None])[0, 0] - weights @ _covariance(
        parameters, X, point[None]
    )
    return norm.logpdf(y, weights @ values, np.sqrt(scale * (variance[0] + noise)))


def test_loss_is_the_evidence_and_has_its_gradient(table, random):
    """Oracle: -log N(y | 0, s (K + rI)) up to n/2 (log 2π + 1), s the best one (to 2e-3, for the jitter of s); finite
    differences, to 1e-4 of a gradient of about 10."""
    X, Y = table
    for free in random.normal(size=(3, 5)) - [0.0, 0.0, 1.0, 1.0, 1.0]:
        lengthscales, linear, noise = np.exp(free[:2])[GROUPS], np.exp(free[2:4])[GROUPS], np.exp(free[4])
        squares = np.sum(((X[:, None] - X[None]) / lengthscales) ** 2, axis=2)
        K = np.exp(-0.5 * squares) + (X * linear) @ X.T + (noise + JITTER) * np.eye(40)
        scale = np.sum(Y * np.linalg.solve(K, Y), axis=0) / 40
        dense = [multivariate_normal.logpdf(y, cov=s * K, allow_singular=True) for y, s in zip(Y.T, scale, strict=True)]
        constant = 2 * 40 / 2 * (np.log(2 * np.pi) + 1)
        assert _loss(free, X, Y, GROUPS)[0] == pytest.approx(-np.sum(dense) - constant, abs=2e-3)
        value, slope = (lambda some: _loss(some, X, Y, GROUPS)[0]), (lambda some: _loss(some, X, Y, GROUPS)[1])
        assert check_grad(value, slope, free) < 1e-4 * max(1.0, np.abs(slope(free)).max())


def test_a_fit_is_no_worse_than_where_it_started(table, found):
    """More iterations only help, a fit that starts at its own end stays there, and inputs that say nothing have long
    lengthscales."""
    X, Y = table
    brief = fit_hyperparameters(X, Y, GROUPS, None, 2)
    assert brief.log_evidence < found.log_evidence
    again = fit_hyperparameters(X, Y, GROUPS, found, 30)
    assert again.log_evidence >= found.log_evidence - 1e-9
    alone = fit_hyperparameters(X, np.sin(3 * X[:, :1]), np.arange(3), None, 60)
    assert alone.lengthscales[0] < 0.5 * alone.lengthscales[1:].min()


def test_every_output_has_its_noise(found):
    """Oracle: what was added, 0.05² and 0.5² in units of their outputs. A grid of 22 has steps of 1.6; factor 3."""
    np.testing.assert_allclose(np.log(found.noise * found.scale), np.log([0.05**2, 0.5**2]), atol=np.log(3))


@pytest.mark.parametrize(("precision", "tolerance"), [(np.float64, 1e-6), (np.float32, 2e-4)])
def test_densities_are_those_of_scikit_learn(table, random, precision, tolerance):
    """One output, kernel and noise held; 1e-6, and in single precision 2e-4."""
    X, Y = table
    parameters = fit_hyperparameters(X, Y[:, :1], GROUPS, None, 20)
    s, r = parameters.scale[0], parameters.noise[0]

    class Ours(kernels.RBF):  # scikit-learn has no linear kernel with several variances
        def __call__(self, X, Y=None, eval_gradient=False):
            return s * (super().__call__(X, Y) + (X * parameters.linear) @ (X if Y is None else Y).T)

        def diag(self, X):
            return s * (1.0 + X**2 @ parameters.linear)

    oracle = GaussianProcessRegressor(Ours(parameters.lengthscales), alpha=s * (r + JITTER), optimizer=None)
    oracle.fit(X[5:], Y[5:, 0])
    options, targets = random.normal(size=(4, 3, 3)), random.normal(size=(4, 1))
    mean, std = oracle.predict(options.reshape(12, 3), return_std=True)
    expected = norm.logpdf(np.repeat(targets[:, 0], 3), mean, np.sqrt(std**2 + s * r))
    density = OutputDensity.given(parameters, X[5:], Y[5:, :1], precision=precision)
    logs = density.log_densities(options, targets)
    np.testing.assert_allclose(logs.ravel(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_several_noises_and_missing_outputs(table, found, random, is_sparse):
    """Every output by itself, on the rows where it is known, and summed; a missing target adds nothing. 1e-8, and with
    all rows as inducing points, for their jitter, a relative 1e-4."""
    X, Y = table
    holes = Y.copy()
    holes[::3, 1] = np.nan
    options, targets = random.normal(size=(3, 2, 3)), np.array([[0.3, 1.0], [np.nan, 0.4], [np.nan, np.nan]])
    for some in (Y, holes):
        density = OutputDensity.given(found, X, some, X if is_sparse else None, precision=float)
        logs = density.log_densities(options, targets)
        for row, column in np.ndindex(3, 2):
            parts = [_dense(found, X, some, options[row, column], targets[row, j], j) for j in (0, 1)]
            assert logs[row, column] == pytest.approx(np.nansum(parts), rel=1e-4 if is_sparse else 0, abs=1e-8)


def test_an_output_with_holes_is_fitted_on_its_known_rows(table):
    """A single output with NaN has the hyperparameters, to 1e-12, of the table without those rows."""
    X, Y = table
    holes = Y[:, :1].copy()
    holes[1::4] = np.nan
    known = ~np.isnan(holes[:, 0])
    one, other = (
        fit_hyperparameters(X, holes, GROUPS, None, 10),
        fit_hyperparameters(X[known], Y[known, :1], GROUPS, None, 10),
    )
    for name in ("lengthscales", "linear", "noise", "scale", "log_evidence"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)


def test_rows_that_are_left_out():
    """The oracle leaves each row out in turn, with the same hyperparameters, and predicts it from the others."""
    random = np.random.default_rng(3)
    X = random.normal(size=(25, 2))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 0] * X[:, 1], np.cos(X[:, 1])]) + 0.1 * random.normal(size=(25, 3))
    Y[random.random(Y.shape) < 0.2] = np.nan
    groups = np.arange(2)
    fitted = fit_hyperparameters(X, Y[:, :2], groups, None, 20)
    found = with_noise(fitted.free, fitted.log_evidence, X, Y, groups)
    assert found.noise.shape == (3,)
    mean, variance = left_out(found, X, Y)
    for row in range(25):
        others = np.arange(25) != row
        density = OutputDensity.given(found, X[others], Y[others], precision=np.float64)
        expected, spread = density.moments(X[[row]])
        known = ~np.isnan(Y[row])
        np.testing.assert_allclose(mean[row, known], expected[0, known], rtol=1e-6, atol=1e-8)
        # Of the noise, JITTER is known to the inverse only: the variances differ by that much.
        np.testing.assert_allclose(variance[row, known], spread[0, known], rtol=1e-3)
        assert np.isnan(mean[row, ~known]).all()


def test_blocks_that_are_left_out():
    """The oracle leaves each block out in turn. Blocks of single rows are rows."""
    random = np.random.default_rng(4)
    X, blocks = random.normal(size=(30, 2)), random.integers(4, size=30)
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 0] * X[:, 1]]) + 0.1 * random.normal(size=(30, 2))
    Y[3, 0] = np.nan
    found = fit_hyperparameters(X, Y, np.arange(2), None, 20)
    mean, variance = left_out(found, X, Y, blocks)
    for block in range(4):
        rows, known = blocks == block, ~np.isnan(Y[blocks == block])
        expected, spread = OutputDensity.given(found, X[~rows], Y[~rows], precision=np.float64).moments(X[rows])
        np.testing.assert_allclose(mean[rows][known], expected[known], rtol=1e-6, atol=1e-8)
        spread += JITTER * found.scale  # which only the inverse knows of
        np.testing.assert_allclose(variance[rows][known], spread[known], rtol=1e-6)
    for one, other in zip(left_out(found, X, Y, np.arange(30)), left_out(found, X, Y), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
