"""The exact GP, against dense formulas and quadrature."""

import jax
import numpy as np
import pytest
import scipy.stats

from semigp.core.exact.gp import NOISE_FLOOR, ExactModel, ExactRows, condition, draw_exact, fit_exact, log_evidence
from semigp.core.hyperpriors import LogNormal
from semigp.core.kernels import RBF, Linear
from semigp.core.numerics.precision import in_float64

KERNEL = RBF(0.7, np.array([0.9, 1.6])) + Linear(np.array([0.3, 0.1]))


moments = in_float64(jax.jit(lambda posterior, mean, variance: posterior.moments(mean, variance)))
input_covariance = in_float64(jax.jit(lambda posterior, *belief: posterior.input_covariance(*belief)))


@pytest.fixture
def problem(random):
    inputs = random.normal(size=(13, 2))
    return inputs, np.sin(inputs[:, 0]) + 0.5 * inputs[:, 1]


def dense(inputs, others):
    return np.asarray(in_float64(jax.jit(KERNEL.cross))(inputs, others))


def test_evidence_is_the_normal_density_and_masked_rows_do_not_count(problem):
    inputs, targets = problem
    targets = targets.copy()
    targets[3] = np.nan
    rows = ExactRows.of(inputs, targets)
    assert len(rows.targets) == 16
    known = ~np.isnan(targets)
    covariance = dense(inputs[known], inputs[known]) + (0.01 + NOISE_FLOOR) * np.eye(12)
    expected = scipy.stats.multivariate_normal(np.zeros(12), covariance).logpdf(targets[known])
    found = in_float64(jax.jit(log_evidence))(ExactModel(KERNEL, 0.01), rows)
    assert found == pytest.approx(expected, abs=1e-9)


def test_moments_at_certain_inputs_are_the_textbook_ones(problem, random):
    inputs, targets = problem
    new = random.normal(size=(5, 2))
    posterior = condition(ExactModel(KERNEL, 0.01), ExactRows.of(inputs, targets))
    mean, variance = moments(posterior, new, None)
    inverse = np.linalg.inv(dense(inputs, inputs) + (0.01 + NOISE_FLOOR) * np.eye(13))
    cross = dense(new, inputs)
    np.testing.assert_allclose(mean[:, 0], cross @ inverse @ targets, atol=1e-9)
    np.testing.assert_allclose(variance[:, 0], np.diag(dense(new, new) - cross @ inverse @ cross.T), atol=1e-9)


def test_moments_at_uncertain_inputs_agree_with_quadrature(problem):
    """Gauss-Hermite over both inputs, 30 nodes each: 1e-7."""
    inputs, targets = problem
    posterior = condition(ExactModel(KERNEL, 0.05), ExactRows.of(inputs, targets))
    centre, spread = np.array([0.2, -0.4]), np.array([[0.3, 0.1], [0.1, 0.2]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / (2 * np.pi)
    points = centre + grid @ np.linalg.cholesky(spread).T
    means, variances = (part[:, 0] for part in moments(posterior, points, None))
    mean, variance = moments(posterior, centre[None], spread[None])
    cross = input_covariance(posterior, centre[None], spread[None])
    expected = mass @ means
    assert mean[0, 0] == pytest.approx(expected, abs=1e-7)
    assert variance[0, 0] == pytest.approx(mass @ (variances + means**2) - expected**2, abs=1e-7)
    np.testing.assert_allclose(cross[0, :, 0], mass @ ((points - centre) * means[:, None]), atol=1e-7)


def test_draws_have_the_posterior_moments(problem):
    """4000 draws in 200 sets of features: within five standard errors."""
    inputs, targets = problem
    posterior = condition(ExactModel(KERNEL, 0.01), ExactRows.of(inputs, targets))
    point = np.array([1.5, -0.5])

    def draw(posterior, key):
        return draw_exact(posterior, key, 20, 200).each(np.broadcast_to(point, (20, 2)))

    keys = jax.random.split(jax.random.key(0), 200)
    values = np.ravel(in_float64(jax.jit(lambda p, k: jax.lax.map(lambda key: draw(p, key), k)))(posterior, keys))
    mean, variance = (float(x[0, 0]) for x in moments(posterior, point[None], None))
    assert values.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / 200))
    assert values.var() == pytest.approx(variance, rel=0.25)


def test_fit_raises_the_posterior_density_to_a_stationary_point(problem):
    inputs, targets = problem
    rows, priors = ExactRows.of(inputs, targets), {"kernel*lengthscale": LogNormal(1.0, 1.0)}
    fitted, report = fit_exact(ExactModel(KERNEL, 0.1), rows, priors, 500)
    _, second = fit_exact(fitted, rows, priors, 500)
    assert report.status == "converged"
    assert second.bound == pytest.approx(report.bound, abs=1e-4)
