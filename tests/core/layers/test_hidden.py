"""A hidden layer. Oracle: its formula, row by row."""

import numpy as np

from semigp.core.layers.hidden import HiddenLayer, through


def _layer(random, factor=1.0):
    return HiddenLayer(random.normal(size=(2, 5)), random.uniform(0, 6, 5), factor * random.normal(size=(5, 2)))


def test_the_formula(random):
    """x + Σ_f w_f cos(ω_fᵀx + b_f), one row and one wave after the other."""
    layer, inputs = _layer(random), random.normal(size=(3, 2))
    for row, bent in zip(inputs, layer(inputs), strict=True):
        waves = [np.cos(layer.frequencies[:, f] @ row + layer.phases[f]) * layer.weights[f] for f in range(5)]
        np.testing.assert_allclose(bent, row + np.sum(waves, axis=0), rtol=1e-12)


def test_without_weights_a_layer_is_the_identity(random):
    inputs = random.normal(size=(4, 2))
    np.testing.assert_array_equal(through([_layer(random, 0.0)] * 2, inputs), np.hstack([inputs, inputs]))


def test_layers_follow_each_other(random):
    first, second, inputs = _layer(random), _layer(random), random.normal(size=(4, 2))
    np.testing.assert_array_equal(through([first, second], inputs)[:, :2], second(first(inputs)))
