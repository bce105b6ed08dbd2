"""Linear in the last increments. Oracles: the spread of random walks, and recurrences that are known."""

import numpy as np
import pytest

from semigp.estimators.forecasting.priors import Increments
from semigp.estimators.forecasting.searches import Searches

NONE = np.zeros(0, int)


def _fitted(values, seasonal=NONE, covariates=None):
    known = np.zeros((len(values), 0)) if covariates is None else covariates[: len(values)]
    return Increments.fitted(values, known, seasonal, 200, Searches(None))


def test_the_spread_of_a_random_walk_grows_with_the_root_of_the_steps():
    """Five walks of 400 steps of size 0.3. The slopes that are left add persistence: 15 % on average over walks.

    500 paths give each standard deviation to 3 %.
    """
    ratios = []
    for seed in range(5):
        walk = 0.3 * np.cumsum(np.random.default_rng(seed).normal(size=(400, 1)), axis=0)
        paths, _ = _fitted(walk).paths(walk, np.zeros((436, 0)), 500, seed)
        ratios.append(paths.std(axis=0)[[0, 3, 15, 35], 0] / (0.3 * np.sqrt([1, 4, 16, 36])))
    np.testing.assert_allclose(np.mean(ratios, axis=0), 1.0, atol=0.15)


def test_the_mean_of_a_random_walk_stays():
    walk = np.cumsum(np.random.default_rng(0).normal(size=(400, 1)), axis=0)
    paths, _ = _fitted(walk).paths(walk, np.zeros((410, 0)), 500, 0)
    assert np.abs(paths.mean(axis=0)[:, 0] - walk[-1]).max() < 0.5 * np.sqrt(10)


@pytest.mark.parametrize("name", ["line", "square", "growth"])
def test_polynomials_and_exponentials_are_continued(name):
    """Their increments obey a linear recurrence: 1e-3 of the last increment over five steps, without noise."""
    time = np.arange(65.0)[:, None]
    values = {"line": time, "square": time**2, "growth": np.exp(time / 20.0)}[name]
    values = (values - values[:60].mean()) / values[:60].std()
    paths, _ = _fitted(values[:60]).paths(values[:60], np.zeros((65, 0)), 50, 0)
    assert np.abs(paths.mean(axis=0) - values[60:]).max() < 1e-3 * abs(values[60, 0] - values[59, 0])


def test_a_season_is_seen_through_its_lags():
    """Increments that come again after 12 steps, with noise of 2 %: errors of twelve steps add up to less than 0.8."""
    random = np.random.default_rng(0)
    pattern = random.normal(size=12)
    walk = np.cumsum(np.tile(pattern, 6) + 0.02 * random.normal(size=72))[:, None]
    prior = _fitted(walk[:60], np.array([12, 13]))
    assert set(prior.lags[0]) >= {12, 13, 1}
    paths, _ = prior.paths(walk[:60], np.zeros((72, 0)), 200, 0)
    np.testing.assert_allclose(paths.mean(axis=0)[:, 0], walk[60:, 0], atol=0.8)


def test_covariates_drive_the_increments(random):
    """Increments are 2 x: exactly, so that the path is the sum of what is known in advance."""
    x = random.normal(size=(110, 1))
    walk = np.cumsum(2.0 * x, axis=0)
    paths, _ = _fitted(walk[:100], covariates=x).paths(walk[:100], x, 50, 0)
    np.testing.assert_allclose(paths.mean(axis=0), walk[100:], atol=0.05)


def test_columns_have_their_own_windows_and_units(random):
    """One column in units that are 1e6 times smaller: the same paths in these units."""
    walk = np.cumsum(random.normal(size=(80, 1)), axis=0)
    both = np.hstack([walk, 1e6 * walk])
    prior = _fitted(both)
    np.testing.assert_allclose(prior.scales[1] / prior.scales[0], 1e6)
    np.testing.assert_array_equal(prior.lags[0], prior.lags[1])
    np.testing.assert_allclose(prior.models[0].variances, prior.models[1].variances, rtol=1e-5)


def test_three_values_are_enough():
    values = np.array([[0.0], [1.0], [0.5]])
    paths, _ = _fitted(values).paths(values, np.zeros((5, 0)), 10, 0)
    assert np.isfinite(paths).all()
