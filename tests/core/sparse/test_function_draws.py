"""Functions drawn from the posterior. Oracle: its predictive moments, by Monte Carlo."""

import jax
import numpy as np
import pytest

from semigp.core import InputBelief, Linear, Matern52

from .test_posterior import KERNEL, LENGTHSCALE, NEW_MEAN, fitted


@pytest.fixture
def posterior(random):
    return fitted(random)


@pytest.mark.parametrize("kernel", [KERNEL, Matern52(1.0, LENGTHSCALE) + Linear(0.5)], ids=["rbf", "matern52 + linear"])
def test_function_draws(random, kernel):
    """Oracle: predictive moments. Standard errors: σ/√s of a mean, and at most √2 σ²/√s of a variance, for s draws."""
    posterior = fitted(random, kernel)
    new, s = random.normal(size=(5, 2)), 4000
    draws = posterior.sample_functions(jax.random.key(1), s, n_features=200)
    values = draws(new)  # [s, 5, 3]
    assert values.shape == (s, 5, 3)
    mean, variance = posterior.predict(InputBelief.observed(new))
    std = np.sqrt(variance)
    np.testing.assert_array_less(np.abs(values.mean(0) - mean), 5 * std / np.sqrt(s) + 1e-12)
    # random features have heavier tails than a Gaussian: kurtosis below 4.5 with 200 of them
    np.testing.assert_array_less(np.abs(values.var(0) - variance), 5 * np.sqrt(3.5 / s) * variance + 1e-12)
    np.testing.assert_allclose(draws.each(np.tile(new[0], (s, 1))), values[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(draws.along(np.tile(new, (s, 1, 1))), values, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="draws needs one"):
        draws.along(new[None])
    # one draw is one function: close inputs, close values
    close = draws(np.array([[0.1, 0.2], [0.1 + 1e-4, 0.2]]))
    assert np.abs(close[:, 0] - close[:, 1]).max() < 1e-2


def test_deterministic_for_a_key(posterior):
    first, second = (posterior.sample_functions(jax.random.key(7), 3)(NEW_MEAN) for _ in range(2))
    np.testing.assert_array_equal(first, second)
