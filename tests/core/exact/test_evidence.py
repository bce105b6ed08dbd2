"""The evidence in NumPy, against the same in JAX and its automatic derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from semigp.core.exact.at_points import BumpsAndLines, inverse_of
from semigp.core.exact.evidence import NOISE_FLOOR, Evidence
from semigp.core.kernels import RBF, Linear
from tests.oracles import exact_log_evidence


@pytest.fixture
def problem(random):
    inputs = random.normal(size=(40, 3))
    return inputs, np.sin(inputs[:, 0]) + 0.5 * inputs[:, 1]


@pytest.mark.parametrize(("noise", "tolerance"), [(0.05, 1e-10), (1e-9, 1e-5)])
def test_value_and_slopes_are_those_of_jax(problem, noise, tolerance):
    """Two orders of summation: 1e-10; with a condition number of 1e9, roundings of 1e-16 become 1e-7 and more."""
    lengthscales, linear = np.array([0.9, 1.6, 3.0]), np.array([0.3, 0.1, 0.01])

    @jax.jit
    def of_logs(amplitude, lengthscales, linear, noise):
        kernel = RBF(jnp.exp(amplitude), jnp.exp(lengthscales)) + Linear(jnp.exp(linear))
        return exact_log_evidence(kernel, jnp.exp(noise), *map(jnp.asarray, problem))

    with jax.enable_x64(True):
        logs = [jnp.log(jnp.asarray(each, float)) for each in (0.7, lengthscales, linear, noise)]
        expected, gradients = jax.value_and_grad(of_logs, argnums=(0, 1, 2, 3))(*logs)
    value, slopes = Evidence(*problem)(BumpsAndLines(0.7, lengthscales, linear), noise)
    assert value == pytest.approx(float(expected), rel=tolerance)
    for found, gradient in zip(slopes, gradients, strict=True):
        np.testing.assert_allclose(found, gradient, rtol=tolerance, atol=tolerance)


def test_the_value_is_the_normal_density(problem):
    inputs, targets = problem
    kernel = BumpsAndLines(0.7, np.array([0.9, 1.6, 3.0]), np.array([0.3, 0.1, 0.01]))
    covariance = kernel(inputs, inputs) + (0.01 + NOISE_FLOOR) * np.eye(40)
    expected = scipy.stats.multivariate_normal(np.zeros(40), covariance).logpdf(targets)
    assert Evidence(inputs, targets)(kernel, 0.01)[0] == pytest.approx(expected, abs=1e-9)


def test_the_arrays_that_are_kept_carry_nothing_over(problem):
    """The same digits, whatever was evaluated before."""
    kernel, evidence = BumpsAndLines(0.7, np.ones(3), np.ones(3)), Evidence(*problem)
    first = evidence(kernel, 0.1)
    evidence(BumpsAndLines(2.0, np.full(3, 0.1), np.zeros(3)), 1.0)
    np.testing.assert_array_equal(
        np.concatenate([np.ravel(each) for each in evidence(kernel, 0.1)[1]]),
        np.concatenate([np.ravel(each) for each in first[1]]),
    )


def test_large_matrices_are_inverted_by_halves(random):
    """600 rows, two levels of halves: the inverse and the determinant of NumPy, to 1e-10."""
    root = random.normal(size=(600, 600))
    covariance = root @ root.T / 600 + np.eye(600)
    inverse, log_determinant = inverse_of(covariance)
    np.testing.assert_allclose(inverse, np.linalg.inv(covariance), atol=1e-10)
    assert log_determinant == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-10)


def test_a_covariance_that_is_not_positive_definite(problem):
    inputs, targets = problem
    with pytest.raises(np.linalg.LinAlgError):
        Evidence(inputs, targets)(BumpsAndLines(1e12, np.full(3, 1e3), np.zeros(3)), 1e-20)
