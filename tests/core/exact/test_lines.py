"""Linear regression in the space of its slopes. Oracles: SciPy's Gaussian density of the rows, dense formulas, finite
differences, and the moments of draws."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from semigp.core.exact import lines
from semigp.core.exact.evidence import NOISE_FLOOR
from semigp.core.exact.lines import LineModel, LineSums, condition_lines, fit_lines
from semigp.core.hyperpriors import LogNormal

MODEL = LineModel(np.array([0.5, 2.0, 0.1]), 0.3)


@pytest.fixture
def rows(random):
    X = random.normal(size=(12, 3))
    return X, X @ [1.0, -0.5, 0.0] + 0.5 * random.normal(size=12)


def _log_evidence(model, X, y):
    covariance = (X * model.variances) @ X.T + (model.noise_variance + NOISE_FLOOR) * np.eye(len(y))
    return multivariate_normal.logpdf(y, np.zeros(len(y)), covariance)


def test_evidence_and_posterior_are_those_of_a_gp_over_the_rows(rows):
    X, y = rows
    found, noise = condition_lines(MODEL, LineSums.of(X, y)), MODEL.noise_variance + NOISE_FLOOR
    np.testing.assert_allclose(found.evidence, _log_evidence(MODEL, X, y), rtol=1e-10)
    inverse = np.linalg.inv(np.diag(1.0 / MODEL.variances) + X.T @ X / noise)
    np.testing.assert_allclose(found.root @ found.root.T, inverse, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.mean, inverse @ X.T @ y / noise, rtol=1e-8)


def test_fewer_rows_than_slopes(rows):
    X, y = rows[0][:2], rows[1][:2]
    np.testing.assert_allclose(
        condition_lines(MODEL, LineSums.of(X, y)).evidence, _log_evidence(MODEL, X, y), rtol=1e-9
    )


def test_rows_with_nan_do_not_count(rows):
    X, y = rows
    holes, gaps = X.copy(), y.copy()
    holes[3, 1], gaps[7] = np.nan, np.nan
    kept = np.delete(np.arange(12), [3, 7])
    one, other = LineSums.of(holes, gaps), LineSums.of(X[kept], y[kept])
    assert one.count == other.count == 10
    np.testing.assert_allclose(one.squares, other.squares, rtol=1e-12)
    np.testing.assert_allclose(one.products, other.products, rtol=1e-12)


def test_slopes_of_the_evidence_are_finite_differences(rows):
    """Central differences of 1e-5: relative errors of 1e-8 or so."""
    sums = LineSums.of(*rows)
    found = condition_lines(MODEL, sums)
    slopes = np.append(lines._slopes(MODEL, found), lines._noise_slope(MODEL, sums, found))
    logs = np.log(np.append(MODEL.variances, MODEL.noise_variance))
    for place, slope in enumerate(slopes):
        moved = [np.exp(logs + sign * np.eye(4)[place] * 1e-5) for sign in (1, -1)]
        values = [condition_lines(LineModel(each[:3], each[3]), sums).evidence for each in moved]
        np.testing.assert_allclose(slope, (values[0] - values[1]) / 2e-5, rtol=1e-6, atol=1e-7)


def test_draws_have_the_moments_of_the_posterior(rows, random):
    """20,000 draws: means to 4 standard errors, covariances to 6 % of the largest."""
    found = condition_lines(MODEL, LineSums.of(*rows))
    draws, covariance = found.draws(20_000, random), found.root @ found.root.T
    error = np.sqrt(np.diagonal(covariance) / 20_000)
    assert (np.abs(draws.mean(axis=0) - found.mean) < 4.0 * error).all()
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.06 * covariance.max())


def test_a_fit_is_a_maximum_of_evidence_and_hyperprior(rows):
    """Dense evidence and the log-normal density, without its constant: no step of 0.1 leads higher."""
    prior = LogNormal(0.1, 3.0)
    model, report = fit_lines(LineSums.of(*rows), prior, 500)

    def objective(logs):
        shape = LineModel(np.exp(logs[:3]), float(np.exp(logs[3])))
        return _log_evidence(shape, *rows) + prior.of_logs(logs[:3])[0]

    best = np.log(np.append(model.variances, model.noise_variance))
    assert report.status == "converged"
    assert report.bound == pytest.approx(objective(best), abs=1e-5)
    for direction in np.vstack([np.eye(4), -np.eye(4)]):
        assert objective(best + 0.1 * direction) < report.bound + 1e-5


def test_inputs_that_are_equal_and_outputs_without_noise():
    """σ² + V^½ XᵀX V^½ is singular to rounding: both slopes together are still 3."""
    x = np.exp(np.arange(30.0) / 3.0)
    found = condition_lines(LineModel(np.full(2, 1e3), 0.0), LineSums.of(np.column_stack([x, x]), 3.0 * x))
    assert found.mean.sum() == pytest.approx(3.0, rel=1e-3)
    assert np.isfinite(found.root).all()


def test_targets_that_are_far_too_large_do_not_stop_a_search():
    """Constant targets of 1e6: the search goes out to where numbers overflow, and turns back. The line fits: y = x."""
    x = np.full((40, 2), 1e6)
    model, report = fit_lines(LineSums.of(x, x[:, 0]), LogNormal(0.05, 3.0), 100)
    assert np.isfinite(report.bound)
    assert condition_lines(model, LineSums.of(x, x[:, 0])).mean.sum() == pytest.approx(1.0, rel=1e-3)
