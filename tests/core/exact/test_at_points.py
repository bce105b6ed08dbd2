"""Predictions at many points. Oracles: dense formulas, other precisions, and the same points in other company."""

import numpy as np
import pytest

from semigp.core.exact import at_points
from semigp.core.exact.at_points import BumpsAndLines, Predictor, factor_of, inverse_of_lower

KERNEL = BumpsAndLines(0.8, np.array([0.7, 1.5, 3.0]), np.array([0.1, 0.0, 0.3]))
NOISES = (np.array([0.05, 0.05]), np.array([0.05, 0.4]))


def _dense(left, right):
    squares = np.sum(((left[:, None] - right[None]) / KERNEL.lengthscales) ** 2, axis=2)
    return 0.8 * np.exp(-0.5 * squares) + (left * KERNEL.linear) @ right.T


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    return random.normal(size=(60, 3)), random.normal(size=(60, 2)), random.normal(size=(150, 3))


def test_kernel(rows):
    """Pair by pair; 1e-12."""
    X, _, new = rows
    np.testing.assert_allclose(KERNEL(new, X), _dense(new, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(KERNEL.variance(new), np.diag(_dense(new, new)), rtol=1e-12)


def _expected(X, Y, new, noise):
    """Mean (k, p), and the part of k(x, x) that rows explain, of every output by itself."""
    means, explained = [], []
    for y, r in zip(Y.T, noise, strict=True):
        weights = np.linalg.solve(_dense(X, X) + r * np.eye(len(X)), _dense(X, new))
        means.append(weights.T @ y)
        explained.append(np.sum(weights * _dense(X, new), axis=0))
    return np.stack(means, axis=1), np.stack(explained, axis=1)


@pytest.mark.parametrize("noise", NOISES, ids=["one noise", "two noises"])
@pytest.mark.parametrize(("precision", "tolerance"), [(float, 1e-10), (np.float32, 1e-4)])
def test_exact_moments(rows, noise, precision, tolerance):
    X, Y, new = rows
    mean, explained = Predictor.exact(KERNEL, X, Y, noise, precision).moments(new)
    expected = _expected(X, Y, new, noise)
    np.testing.assert_allclose(mean, expected[0], atol=tolerance)
    np.testing.assert_allclose(np.broadcast_to(explained, mean.shape), expected[1], atol=tolerance)


@pytest.mark.parametrize("noise", NOISES, ids=["one noise", "two noises"])
@pytest.mark.parametrize(("precision", "tolerance"), [(float, 1e-4), (np.float32, 1e-2)])
def test_sparse_moments(rows, noise, precision, tolerance):
    """With all rows as inducing inputs it is the exact GP, but for the jitter: 1e-6, in single precision 1e-4, over the
    least noise variance, and a factor for the size of the weights."""
    X, Y, new = rows
    mean, explained = Predictor.sparse(KERNEL, X, X, Y, noise, precision).moments(new)
    expected = _expected(X, Y, new, noise)
    np.testing.assert_allclose(mean, expected[0], atol=10 * tolerance)
    np.testing.assert_allclose(explained, expected[1], atol=tolerance)


def test_few_inducing_inputs(rows):
    """Oracle: the formulas of a sparse GP, with Q = K_xz K_zz⁻¹ K_zx in place of K; 1e-6, for the jitter of K_zz."""
    X, Y, new = rows
    Z, r = X[:10], 0.05
    inverse = np.linalg.inv(_dense(Z, Z) + at_points.JITTER * np.eye(10))
    across, among = _dense(new, Z) @ inverse @ _dense(Z, X), _dense(X, Z) @ inverse @ _dense(Z, X)
    mean, explained = Predictor.sparse(KERNEL, Z, X, Y, np.full(2, r), float).moments(new)
    np.testing.assert_allclose(mean, across @ np.linalg.solve(among + r * np.eye(60), Y), atol=1e-6)
    expected = np.sum(across * np.linalg.solve(among + r * np.eye(60), across.T).T, axis=1)
    np.testing.assert_allclose(explained[:, 0], expected, atol=1e-6)


@pytest.mark.parametrize("precision", [float, np.float32])
def test_a_point_as_if_it_were_alone(rows, precision):
    """To the last digit, whatever comes with it."""
    X, Y, new = rows
    predictor = Predictor.exact(KERNEL, X, Y, NOISES[0], precision)
    together = predictor.moments(new)
    for place in (0, 63, 64, 149):
        alone = predictor.moments(new[place : place + 1])
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_array_equal(one[place], other[0])


@pytest.mark.parametrize("precision", [float, np.float32])
@pytest.mark.parametrize("noise", NOISES, ids=["one noise", "two noises"])
def test_the_way_of_accelerators(rows, noise, precision, monkeypatch):
    """The programs for accelerators, run here in blocks of 64: as without, to rounding."""
    X, Y, new = rows
    here = [make(precision, X, Y, noise).moments(new) for make in (_exact, _sparse)]
    monkeypatch.setattr(at_points, "has_accelerator", lambda: True)
    monkeypatch.setattr(at_points, "_LARGE", 0.0)
    monkeypatch.setattr(at_points, "_POINTS_ON_DEVICE", 64)
    there = [make(precision, X, Y, noise).moments(new) for make in (_exact, _sparse)]
    tolerance = 1e-10 if precision is float else 2e-3
    for one, other in zip(here, there, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, atol=tolerance)


def _exact(precision, X, Y, noise):
    return Predictor.exact(KERNEL, X, Y, noise, precision)


def _sparse(precision, X, Y, noise):
    return Predictor.sparse(KERNEL, X[:10], X, Y, noise, precision)


@pytest.mark.parametrize("n", [1, 7, 128, 129, 300])
def test_inverse_of_lower(n):
    """The product with the matrix is the identity, to 1e-10, and the upper half is zero."""
    lower = np.tril(np.random.default_rng(n).normal(size=(n, n)) / np.sqrt(n)) + 2.0 * np.eye(n)
    inverse = inverse_of_lower(lower)
    np.testing.assert_allclose(inverse @ lower, np.eye(n), atol=1e-10)
    np.testing.assert_array_equal(np.triu(inverse, 1), 0.0)


def test_a_factor_of_a_matrix_that_is_singular_to_rounding(random):
    """Without jitter where none is needed; otherwise with at most 1e-4 of the mean variance; else a sentence."""
    root = random.normal(size=(20, 3))
    regular, singular = root @ root.T + np.eye(20), root @ root.T - 1e-12 * np.eye(20)
    np.testing.assert_array_equal(factor_of(regular), np.linalg.cholesky(regular))
    found = factor_of(singular)
    np.testing.assert_allclose(found @ found.T, singular, atol=1e-8 * np.trace(singular))
    with pytest.raises(np.linalg.LinAlgError, match="check the scale of the series"):
        factor_of(-regular)
