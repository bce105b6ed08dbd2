"""Donors from the leaves of random trees. Oracle: the leaves of all rows, gone through one by one."""

import numpy as np
import pytest

from semigp.estimators.particles.donors import _SMALLEST_LEAF, Tree


@pytest.fixture
def rows(random):
    points = random.normal(size=(80, 3))
    return points, np.column_stack([np.sin(points[:, 0]), points[:, 1]])


def test_donors_and_means_come_from_the_same_leaf(rows, random):
    """Every number between 0 and 1 chooses a row of the leaf, all of them equally often; means to 1e-12."""
    points, values = rows
    tree, new = Tree.grown(points, values, random), random.normal(size=(15, 3))
    leaves, own = tree.leaves(points), tree.leaves(new)
    grid = (np.arange(240) + 0.5) / 240
    for point, leaf in zip(new, own, strict=True):
        here = np.flatnonzero(leaves == leaf)
        donors = tree.donors(np.tile(point, (240, 1)), grid)
        assert set(donors) == set(here)
        assert np.ptp(np.unique(donors, return_counts=True)[1]) <= 1
        np.testing.assert_allclose(tree.means(point[None], values)[0], values[here].mean(axis=0), atol=1e-12)
    assert tree.donors(new, np.full(15, np.nextafter(1.0, 0.0))).max() < 80


def test_trees_are_grown_on_some_rows_and_all_are_donors(rows):
    points, values = rows
    tree = Tree.grown(points, values, np.random.default_rng(1))
    assert len(tree.drawn) == 80
    assert 30 < len(np.unique(tree.drawn)) < 70  # a bootstrap sample holds 63 % of the rows
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(80))
    assert np.bincount(tree.leaves(points[tree.drawn])).max() >= _SMALLEST_LEAF
    again, other = (Tree.grown(points, values, np.random.default_rng(seed)) for seed in (1, 2))
    np.testing.assert_array_equal(again.leaves(points), tree.leaves(points))
    assert not np.array_equal(other.leaves(points), tree.leaves(points))


def test_a_leaf_that_no_row_reaches_does_not_exist(rows, random):
    """Leaves hold rows of the sample, which are donors, too: any point has one, however far away."""
    points, values = rows
    tree = Tree.grown(points, values, random)
    assert np.isfinite(tree.means(1e6 * random.normal(size=(50, 3)), values)).all()
