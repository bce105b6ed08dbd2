"""Fits of latent paths. Oracles: exact GP regression over time, and the paths that made the data."""

import jax
import numpy as np

from semigp.core import RBF
from semigp.core.numerics.precision import in_float64
from semigp.core.search.stages import Stage
from semigp.core.sequences import fit as fits
from semigp.core.sequences.model import SequenceModel, make_data, objective

from ... import oracles


def test_smooth_is_exact_gp_regression(random):
    lengthscale, length = np.array([3.0, 15.0]), 12
    observed, precision = random.normal(size=(length, 2, 2)), np.exp(random.normal(size=(length, 2, 2)))
    precision[4:7, 0] = 0.0  # not seen
    mean, variance, evidence = fits.smooth(observed, precision, lengthscale)
    times, logs = np.arange(length)[:, None], np.zeros(2)
    for j in range(2):
        prior = oracles.gram(oracles.matern32(1.0, lengthscale[j]), times, times)
        for s in range(2):
            seen = precision[:, s, j] > 0
            noisy = prior[np.ix_(seen, seen)] + np.diag(1.0 / precision[seen, s, j])
            gain = np.linalg.solve(noisy, prior[seen]).T
            np.testing.assert_allclose(mean[:, s, j], gain @ observed[seen, s, j], atol=1e-9)
            np.testing.assert_allclose(variance[:, s, j], np.diag(prior - gain @ prior[seen]), atol=1e-9)
            square = observed[seen, s, j] @ np.linalg.solve(noisy, observed[seen, s, j])
            logs[j] -= 0.5 * (np.linalg.slogdet(noisy)[1] + square)
    np.testing.assert_allclose(evidence, logs, rtol=1e-9)


def test_lengthscales_of_drawn_paths_are_found(random):
    """The grid is in factors of two. Forty paths of 60 steps tell neighbours apart, so the nearest one is found."""
    times, lengthscale = np.arange(60)[:, None], np.array([4.0, 32.0])
    factors = [np.linalg.cholesky(oracles.gram(oracles.matern32(1.0, each), times, times)) for each in lengthscale]
    paths = np.stack([factor @ random.normal(size=(60, 40)) for factor in factors], axis=-1)
    noisy = paths + 0.1 * random.normal(size=paths.shape)
    np.testing.assert_array_equal(fits.best_lengthscales(noisy, np.full(paths.shape, 100.0)), lengthscale)


def test_fit_finds_the_path(random):
    """One latent path, twelve outputs that are nonlinear in it: q(x) is the path, up to a smooth one-to-one map."""
    path = np.sin(np.arange(50) / 8.0) + 0.1 * np.arange(50) / 8.0
    slopes = random.normal(size=12)
    values = np.tanh(path[:, None] * slopes) + 0.5 * path[:, None] * slopes[::-1]
    series = [values + 0.05 * random.normal(size=values.shape)]
    data = make_data(series)
    first = values @ np.linalg.svd(values, full_matrices=False)[2][0]
    mean = (first / first.std())[:, None, None]
    paths = fits.start_paths(mean, np.full(mean.shape, 20.0), np.array([8.0]))
    model = SequenceModel(
        RBF(1.0, np.array([1.0])), np.linspace(-2, 2, 8)[:, None], np.full(12, 0.05), np.ones(12), np.array([8.0]),
        paths,
    )  # fmt: skip
    fitted, report = fits.fit(model, data, [Stage("all", 60)], 1e-7)
    np.testing.assert_allclose(in_float64(jax.jit(objective))(fitted, data), report.bound, rtol=1e-10)
    belief, _, posterior = fits.solve(fitted, data)
    ranks = np.argsort(np.argsort(belief.mean[:, 0, 0])), np.argsort(np.argsort(path))
    assert abs(np.corrcoef(*ranks)[0, 1]) > 0.99
    assert 0.03 < np.sqrt(np.median(posterior.likelihood.noise_variance)) < 0.07
