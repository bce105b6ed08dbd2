"""Chained GPs against scikit-learn's GP regression, and draws against what they are draws of."""

import numpy as np
import pytest
import scipy.stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from semigp.core.chained import regression as grids
from semigp.core.chained import sweeps
from semigp.core.chained.imputation import impute
from semigp.core.chained.regression import Conditioned, Regression, choose_regression


def curve(random, n, noise=0.0):
    """A closed curve in six dimensions, in standard units."""
    t = random.uniform(0, 2 * np.pi, size=n)
    rows = np.sqrt(2) * np.column_stack([np.sin(t + shift) for shift in np.linspace(0, 2.5, 6)])
    return rows + noise * random.normal(size=rows.shape)


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_prediction_is_gp_regression(random, share):
    """Oracle: scikit-learn with s [(1-w) RBF(l √d) + w x·x'/d] and noise s r. Tolerance 1e-7."""
    points, new = random.normal(size=(40, 3)), random.normal(size=(7, 3))
    values = np.sin(points[:, 0]) + 0.1 * random.normal(size=40)
    regression = Regression(lengthscale=0.7, linear_share=share, noise=0.05, scale=1.3)
    mean, variance = Conditioned.on(regression, points, values).predict(new)
    kernel = ConstantKernel(1.3 * (1 - share) + 1e-12) * RBF(0.7 * 2.0) + ConstantKernel(
        1.3 * share / 4 + 1e-12
    ) * DotProduct(1e-6)
    oracle = GaussianProcessRegressor(kernel, alpha=1.3 * 0.05, optimizer=None).fit(points, values)
    expected, std = oracle.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-7)
    np.testing.assert_allclose(variance, std**2 + 1.3 * 0.05, atol=1e-7)


def test_chosen_regression_has_the_highest_likelihood(random):
    """Oracle: the marginal likelihood of every grid point by a dense Gaussian density, s at its own optimum."""
    points = random.normal(size=(30, 2))
    values = np.tanh(points[:, 0]) + 0.05 * random.normal(size=30)
    chosen = choose_regression(points, values)

    def loss(lengthscale, share, noise):
        covariance = Regression(lengthscale, share, noise, 1.0).covariance(points, points) + noise * np.eye(30)
        scale = (values @ np.linalg.solve(covariance, values) + 1.0) / 31.0
        return 0.5 * np.linalg.slogdet(covariance)[1] + 15.5 * np.log(scale)

    losses = {(a, b, c): loss(a, b, c) for a in grids.LENGTHSCALES for b in grids.CURVED for c in grids.NOISES}
    ours = loss(chosen.lengthscale, chosen.linear_share, chosen.noise)
    assert ours == pytest.approx(min(losses.values()), abs=1e-6)


def test_draws_know_the_curve_and_how_well(random):
    """Missing entries of a curve: error of the mean far below the spread; known entries untouched; intervals hold."""
    truth = curve(random, 80, noise=0.05)
    table = truth.copy()
    table[random.random(truth.shape) < 0.25] = np.nan
    holes = np.isnan(table)
    result, *_ = impute(table, 5, 0)
    np.testing.assert_array_equal(result.draws[:, ~holes], np.broadcast_to(table[~holes], (5, (~holes).sum())))
    assert np.sqrt(np.mean((result.mean - truth)[holes] ** 2)) < 0.25
    covered = np.mean(np.abs(result.mean - truth)[holes] < 1.96 * np.sqrt(result.variance[holes]))
    assert 0.85 < covered <= 1.0


def test_new_rows_do_not_depend_on_their_company(random):
    truth = curve(random, 60)
    _, chain, _ = impute(truth, 2, 0)
    new = curve(random, 9)
    new[:, 2] = np.nan
    together, alone = chain.complete(new, 0, 3), chain.complete(new[4:5], 0, 3)
    assert together.draws.shape == (6, 9, 6)
    np.testing.assert_allclose(together.draws[:, 4], alone.draws[:, 0], rtol=1e-8, atol=1e-10)


def test_a_column_hardly_known_and_one_not_at_all(random, monkeypatch):
    monkeypatch.setattr(sweeps, "MAX_ROWS", 10)
    table = random.normal(size=(40, 3))
    table[2:, 1] = np.nan  # the rows with the fewest holes hold its two values, others must be found
    table[:2, 0] = table[:2, 2] = np.nan
    result, *_ = impute(table, 2, 0)
    assert np.isfinite(result.draws).all()
    table[:, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 of the table has no known entry"):
        impute(table, 2, 0)


def test_a_relation_that_is_almost_linear_is_found_among_many_columns():
    """One column is two others' difference, but for .02; 20 are curves of the same three inputs. RMSE below .15."""
    random = np.random.default_rng(5)
    hidden = random.normal(size=(90, 3))
    others = np.sin(hidden @ random.normal(size=(3, 20)) + random.uniform(0, 6, 20))
    table = np.column_stack([np.zeros(90), others + 0.05 * random.normal(size=others.shape)])
    table[:, 0] = table[:, 1] - table[:, 2] + 0.02 * random.normal(size=90)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    holes = np.zeros(table.shape, bool)
    holes[40:] = random.random((50, 21)) < 0.2
    holes[40:, 0] = True
    result, chain, _ = impute(np.where(holes, np.nan, table), 3, 0)
    whole = holes[:, 0] & ~holes[:, 1:3].any(axis=1)
    assert np.sqrt(np.mean((result.mean - table)[whole, 0] ** 2)) < 0.15
    assert chain.shares == grids.NEARLY_LINEAR


def test_a_chain_is_not_changed_by_what_it_completes(random):
    """Asked for a column that had no holes, it chooses a regression for that call and keeps none."""
    table = random.normal(size=(40, 3))
    table[:5, 0] = np.nan
    _, chain, _ = impute(table, 2, 0)
    before = dict(chain.regressions)
    new = np.where([[False, True, False]], np.nan, random.normal(size=(2, 3)))
    first = chain.complete(new, 0)
    assert chain.regressions == before
    np.testing.assert_array_equal(chain.complete(new, 0).draws, first.draws)


def test_log_evidence(random):
    """SciPy's density of N(0, s (K + rI))."""
    points, values = random.normal(size=(12, 2)), random.normal(size=12)
    regression = Regression(0.8, 0.3, 0.1, 1.7)
    covariance = regression.scale * (regression.covariance(points, points) + regression.noise * np.eye(12))
    expected = scipy.stats.multivariate_normal(np.zeros(12), covariance).logpdf(values)
    np.testing.assert_allclose(Conditioned.on(regression, points, values).log_evidence, expected, rtol=1e-10)


@pytest.mark.parametrize("calls", [1, 13])
def test_a_callback_ends_the_draws(random, calls):
    """After 1 sweep there is one table, of that sweep; after 13 sweeps there is one whole draw."""
    table = random.normal(size=(30, 3))
    table[:5, 0] = np.nan
    told = []

    def callback(progress):
        told.append(progress)
        return len(told) == calls

    result, _, report = impute(table, 3, 0, callback=callback)
    assert len(told) == calls
    assert len(result.draws) == 1
    assert np.isfinite(result.draws).all()
    assert report.status == "interrupted"
    assert (told[-1].part, told[-1].iteration) == ((calls - 1) // 10 + 1, (calls - 1) % 10 + 1)
