"""What is computed on the devices for L-BFGS. Oracle: the same in NumPy, the tree as one vector."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.devices import programs
from semigp.core.devices.programs import PAIRS, inner_product

pytestmark = pytest.mark.usefixtures("x64")


def _tree(random):
    return {"a": random.normal(size=(2, 3)), "b": jnp.asarray(random.normal())}


def _vector(tree):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)])


def test_a_pair_is_remembered_with_its_products(random):
    """Two steps in their places; the products of the second with everything, to rounding."""
    trees = [_tree(random) for _ in range(4)]
    start, *directions = trees[:3]
    gradients = [_tree(random) for _ in range(3)]
    steps = changes = programs._empty(start)
    for slot, direction in enumerate(directions):
        steps, changes, products = programs._remember(
            steps, changes, slot, 0.5, direction, gradients[slot], gradients[slot + 1]
        )
    s = np.zeros((PAIRS, 7))
    s[:2] = [0.5 * _vector(direction) for direction in directions]
    y = np.zeros((PAIRS, 7))
    y[:2] = [_vector(after) - _vector(before) for before, after in itertools.pairwise(gradients)]
    latest = _vector(gradients[2])
    everything = np.concatenate([s, y, latest[None]])
    np.testing.assert_allclose(products, np.stack([s[1], y[1], latest]) @ everything.T, rtol=1e-12, atol=1e-12)

    weights = random.normal(size=2 * PAIRS + 1)
    combined = programs._combine(steps, changes, gradients[2], *np.split(weights, [PAIRS, 2 * PAIRS]))
    np.testing.assert_allclose(_vector(combined), weights @ everything, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(inner_product(start, trees[3]), _vector(start) @ _vector(trees[3]), rtol=1e-12)
    np.testing.assert_allclose(_vector(programs._go(start, 2.0, trees[3])), _vector(start) + 2 * _vector(trees[3]))
