"""The GP of a table without holes in NumPy. Oracle: the same GP in the engine."""

import numpy as np
import pytest

from semigp.core import InputBelief
from semigp.core.exact.certain import fit_hyperparameters
from semigp.estimators.regression.certain_component import CertainComponent


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + [0.1, 0.3] * random.normal(size=(40, 2))
    Y[3, 1] = np.nan
    return X, Y, fit_hyperparameters(X, Y, np.arange(2), None, 20), random.normal(size=(9, 2))


@pytest.mark.parametrize("n_inducing", [None, 15])
def test_certain_inputs_are_predicted_as_by_the_engine(problem, n_inducing):
    """Means to 1e-3 and variances to 1 %, as the engine has another jitter, which counts where inducing points are few.
    Nothing of the engine is used."""
    X, Y, parameters, new = problem
    component = CertainComponent(X, Y, parameters, None if n_inducing is None else X[:n_inducing])
    mean, variance = component.predict(InputBelief(new, np.zeros(new.shape)))
    assert "posterior" not in vars(component)
    expected, spread = component.posterior.predict(InputBelief(new, np.zeros(new.shape)))
    np.testing.assert_allclose(mean, expected, atol=1e-3)
    np.testing.assert_allclose(variance, np.asarray(spread) + component.noise_variance, rtol=1e-2)


def test_uncertain_inputs(problem):
    """Oracle: 4000 draws of the inputs; four standard errors of their mean."""
    X, Y, parameters, new = problem
    component = CertainComponent(X, Y, parameters, None)
    mean, variance = component.predict(InputBelief(new[:1], np.full((1, 2), 0.09)))
    draws = new[:1] + 0.3 * np.random.default_rng(0).normal(size=(4000, 2))
    means, variances = component.predict(InputBelief(draws, np.zeros(draws.shape)))
    np.testing.assert_allclose(mean[0], means.mean(axis=0), atol=4 * means.std(axis=0).max() / np.sqrt(4000))
    np.testing.assert_allclose(variance[0], means.var(axis=0) + variances.mean(axis=0), rtol=0.1)


def test_a_file_holds_nothing_that_was_computed(problem):
    X, Y, parameters, new = problem
    component = CertainComponent(X, Y, parameters, None)
    component.predict(InputBelief(new, np.zeros(new.shape)))
    assert set(component._stored()) == {"inputs", "targets", "parameters", "inducing"}
