"""q(U) and predictions. Oracles: dense formulas, the exact GP, quadrature over certain predictions."""

import jax
import numpy as np
import pytest

from semigp.core import RBF, Bias, InputBelief, Linear, fit_posterior
from tests import oracles

LENGTHSCALE = np.array([0.8, 1.5])
KERNEL, SLOW = RBF(1.3, LENGTHSCALE), oracles.rbf(1.3, LENGTHSCALE)
NOISE, SCALE = np.array([0.1, 0.02, 0.5]), np.array([0.5, 1.0, 2.0])


def fitted(random, kernel=KERNEL, missing_outputs=True):
    mean, inducing = random.normal(size=(25, 2)), random.normal(size=(6, 2))
    variance = np.where(random.random((25, 2)) < 0.5, 0.0, random.uniform(0.1, 1, (25, 2)))
    y = random.normal(size=(25, 3)) * SCALE
    if missing_outputs:
        y[random.random(y.shape) < 0.2] = np.nan
    return fit_posterior(kernel, InputBelief(mean, variance), inducing, y, NOISE, 1e-6, SCALE)


@pytest.fixture
def posterior(random):
    return fitted(random)


def test_exact_gp_when_inducing_points_are_the_inputs(random):
    x, y, new = random.normal(size=(15, 2)), random.normal(size=(15, 1)), random.normal(size=(7, 2))
    posterior = fit_posterior(KERNEL, InputBelief.observed(x), x, y, 0.1, jitter=1e-10)
    mean, variance = posterior.predict(InputBelief.observed(new))
    k, cross = oracles.gram(SLOW, x, x), oracles.gram(SLOW, new, x)
    exact_mean, exact_variance, _ = oracles.exact_gp(k, cross, SLOW(new, new), y[:, 0], 0.1)
    np.testing.assert_allclose(mean[:, 0], exact_mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(variance[:, 0], exact_variance, rtol=1e-6, atol=1e-7)


def test_inducing_distribution(random):
    """Oracle: q(u) = N(β K A⁻¹ Ψ1ᵀ y, K A⁻¹ K) with A = K + β Ψ2, for the outputs one by one."""
    x, y, z = random.normal(size=(20, 2)), random.normal(size=(20, 3)), random.normal(size=(5, 2))
    posterior = fit_posterior(KERNEL, InputBelief.observed(x), z, y, NOISE, jitter=1e-12, output_scale=SCALE)
    means, covariances = posterior.inducing_distribution()
    for d in range(3):
        slow = oracles.rbf(1.3 * SCALE[d] ** 2, LENGTHSCALE)
        k, k_uf = oracles.gram(slow, z, z), oracles.gram(slow, z, x)
        inner = k + k_uf @ k_uf.T / NOISE[d]
        np.testing.assert_allclose(means[:, d], k @ np.linalg.solve(inner, k_uf @ y[:, d]) / NOISE[d], rtol=1e-7)
        np.testing.assert_allclose(covariances[d], k @ np.linalg.solve(inner, k), rtol=1e-7, atol=1e-9)


def test_predictions_follow_from_inducing_distribution(posterior, random):
    """Oracle: p(f | u) integrated over q(u), with its own solves. Good to the conditioning of K_uu times eps."""
    new, z = random.normal(size=(7, 2)), posterior.inducing_inputs
    mean, variance = posterior.predict(InputBelief.observed(new))
    means, covariances = posterior.inducing_distribution()
    for d in range(3):
        slow = oracles.rbf(1.3 * SCALE[d] ** 2, LENGTHSCALE)
        k = oracles.gram(slow, z, z)
        k = k + float(posterior.jitter) * np.mean(np.diagonal(k)) * np.eye(len(z))
        a = np.linalg.solve(k, oracles.gram(slow, z, new))
        np.testing.assert_allclose(mean[:, d], a.T @ means[:, d], rtol=1e-8, atol=1e-10)
        expected = slow(new, new) - np.sum(a * (k @ a), axis=0) + np.sum(a * (covariances[d] @ a), axis=0)
        np.testing.assert_allclose(variance[:, d], expected, rtol=1e-8, atol=1e-10)


NEW_MEAN = np.array([[0.3, -0.8], [1.5, 0.2], [-0.4, 0.1]])
NEW_VARIANCE = np.array([[0.5, 1.2], [0.0, 0.3], [0.0, 0.0]])
NEW_COVARIANCE = np.array([[[0.5, 0.3], [0.3, 0.9]], [[0.2, -0.1], [-0.1, 0.1]], [[1.0, 0.0], [0.0, 0.4]]])


@pytest.mark.parametrize("kernel", [KERNEL, KERNEL + Linear(0.5) + Bias(0.2)], ids=["rbf", "rbf + linear + bias"])
@pytest.mark.parametrize("variance", [NEW_VARIANCE, NEW_COVARIANCE], ids=["diagonal", "full"])
@pytest.mark.parametrize("missing_outputs", [False, True])
def test_uncertain_inputs(random, kernel, variance, missing_outputs):
    """Oracle: quadrature over the predictions at certain inputs, by the laws of total mean and variance."""
    posterior = fitted(random, kernel, missing_outputs)
    belief = InputBelief(NEW_MEAN, variance)
    mean, var = posterior.predict(belief)
    covariance, joint = posterior.covariance(belief), posterior.input_output_covariance(belief)
    for n in range(3):
        if variance.ndim == 3:
            points, weights = oracles.hermite_grid(NEW_MEAN[n], variance[n], nodes=50)
        else:
            points, weights = oracles.grid(NEW_MEAN[n], variance[n], NEW_MEAN[n : n + 1])
        f, v = posterior.predict(InputBelief.observed(points))
        expected = weights @ f
        spread = np.einsum("s,sd,se->de", weights, f - expected, f - expected) + np.diag(weights @ v)
        np.testing.assert_allclose(mean[n], expected, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(covariance[n], spread, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(var[n], np.diagonal(spread), rtol=1e-7, atol=1e-8)
        cross = np.einsum("s,sq,sd->qd", weights, points - NEW_MEAN[n], f)
        np.testing.assert_allclose(joint[n], cross, rtol=1e-7, atol=1e-8)


def test_rows_keep_their_order(posterior):
    """Observed and uncertain rows take different ways and come back where they were."""
    order = [2, 0, 1]
    mean, var = posterior.predict(InputBelief(NEW_MEAN, NEW_VARIANCE))
    mean_2, var_2 = posterior.predict(InputBelief(NEW_MEAN[order], NEW_VARIANCE[order]))
    np.testing.assert_allclose(mean_2, mean[order], rtol=1e-12)
    np.testing.assert_allclose(var_2, var[order], rtol=1e-12)


def test_chunks_change_nothing(posterior, random, monkeypatch):
    belief = InputBelief(random.normal(size=(30, 2)), np.full((30, 2), 0.3))
    whole = posterior.predict(belief)
    monkeypatch.setattr("semigp.core.sparse.posterior.rows_per_chunk", lambda *_: 8)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), posterior.predict(belief), whole)


def test_wrong_number_of_inputs(posterior):
    with pytest.raises(ValueError, match="The belief has 3 inputs but the model has 2"):
        posterior.predict(InputBelief.observed(np.zeros((1, 3))))
    with pytest.raises(ValueError, match="n_samples is 0; it must be a whole number, 1 or more"):
        posterior.sample_functions(jax.random.key(0), 0)
