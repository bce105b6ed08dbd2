"""A GP for every drawn table. Oracles: dense formulas, what was hidden, and what a fit may be interrupted by."""

import numpy as np
import pytest

from semigp import SemiDescribedGPRegressor
from semigp.core import InputBelief
from semigp.core.exact.at_points import JITTER
from semigp.estimators.common.component import Recipe
from semigp.estimators.common.table import Table
from semigp.estimators.regression.posteriors.particles import fit_particles

NAN = np.nan


def _problem(n=50, seed=0):
    """Two inputs that tell nothing about each other, and two outputs that tell both."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=(n, 2))
    targets = np.column_stack([truth.sum(axis=1), np.sin(truth[:, 0]) - truth[:, 1]]) + 0.05 * random.normal(
        size=(n, 2)
    )
    return truth, np.where(random.random(truth.shape) < 0.2, NAN, truth), targets


def _recipe(callback=None):
    return Recipe(n_inducing=20, per_output=True, constrain_means=False, max_iter=10, random_state=0, callback=callback)


def _fit(inputs, targets, error=None, n_draws=3, callback=None):
    table = Table(inputs, targets, np.zeros(inputs.shape) if error is None else error)
    groups = tuple((i,) for i in range(inputs.shape[1]))
    return fit_particles(_recipe(callback), table, groups, n_draws, 0)


@pytest.fixture(scope="module")
def fitted():
    truth, inputs, targets = _problem()
    targets[4], targets[7, 1] = NAN, NAN
    return truth, inputs, targets, *_fit(inputs, targets)


def test_every_component_is_the_exact_gp_of_its_table(fitted):
    """Oracle: k*ᵀ(K + rI)⁻¹y and its variance, with the chain's hyperparameters; 1e-8."""
    _, _, targets, components, _, inputs = fitted
    assert len(components) == len(inputs.particles) == 3
    new = np.random.default_rng(1).normal(size=(6, 2))
    for component, particle in zip(components, inputs.particles, strict=True):
        mean, variance = component.predict(InputBelief(new, np.zeros(new.shape)))
        own = particle.parameters
        for output in range(2):
            known = ~np.isnan(targets[:, output])
            X, y, r = particle.table[known], targets[known, output], own.noise[output]
            weights = np.linalg.solve(own.kernel(X, X) + (r + JITTER) * np.eye(len(X)), own.kernel(X, new)).T
            np.testing.assert_allclose(mean[:, output], weights @ y, atol=1e-8)
            dense = own.kernel.variance(new) - np.sum(weights * own.kernel(new, X), axis=1)
            np.testing.assert_allclose(variance[:, output], own.scale[output] * (dense + r), rtol=1e-8)


def test_known_entries_stay_and_holes_are_found(fitted):
    """The error of the mean over three tables is below half the spread of what was hidden."""
    truth, inputs, targets, _, _, found = fitted
    holes = np.isnan(inputs)
    for table in found.tables:
        np.testing.assert_array_equal(table[~holes], inputs[~holes])
    told = holes & ~np.isnan(targets).any(axis=1, keepdims=True)
    error = (found.tables.mean(axis=0) - truth)[told]
    assert np.sqrt(np.mean(error**2)) < 0.5 * np.std(truth[told])


def test_the_report(fitted):
    reports = fitted[4]
    assert [report.status for report in reports] == ["converged"]
    assert reports[0].method == "particles"
    assert len(reports[0].trace) == 15  # five sweeps of each of three chains
    assert np.isfinite(reports[0].bound)


@pytest.mark.parametrize("n_draws", [1, 2, 4, 7])
def test_there_are_as_many_draws_as_asked_for(n_draws):
    _, inputs, targets = _problem(20)
    components, _, found = _fit(inputs, targets, n_draws=n_draws)
    assert len(components) == len(found.particles) == n_draws
    assert found.draws(inputs[:2], targets[:2]).shape[1:] == (2, 2)


def test_large_tables_have_inducing_points(monkeypatch):
    """They are placed once: all components have the same."""
    monkeypatch.setattr("semigp.estimators.regression.posteriors.particles._MOST_EXACT", 30)
    _, inputs, targets = _problem(40)
    components, _, _ = _fit(inputs, targets, n_draws=2)
    first, second = (component.inducing for component in components)
    assert first.shape == (30, 2)
    np.testing.assert_array_equal(first, second)


@pytest.mark.filterwarnings("ignore:The iteration limit")
@pytest.mark.parametrize("kind", ["plain", "error bars", "latent"])
def test_an_interrupt_after_the_first_sweep_leaves_a_model(kind):
    """Whatever else had to be fitted: a status that says so, and finite predictions."""
    _, inputs, targets = _problem(25)
    error = np.full(inputs.shape, 0.1 if kind == "error bars" else 0.0)
    if kind == "latent":
        inputs = np.column_stack([inputs, np.full(25, NAN)])
        error = np.zeros(inputs.shape)
    calls = []

    def stop(progress):
        calls.append(progress)
        return True

    model = SemiDescribedGPRegressor(10, callback=stop, random_state=0).fit(inputs, targets, X_std=error)
    assert model.fit_report_.status == "interrupted"
    assert (calls[0].stage, calls[0].iteration) == ("sweeps", 1)
    mean, std = model.predict(np.array([[0.1, NAN, NAN][: inputs.shape[1]]]), return_std=True)
    assert np.isfinite(mean).all()
    assert np.all(std > 0)
    filled = model.impute()
    assert np.isfinite(filled).all()


@pytest.mark.filterwarnings("ignore:The iteration limit")
def test_error_bars_and_latent_columns_are_fitted_again():
    """One component for each chain, with a Gaussian q(x) for what the chains ignore."""
    _, inputs, targets = _problem(25)
    inputs = np.column_stack([inputs, np.full(25, NAN)])
    error = np.zeros(inputs.shape)
    error[:, 0] = np.where(np.isnan(inputs[:, 0]), 0.0, 0.1)
    components, reports, found = _fit(inputs, targets, error, n_draws=6)
    assert len(components) == len(reports) == 4
    assert len(found.particles) == 6
    np.testing.assert_array_equal(found.is_latent, [False, False, True])
    assert np.isnan(found.tables[:, :, 2]).all()
    assert np.isfinite(found.tables[:, :, :2]).all()
