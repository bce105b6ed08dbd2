"""Predictions of rows with holes are mixtures: quantiles and densities beside moments and draws."""

import numpy as np
import pytest

from semigp import SemiDescribedGPRegressor


@pytest.fixture(scope="module")
def model():
    """y = |x_0| + x_1 with holes in both."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2))
    y = np.abs(X[:, 0]) + X[:, 1] + 0.05 * random.normal(size=80)
    X[random.random(X.shape) < 0.2] = np.nan
    return SemiDescribedGPRegressor(n_draws=5, random_state=0).fit(X, y)


ROWS = np.array([[0.5, -0.2], [np.nan, 0.3], [1.0, np.nan], [np.nan, np.nan]])


def test_quantiles_agree_with_draws(model):
    """Of 4000 draws, the share below a quantile is its level, within four standard errors of a share."""
    levels = np.array([0.025, 0.25, 0.5, 0.75, 0.975])
    draws = model.sample_y(ROWS, 4000, random_state=0)
    shares = np.mean(draws[None] <= model.quantile(ROWS, levels)[:, :, None], axis=2)
    error = np.sqrt(levels * (1 - levels) / 4000)[:, None]
    assert (np.abs(shares - levels[:, None]) < 4 * error).all()


def test_density_integrates_to_one_with_the_mean_and_std_of_predict(model):
    """Trapezoids on a grid of ten standard deviations to either side: 1e-3."""
    mean, std = model.predict(ROWS, return_std=True)
    for row, centre, spread in zip(ROWS, mean, std, strict=True):
        grid = np.linspace(centre - 10 * spread, centre + 10 * spread, 4001)
        density = np.exp(model.log_density(np.tile(row, (len(grid), 1)), grid))
        step = grid[1] - grid[0]
        assert density.sum() * step == pytest.approx(1.0, abs=1e-3)
        assert (density * grid).sum() * step == pytest.approx(centre, abs=1e-3)
        assert np.sqrt((density * (grid - centre) ** 2).sum() * step) == pytest.approx(spread, rel=5e-3)


def test_rows_without_holes_are_nearly_gaussian(model):
    low, high = model.quantile(ROWS[:1], [0.025, 0.975])[:, 0]
    _, std = model.predict(ROWS[:1], return_std=True)
    assert high - low == pytest.approx(2 * 1.96 * std[0], rel=0.1)
    with pytest.raises(ValueError, match="levels are between 0 and 1"):
        model.quantile(ROWS, [0.5, 1.0])
