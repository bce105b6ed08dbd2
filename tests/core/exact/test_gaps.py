"""Missing values of a series. Oracle: the conditional Gaussian of a linear process."""

import numpy as np

from semigp.core.exact.gaps import Gaps, infer_gaps
from semigp.core.exact.gp import ExactModel
from semigp.core.kernels import Linear


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
