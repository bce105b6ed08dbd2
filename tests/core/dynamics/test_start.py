"""The start of a fit is the answer of the linear model, in a form that the fit can use."""

import jax
import numpy as np
import pytest

from semigp.core.dynamics.linear import identify
from semigp.core.dynamics.start import spread_points, start


@pytest.mark.parametrize("cap", [1e-2, np.inf])
def test_start_is_the_answer_of_the_linear_model(random, cap):
    values = np.sin(np.arange(70) / 4)[:, None] + 0.1 * random.normal(size=(70, 1))
    inputs, is_first = random.normal(size=(70, 1)), np.isin(np.arange(70), [0, 40])
    model, data = start(values, values, inputs, is_first, 2, 9, cap, 0)
    linear, moments = identify(values, values, inputs, is_first, 2, cap, 0)
    chain = data.reference.chain
    np.testing.assert_allclose(chain.mean[:70], moments.mean)
    np.testing.assert_allclose(chain.factor[:70] @ np.swapaxes(chain.factor[:70], 1, 2), moments.noise)
    assert data.is_real.sum() == 70
    assert data.is_first[70:].all()
    expected = np.diag(linear.process) if cap == np.inf else np.full(2, cap)
    np.testing.assert_allclose(model.transition.noise_variance, expected)
    assert model.transition.inducing_inputs.shape == (9, 3)
    assert model.observation.inducing_inputs.shape == (9, 2)


def test_series_of_nearly_the_same_length_share_one_program(random):
    """A program is compiled for shapes, and these are the same from 241 to 256 steps."""
    shapes = []
    for n in (241, 250, 256):
        values, inputs = random.normal(size=(n, 1)), random.normal(size=(n, 1))
        begin = start(values, values, inputs, np.arange(n) == 0, 2, 9, 1e-2, 0)
        shapes.append([np.shape(leaf) for leaf in jax.tree.leaves(begin)])
    assert shapes[0] == shapes[1] == shapes[2]


def test_points_are_spread(random):
    """The first two of three far points, and then none of a cluster before the third."""
    points = np.concatenate([0.01 * random.normal(size=(30, 2)), [[10.0, 0.0], [0.0, 10.0], [-10.0, -10.0]]])
    chosen = spread_points(points, 4, random)
    assert sum(np.abs(chosen).max(axis=1) > 5) == 3
