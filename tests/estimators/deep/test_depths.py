"""Weights of depths. Oracles: a grid of weights, and the rows that speak for a depth."""

import numpy as np
import pytest

from semigp.estimators.deep.chains import Chain
from semigp.estimators.deep.depths import log_mean, stacking_weights, weigh_depths


def test_the_best_mixture_of_two(random):
    """A grid of 10,001 weights, with one row more that speaks for each model."""
    logs = random.normal(size=(50, 2))
    grid = np.linspace(0, 1, 10001)[1:-1]
    wholes = np.log(grid[:, None] * np.exp(logs[:, 0]) + (1 - grid[:, None]) * np.exp(logs[:, 1])).sum(axis=1)
    best = grid[np.argmax(wholes + np.log(grid) + np.log(1 - grid))]
    np.testing.assert_allclose(stacking_weights(logs), [best, 1 - best], atol=2e-4)


def test_rows_decide():
    """If every row speaks for one of them, it has all but one of n + 2 rows."""
    np.testing.assert_allclose(stacking_weights(np.array([[0.0, 50.0]] * 98)), [0.01, 0.99], atol=1e-6)
    np.testing.assert_allclose(stacking_weights(np.zeros((10, 2))), [0.5, 0.5])


def test_log_mean():
    np.testing.assert_allclose(log_mean(np.log([[1.0, 2.0], [3.0, 4.0]])), np.log([2.0, 3.0]))


def _chain(n_layers, number, value):
    return Chain(n_layers, number, np.zeros(20), np.full(20, value), ())


def test_depths_are_compared_on_what_was_held_back_from_all(random):
    """The chain with number 1 of two layers has no counterpart with three, and does not count."""
    chains = [_chain(2, 0, 1.0), _chain(2, 1, -100.0), _chain(3, 0, 50.0)]
    weights = weigh_depths(chains)
    assert list(weights) == [1, 2, 3]
    assert weights[3] == pytest.approx(21 / 23, abs=1e-5)


def test_after_an_interrupt_some_depths_do_not_count():
    assert weigh_depths([]) == {1: 1.0}
    assert list(weigh_depths([_chain(2, 0, 1.0), _chain(3, 1, 1.0)])) == [1, 2]
