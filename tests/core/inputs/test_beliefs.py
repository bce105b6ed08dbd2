"""What is known about the inputs."""

import jax
import numpy as np

from semigp.core import InputBelief

MEAN = np.arange(8.0).reshape(4, 2)
VARIANCE = np.array([[0.0, 0.0], [0.0, 0.3], [0.0, 0.0], [1.0, 1.0]])


def test_observed_rows_and_others():
    belief = InputBelief(MEAN, VARIANCE)
    (rows, mean, variance), (others, other_mean, other_variance) = belief.blocks()
    np.testing.assert_array_equal(rows, [0, 2])
    np.testing.assert_array_equal(mean, MEAN[[0, 2]])
    assert variance is None
    np.testing.assert_array_equal(others, [1, 3])
    np.testing.assert_array_equal(other_mean, MEAN[[1, 3]])
    np.testing.assert_array_equal(other_variance, VARIANCE[[1, 3]])
    assert repr(belief) == "InputBelief(4 rows, 2 inputs: 2 observed, 2 uncertain)"


def test_no_block_is_empty():
    assert [variance is None for *_, variance in InputBelief.observed(MEAN).blocks()] == [True]
    assert [variance is None for *_, variance in InputBelief(MEAN, np.ones((4, 2))).blocks()] == [False]


def test_one_entry_of_a_full_covariance_makes_a_row_uncertain():
    covariance = np.zeros((4, 2, 2))
    covariance[1, 0, 0] = 0.1
    np.testing.assert_array_equal(InputBelief(MEAN, covariance).split.uncertain, [1])


def test_the_split_is_structure():
    """A belief that is mapped keeps it, and beliefs with other observed rows have another."""
    belief, other = InputBelief(MEAN, VARIANCE), InputBelief(MEAN, VARIANCE[::-1])
    assert jax.tree.map(lambda leaf: 2.0 * leaf, belief).split == belief.split
    assert jax.tree.structure(belief) != jax.tree.structure(other)
