"""A draw of stacked GPs. Oracles: the GP with one layer, and the GP on top at bent inputs."""

import numpy as np
import pytest
from scipy.stats import norm

from semigp.core import InputBelief
from semigp.core.exact.certain import Hyperparameters
from semigp.core.layers.hidden import HiddenLayer, through
from semigp.estimators.deep.stacked_component import BentDensity, StackedComponent
from semigp.estimators.regression.certain_component import CertainComponent


def _parameters(noise=0.1):
    lengthscales, linear = np.array([0.8, 1.5, 1e8, 1e8]), np.array([1e-16, 1e-16, 0.2, 0.1])
    return Hyperparameters(lengthscales, linear, np.array([noise]), np.array([1.3]), 0.0, np.zeros(9))


def _component(random, factor):
    layer = HiddenLayer(random.normal(size=(2, 6)), random.uniform(0, 6, 6), factor * random.normal(size=(6, 2)))
    inputs = random.normal(size=(20, 2))
    return StackedComponent((layer,), inputs, np.sin(inputs[:, :1]), _parameters(), None)


def _certain(points):
    return InputBelief(points, np.zeros(points.shape))


def test_without_weights_it_is_the_gp_with_one_layer(random):
    component, points = _component(random, 0.0), random.normal(size=(5, 2))
    one = Hyperparameters(
        np.array([0.8, 1.5]), np.array([0.2, 0.1]), np.array([0.1]), np.array([1.3]), 0.0, np.zeros(5)
    )
    expected = CertainComponent(component.inputs, component.targets, one, None).predict(_certain(points))
    np.testing.assert_allclose(component.predict(_certain(points)), expected, rtol=1e-9, atol=1e-12)


def test_it_is_the_gp_on_top_at_bent_inputs(random):
    component, points = _component(random, 0.3), random.normal(size=(5, 2))
    inputs = through(component.layers, component.inputs)
    top = CertainComponent(inputs, component.targets, _parameters(), None)
    expected = top.predict(_certain(through(component.layers, points)))
    np.testing.assert_allclose(component.predict(_certain(points)), expected, rtol=1e-9)
    assert component.n_layers == 2
    np.testing.assert_allclose(component.noise_variance, 0.13)


def test_functions(random):
    """Mean and variance of 400 functions, within five standard errors."""
    component, points = _component(random, 0.3), random.normal(size=(4, 2))
    functions = component.sample_functions(0, 400)
    values = np.asarray(functions(points))[..., 0]
    mean, variance = (part[:, 0] for part in component.predict(_certain(points)))
    variance = variance - component.noise_variance
    assert np.all(np.abs(values.mean(axis=0) - mean) < 5 * np.sqrt(variance / 400))
    assert np.all(np.abs(values.var(axis=0) / variance - 1.0) < 5 * np.sqrt(2 / 400))
    assert functions.n_samples == 400


def test_inducing_inputs_are_bent_too(random):
    """With all rows as inducing inputs the GP is the exact one, to the jitter."""
    component, points = _component(random, 0.3), random.normal(size=(4, 2))
    sparse = StackedComponent(component.layers, component.inputs, component.targets, _parameters(), component.inputs)
    exact, found = component.predict(_certain(points)), sparse.predict(_certain(points))
    np.testing.assert_allclose(found[0], exact[0], atol=1e-3)
    assert found[1] == pytest.approx(exact[1], rel=1e-2)


def test_density_of_outputs_at_candidates(random):
    """SciPy's normal density with the moments that the component predicts, for three rows at four candidates each."""
    component, options, outputs = _component(random, 0.3), random.normal(size=(3, 4, 2)), random.normal(size=(3, 1))
    density = BentDensity.given(component.layers, component.parameters, component.inputs, component.targets)
    mean, variance = (part.reshape(3, 4) for part in component.predict(_certain(options.reshape(12, 2))))
    expected = norm(mean, np.sqrt(variance)).logpdf(outputs)
    np.testing.assert_allclose(density.log_densities(options, outputs), expected, rtol=1e-9)
