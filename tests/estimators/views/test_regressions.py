"""GPs from some views to another: their weights, and that each of them is used where it is best."""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from semigp.estimators.views.regressions import Places, Regressions, _stacked


def _places(n, random):
    columns = random.normal(size=(n, 4))
    return Places(columns, np.zeros(4, int), random.normal(size=(n, 2)), random.normal(size=(n, 3)), np.ones((n, 3)))


def _first(places, n):
    return Places(places.columns[:n], places.views, places.latent[:n], places.predicted[:n], places.variance[:n])


def test_stacked_weights_minimise_the_error():
    """The oracle is a general optimiser under the same constraints. Missing targets do not count."""
    random = np.random.default_rng(0)
    targets = random.normal(size=(50, 3))
    means = np.stack([targets + scale * random.normal(size=targets.shape) for scale in (0.5, 0.7, 3.0)])
    targets[random.random(targets.shape) < 0.2] = np.nan

    def error(weights):
        return np.nanmean((targets - np.einsum("k,knp->np", weights, means)) ** 2)

    sums = {"type": "eq", "fun": lambda weights: weights.sum() - 1.0}
    best = minimize(error, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, constraints=sums, tol=1e-12)
    np.testing.assert_allclose(_stacked(means, targets), best.x, atol=1e-4)


def test_the_gp_on_the_right_inputs_has_the_largest_weight():
    """Targets are functions of the latent inputs alone: that GP weighs most, and half of the noise is left at most."""
    random = np.random.default_rng(1)
    places = _places(160, random)
    clean = np.sin(places.latent @ random.normal(size=(2, 3)))
    targets = clean + 0.1 * random.normal(size=clean.shape)
    targets[random.random(targets.shape) < 0.1] = np.nan
    first = _first(places, 120)
    found = Regressions.of(first, targets[:120], np.where(np.isnan(targets), clean, targets)[:120])
    assert np.argmax(found.weights) == 3
    assert abs(found.weights.sum() - 1.0) < 1e-12
    mean, variance = found.predict(places)
    assert mean.shape == variance.shape == (5, 160, 3)
    assert np.mean((mean[3, 120:] - clean[120:]) ** 2) < 0.5 * 0.1
    doubled = replace(places, variance=2.0 * places.variance)
    np.testing.assert_allclose(found.predict(doubled)[1], 2.0 * variance)  # rows that the model knows less of
