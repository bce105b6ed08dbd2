"""A column given the others. Oracles: functions that a GP knows well or badly, and sums over all random numbers."""

import numpy as np
import pytest
from scipy.special import ndtri

from semigp.core.chained.regression import Regression, choose_regression
from semigp.estimators.particles.given_others import _LEAST_SHARE, ColumnModel, Conditional
from semigp.estimators.particles.layout import Layout

ALONE = ((0,), (1,), (2,))


def _chosen(column, others, random):
    table = np.column_stack([others, column])
    return ColumnModel.chosen(Layout.of(table, ALONE), 2, table, np.arange(len(table)), random)


def test_the_share_of_the_gp(random):
    """Nearly all for a smooth function, little for levels at random places; a category and two values have no GP."""
    others = random.normal(size=(150, 2))
    smooth = _chosen(np.sin(others[:, 0]) + others[:, 1], others, random)
    assert smooth.gp_share == 1.0 - _LEAST_SHARE
    signs = np.sign(others[:, 0] * others[:, 1]) * (1.0 + (others[:, 0] > 1.0))
    assert _chosen(signs, others, random).gp_share < 0.3
    table = np.column_stack([others, np.eye(3)[np.arange(150) % 3]])
    layout = Layout.of(table, ((0,), (1,), (2, 3, 4)))
    assert ColumnModel.chosen(layout, 2, table, np.arange(150), random) == ColumnModel(None, 0.0)
    assert ColumnModel.chosen(layout, 0, table, np.arange(2), random) == ColumnModel(None, 0.0)


@pytest.fixture
def number(random):
    """A number given two others, half by a GP and half by three trees."""
    others = random.normal(size=(60, 2))
    table = np.column_stack([others, np.cos(others[:, 0]) + 0.2 * random.normal(size=60)])
    layout = Layout.of(table, ALONE)
    model = ColumnModel(choose_regression(others, table[:, 2]), 0.5)
    return Conditional.on(model, layout, 2, table, np.arange(60), 3, random)


def _all_draws(given, row, count=60):
    """Draws of a row for a grid of choices, normal and uniform numbers."""
    grid = (np.arange(count) + 0.5) / count
    choice, normal, uniform = (each.ravel() for each in np.meshgrid(grid, ndtri(grid), grid, indexing="ij"))
    return given.draw(np.tile(row, (count**3, 1)), choice, normal, uniform)


def test_expectations_are_means_of_draws(number, random):
    """x and x² over a grid of 60³ random numbers; 0.01 for a column of spread 0.4, as leaves hold up to 60 rows."""
    for row in np.column_stack([random.normal(size=(3, 2)), np.full(3, np.nan)]):
        draws = _all_draws(number, row)
        assert draws.min() >= number.layout.lower[2]
        assert draws.max() <= number.layout.upper[2]
        found = number.expectations(row[None], lambda x: np.concatenate([x, x**2], axis=-1))[0]
        np.testing.assert_allclose(found, [draws.mean(), np.mean(draws**2)], atol=0.01)


def test_means_and_what_lies_between(number, random):
    """Half the mean of the trees and half of the GP; between them, a draw of the GP has the weight ½²; 1e-12."""
    rows, normal = random.normal(size=(5, 3)), 0.3 * random.normal(size=5)
    points = rows[:, :2]
    by_trees = np.mean([tree.means(points, number.values) for tree in number.trees], axis=0)[:, 0]
    mean, variance = number.gp.predict(points)
    np.testing.assert_allclose(number.mean(rows)[:, 0], 0.5 * (by_trees + mean), rtol=1e-12)
    expected = 0.75 * by_trees + 0.25 * (mean + np.sqrt(variance) * normal)
    held = np.clip(expected, number.layout.lower[2], number.layout.upper[2])
    np.testing.assert_allclose(number.between(rows, normal), held, rtol=1e-12)


def test_joint_draws_share_an_error(number):
    """Two rows that are the same get draws that differ by noise only, jointly, and by all of it otherwise."""
    rows = np.full((2, 3), 2.5)  # where nothing is known about the function
    number = Conditional(**{**vars(number), "gp_share": 1.0 - 1e-12})
    regression = Regression(0.35, 0.0, 1e-3, 0.1)
    gp = type(number.gp).on(regression, number.gp.predictor.points, np.cos(number.gp.predictor.points[:, 0]))
    number = Conditional(**{**vars(number), "gp": gp})
    numbers = np.zeros(2), np.array([1.0, -1.0]), np.zeros(2)
    free, joint = (np.ptp(number.draw(rows, *numbers, is_joint=is_joint)) for is_joint in (False, True))
    assert joint < 0.5 * free


def test_draws_of_a_category_are_levels(random):
    """One-hot vectors of the known rows, as often as donors have them; expectations are probabilities, to 1e-2."""
    others = random.normal(size=(90, 1))
    table = np.column_stack([others, np.eye(3)[np.digitize(others[:, 0], [-0.5, 0.5])]])
    layout, known = Layout.of(table, ((0,), (1, 2, 3))), np.arange(80)
    model = ColumnModel.chosen(layout, 1, table, known, random)
    given = Conditional.on(model, layout, 1, table, known, 4, random)
    row = np.array([0.6, np.nan, np.nan, np.nan])
    choice, uniform = (each.ravel() for each in np.meshgrid((np.arange(40) + 0.5) / 40, (np.arange(1000) + 0.5) / 1000))
    draws = given.draw(np.tile(row, (40_000, 1)), choice, np.zeros(40_000), uniform)
    assert {tuple(draw) for draw in draws} <= {tuple(level) for level in np.eye(3)}
    found = given.expectations(row[None], lambda x: x)[0]
    np.testing.assert_allclose(found, draws.mean(axis=0), atol=0.01)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.argmax(found) == 2
