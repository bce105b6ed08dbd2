"""Random features. Oracles: NumPy's cosine, and the moments of the spectral densities."""

import jax
import numpy as np
import pytest

from semigp.core.kernels.spectral import ConstantFeature, CosineFeatures, JoinedFeatures, LinearFeatures, cosine
from semigp.core.numerics.precision import in_float64


def test_cosine_is_exact_to_eleven_digits():
    x = np.linspace(-300.0, 300.0, 100_001)
    np.testing.assert_allclose(in_float64(jax.jit(cosine))(x), np.cos(x), atol=2e-11)


@pytest.mark.usefixtures("x64")
def test_features_of_a_sum_stand_side_by_side(random):
    """√(2v/f) cos(xω + b) x₁, x √v and √v, as their docstrings have them; the cosine is good to 1e-11."""
    x, frequencies, phases = random.normal(size=(3, 2)), random.normal(size=(2, 5)), random.random(5)
    waves = CosineFeatures(np.array(1.7), frequencies, phases, np.array([0.0, 1.0]))
    joined = JoinedFeatures((waves, LinearFeatures(np.array([0.5, 2.0])), ConstantFeature(np.array(0.3))))
    expected = np.sqrt(2 * 1.7 / 5) * np.cos(x @ frequencies + phases) * x[:, 1:]
    expected = np.column_stack([expected, x * [0.5, 2.0], np.full(3, 0.3)])
    np.testing.assert_allclose(joined(x), expected, atol=1e-10)
