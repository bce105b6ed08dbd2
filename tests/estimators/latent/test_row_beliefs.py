"""Mixtures of Gaussians for rows: moments against draws, and optima that are found twice."""

import numpy as np

from semigp.estimators.latent.row_beliefs import RowBeliefs


def test_an_optimum_found_twice_counts_once():
    """Three starts of one row: two end in the same place, and the bounds of the two places differ by log 3."""
    mean = np.array([[[0.0]], [[0.001]], [[5.0]]])
    beliefs = RowBeliefs.weighed(mean, np.ones((3, 1, 1)), np.log(np.array([[3.0], [3.0], [1.0]])))
    np.testing.assert_allclose(beliefs.weight[:, 0], [0.75, 0.0, 0.25])
    assert [number for number, *_ in beliefs.parts()] == [0, 2]


def test_moments_of_a_mixture():
    """By hand: means 0 and 4 with weights ¾ and ¼, variances 1 and 2."""
    beliefs = RowBeliefs(np.array([[[0.0]], [[4.0]]]), np.array([[[1.0]], [[2.0]]]), np.array([[0.75], [0.25]]))
    mean, variance = beliefs.moments()
    np.testing.assert_allclose(mean, [[1.0]])
    np.testing.assert_allclose(variance, [[0.75 * 1 + 0.25 * 2 + 0.75 * 1 + 0.25 * 9]])
