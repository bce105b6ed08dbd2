"""Missing values of a series. Oracle: the conditional Gaussian of a linear process."""

import numpy as np

from semigp.core.exact import gaps as gaps_module
from semigp.core.exact.gaps import Gaps, infer_gaps
from semigp.core.exact.gp import ExactModel
from semigp.core.kernels import RBF, Linear


def test_a_gap_between_two_values_of_a_linear_process():
    """x' = a x + ε with a known well: the middle value is N((a x₋ + a x₊)/(1 + a²), σ²/(1 + a²)); a is known to 2 %."""
    random, a, sigma = np.random.default_rng(0), 0.8, 0.3
    values = [1.0]
    for _ in range(300):
        values.append(a * values[-1] + sigma * random.normal())
    series = np.array(values)[:, None]
    slope = series[1:, 0] @ series[:-1, 0] / (series[:-1, 0] @ series[:-1, 0])
    before, after = series[149, 0], series[151, 0]
    series[150] = np.nan
    model = ExactModel(Linear(np.array([1.0])), sigma**2)
    gaps = infer_gaps(series, np.zeros(series.shape), [model], 1, np.zeros((301, 0)))
    assert (gaps.steps.tolist(), gaps.columns.tolist()) == ([150], [0])
    np.testing.assert_allclose(gaps.mean, slope * (before + after) / (1 + slope**2), atol=0.02)
    np.testing.assert_allclose(gaps.covariance, sigma**2 / (1 + slope**2), rtol=0.05)


def test_draws_and_filling():
    """Moments of 20,000 draws: standard errors of 0.007 and 0.01 of the largest."""
    covariance = np.array([[1.0, 0.6], [0.6, 0.5]])
    gaps = Gaps(np.array([0, 2]), np.array([1, 0]), np.array([3.0, -1.0]), covariance)
    draws = gaps.draws(20_000, 0)
    np.testing.assert_allclose(draws.mean(axis=0), [3.0, -1.0], atol=0.04)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.05)
    values = np.array([[1.0, np.nan], [2.0, 2.0], [np.nan, 4.0]])
    np.testing.assert_array_equal(gaps.filled(values), [[1.0, 3.0], [2.0, 2.0], [-1.0, 4.0]])
    np.testing.assert_array_equal(gaps.filled(values, np.zeros(2))[[0, 2], [1, 0]], 0.0)
    assert np.isnan(values).sum() == 2  # as they were


def test_a_gap_of_a_process_with_a_single_lag():
    """x(t) = a x(t - 3) + ε: the value between is N(a (x₋ + x₊)/(1 + a²), σ²/(1 + a²)), of three steps away."""
    random, a, sigma = np.random.default_rng(0), 0.8, 0.3
    series = np.zeros((600, 1))
    for t in range(3, 600):
        series[t] = a * series[t - 3] + sigma * random.normal()
    slope = series[3:, 0] @ series[:-3, 0] / (series[:-3, 0] @ series[:-3, 0])
    around = series[[297, 303], 0].sum()
    series[300] = np.nan
    model = ExactModel(Linear(np.array([1.0])), sigma**2)
    gaps = infer_gaps(series, np.zeros(series.shape), [model], np.array([3]), np.zeros((600, 0)))
    np.testing.assert_allclose(gaps.mean, slope * around / (1 + slope**2), atol=0.02)
    np.testing.assert_allclose(gaps.covariance, sigma**2 / (1 + slope**2), rtol=0.05)


def test_derivatives_of_the_density_with_some_lags(random):
    """Lags 5, 2 and 1, two columns and a covariate: gradient and curvature by central differences."""
    values, covariates = random.normal(size=(20, 2)), random.normal(size=(20, 1))
    values[[3, 9, 10, 19], [0, 1, 0, 1]] = np.nan
    models = [ExactModel(RBF(1.0, np.linspace(1, 2, 7)) + Linear(np.full(7, 0.1)), noise) for noise in (0.1, 0.3)]
    density = gaps_module._Density(values, models, np.array([5, 2, 1]), covariates)
    z, step = random.normal(size=4), 1e-5
    _, gradient = density.loss(z)
    ends = [[density.loss(z + sign * step * row) for sign in (1, -1)] for row in np.eye(4)]
    np.testing.assert_allclose(gradient, [(up[0] - down[0]) / (2 * step) for up, down in ends], rtol=1e-6, atol=1e-7)
    curvature = [(up[1] - down[1]) / (2 * step) for up, down in ends]
    np.testing.assert_allclose(density.curvature(z), curvature, rtol=1e-5, atol=1e-6)


def test_the_windows_with_a_gap_come_first(monkeypatch):
    """With lags 7 and 1, a gap at step 20 is in the windows of steps 21 and 27."""
    monkeypatch.setattr(gaps_module, "_MAX_ROWS", 5)
    is_missing = np.arange(40) == 20
    np.testing.assert_array_equal(gaps_module._targets(is_missing, np.array([7, 1])), [20, 21, 27, 38, 39])
