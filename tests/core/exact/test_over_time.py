"""A series as a function of time. Oracles: the double integral of the slope's covariance, SciPy's Gaussian density,
dense conditional Gaussians, and finite differences."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from semigp.core.exact import over_time
from semigp.core.exact.over_time import TimeModel, TimePosterior, fit_over_time, gaussian_draws, hyperprior

OFF = -60.0  # the logarithm of a variance that does not count
NAMES = ("noise", "walk", "slope", "slope_memory", "local", "local_memory", "line")


def _model(seasons=(), middle=4.5, **values):
    """A model in which every variance that is not given is 0; of a season, (variance, width, memory)."""
    logs = [np.log(values[name]) if name in values else 0.0 if "memory" in name else OFF for name in NAMES]
    for variance, width, memory in values.get("waves", ()):
        logs += np.log([variance, width, memory]).tolist()
    return TimeModel(np.array(logs), seasons, middle)


FULL = _model(
    (7.0, 3.5), 5.2, noise=0.2, walk=0.1, slope=0.01, slope_memory=4.0, local=0.3, local_memory=2.5, line=0.02,
    waves=[(0.6, 0.8, 30.0), (0.2, 0.5, 9.0)],
)  # fmt: skip


def _slow(model, s, t):
    """k(s, t) as the module writes it, term by term; the slope's double integral in closed form by cases of a < b."""
    _, walk, slope, tau, local, rho, line = np.exp(model.logs[:7])
    a, b = s + 1.0, t + 1.0
    inner = lambda u: tau * (2.0 - np.exp(-u / tau) - np.exp(-(b - u) / tau)) if u < b else (  # noqa: E731
        tau * (np.exp(-(u - b) / tau) - np.exp(-u / tau)))  # fmt: skip
    total = over_time._LEVEL + walk * min(a, b) + line * (s - model.middle) * (t - model.middle)
    total += slope * quad(inner, 0.0, a, points=[b] if b < a else None)[0] + local * np.exp(-abs(s - t) / rho)
    for i, period in enumerate(model.seasons):
        variance, width, memory = np.exp(model.logs[7 + 3 * i : 10 + 3 * i])
        bent = 2.0 * np.sin(np.pi * (s - t) / period) ** 2 / width**2
        total += variance * np.exp(-bent - abs(s - t) / memory)
    return total


def _dense(model, left, right):
    return np.array([[_slow(model, s, t) for t in right] for s in left])


@pytest.mark.parametrize(("s", "t"), [(0, 0), (1, 4), (6, 2), (9, 9)])
def test_a_slope_that_is_forgotten_is_the_double_integral(s, t):
    """∫∫ exp(-|a - b|/τ) over (0, s + 1) x (0, t + 1), by nested quadrature."""
    tau, level = 3.0, over_time._LEVEL
    inner = lambda a: quad(lambda b: np.exp(-abs(a - b) / tau), 0, t + 1, points=[min(a, t + 1)])[0]  # noqa: E731
    expected = 2.0 * quad(inner, 0, s + 1, points=[min(s + 1, t + 1)])[0]
    model = _model(slope=2.0, slope_memory=tau)
    np.testing.assert_allclose(model.covariance(np.array([s]), np.array([t]))[0, 0] - level, expected, rtol=1e-7)


def test_a_slope_that_is_never_forgotten_is_a_line_from_the_start():
    """τ → ∞: w (s + 1)(t + 1), to a relative 1e-4 = 10/τ."""
    found = _model(slope=2.0, slope_memory=1e5).covariance(np.array([3]), np.array([8]))[0, 0] - over_time._LEVEL
    np.testing.assert_allclose(found, 2.0 * 4 * 9, rtol=2e-4)


def test_walk_and_line_as_sums_of_what_they_are_made_of():
    """A walk is a sum of independent steps, a line a slope times the distance from the middle."""
    steps = np.arange(6)
    sums = np.tril(np.ones((6, 6)))
    found = _model(walk=0.7).covariance(steps, steps) - over_time._LEVEL
    np.testing.assert_allclose(found, 0.7 * sums @ sums.T, atol=1e-12)
    found = _model(line=0.3, middle=2.0).covariance(steps, steps) - over_time._LEVEL
    np.testing.assert_allclose(found, 0.3 * np.outer(steps - 2.0, steps - 2.0), atol=1e-12)


def test_all_terms_together():
    left, right = np.array([0, 3, 4, 11]), np.array([2, 4, 20])
    np.testing.assert_allclose(FULL.covariance(left, right), _dense(FULL, left, right), rtol=1e-9)


def test_evidence_is_the_gaussian_density_and_its_slopes_are_finite_differences(random):
    """Steps with gaps. Central differences of 1e-5 leave a relative error of 1e-6 in slopes up to about ten."""
    steps = np.array([0, 1, 2, 5, 6, 9, 10, 14, 20])
    y = random.normal(size=9)
    evidence = over_time._Evidence(steps, y)
    value, slopes = evidence(FULL)
    covariance = _dense(FULL, steps, steps) + FULL.noise_variance * np.eye(9)
    np.testing.assert_allclose(value, multivariate_normal.logpdf(y, np.zeros(9), covariance), rtol=1e-9)
    for place, slope in enumerate(slopes):
        moved = [TimeModel(FULL.logs + sign * np.eye(13)[place] * 1e-5, FULL.seasons, FULL.middle) for sign in (1, -1)]
        found = [evidence(each)[0] for each in moved]
        np.testing.assert_allclose(slope, (found[0] - found[1]) / 2e-5, rtol=1e-6, atol=1e-6)


def test_where_a_covariance_cannot_be_factored_the_evidence_is_minus_infinity(random):
    value, slopes = over_time._Evidence(np.arange(5), random.normal(size=5))(_model(noise=1e-30, line=1e30))
    assert value == -np.inf
    assert (slopes == 0.0).all()


@pytest.fixture
def gappy(random):
    """A draw from FULL at 40 steps, of which some are gaps."""
    covariance = _dense(FULL, np.arange(40), np.arange(40)) + FULL.noise_variance * np.eye(40)
    values = np.linalg.cholesky(covariance) @ random.normal(size=40)
    values[[0, 7, 8, 30, 39]] = np.nan
    return values


def test_moments_are_those_of_a_dense_conditional_gaussian(gappy):
    known, at = np.flatnonzero(~np.isnan(gappy)), np.array([7, 39, 40, 45])
    mean, covariance = TimePosterior.given(FULL, gappy).moments(at)
    cross, noise = _dense(FULL, at, known), FULL.noise_variance
    solved = np.linalg.solve(_dense(FULL, known, known) + noise * np.eye(len(known)), cross.T)
    np.testing.assert_allclose(mean, solved.T @ gappy[known], rtol=1e-8)
    expected = _dense(FULL, at, at) + noise * np.eye(4) - cross @ solved
    np.testing.assert_allclose(covariance, expected, rtol=1e-7, atol=1e-9)


def test_log_densities_are_one_after_the_other_and_add_up(gappy):
    """Their sum is the joint log density; the last is that of a forecast of one step."""
    posterior = TimePosterior.given(FULL, gappy)
    known = np.flatnonzero(~np.isnan(gappy))
    covariance = _dense(FULL, known, known) + FULL.noise_variance * np.eye(len(known))
    joint = multivariate_normal.logpdf(gappy[known], np.zeros(len(known)), covariance)
    np.testing.assert_allclose(posterior.log_densities().sum(), joint, rtol=1e-9)
    before = np.where(np.arange(40) < known[-1], gappy, np.nan)
    mean, spread = TimePosterior.given(FULL, before).moments(known[-1:])
    expected = multivariate_normal.logpdf(gappy[known[-1]], mean[0], spread[0, 0])
    np.testing.assert_allclose(posterior.log_densities()[-1], expected, rtol=1e-8)


def test_of_many_values_the_latest_are_used_and_some_of_the_others(random):
    """At most as many as asked for, no step twice, none without a value, and the early ones from the first on."""
    values = random.normal(size=1000)
    values[random.random(1000) < 0.1] = np.nan
    known = np.flatnonzero(~np.isnan(values))
    np.testing.assert_array_equal(over_time._chosen(values, len(known)), known)
    some = over_time._chosen(values, 100)
    latest = round(over_time._LATEST * 100)
    assert len(some) == len(np.unique(some)) == 100
    assert some[0] == known[0]
    np.testing.assert_array_equal(some[-latest:], known[-latest:])
    early = some[: 100 - latest]
    assert np.diff(early).max() < 1.5 * np.diff(early).mean() + 5  # evenly


def test_a_posterior_of_more_values_than_are_used_leaves_some_out(random, monkeypatch):
    """Oracle: the same posterior, given only the values that were chosen."""
    monkeypatch.setattr(over_time, "_MAX_TO_CONDITION", 30)
    values = random.normal(size=80)
    thinned = np.full(80, np.nan)
    steps = over_time._chosen(values, 30)
    thinned[steps] = values[steps]
    for one, other in zip(*(TimePosterior.given(FULL, each).moments(np.arange(80, 85)) for each in (values, thinned)),
                          strict=True):  # fmt: skip
        np.testing.assert_array_equal(one, other)


def _objective(logs, values, seasons, medians, spreads):
    model = TimeModel(logs, seasons, (len(values) - 1) / 2.0)
    steps = np.flatnonzero(~np.isnan(values))
    return over_time._Evidence(steps, values[steps])(model)[0] - 0.5 * np.sum(((logs - medians) / spreads) ** 2)


def test_a_fit_is_a_maximum_of_evidence_and_hyperprior(gappy):
    """The bound of the report is the objective there. No step of 0.3 along any parameter leads higher."""
    values = (gappy - np.nanmean(gappy)) / np.nanstd(gappy)
    model, report = fit_over_time(values, (7.0,), 500)
    objective = lambda logs: _objective(logs, values, (7.0,), *hyperprior(values, (7.0,)))  # noqa: E731
    assert report.status == "converged"
    assert report.bound == pytest.approx(objective(model.logs), abs=1e-5)
    for direction in np.vstack([np.eye(10), -np.eye(10)]):
        assert objective(model.logs + 0.3 * direction) < report.bound + 1e-4


def test_what_other_series_say_counts(gappy):
    """A narrow prior, away from the usual medians: the fit stays within a few of its standard deviations."""
    values = (gappy - np.nanmean(gappy)) / np.nanstd(gappy)
    shift, narrow = np.linspace(-1.0, 1.0, 7), np.full(7, 1e-3)
    model, _ = fit_over_time(values, (), 100, prior=(shift, narrow))
    np.testing.assert_allclose(model.logs, hyperprior(values, ())[0] + shift, atol=0.02)


@pytest.mark.parametrize("values", [np.zeros(50), np.r_[1.0, np.zeros(49)], np.arange(3.0), np.full(30, 1e-9)])
def test_hyperpriors_of_constant_and_short_series_are_finite(values):
    for part in hyperprior(values, (4.0,)):
        assert np.isfinite(part).all()


def test_draws_of_a_gaussian_that_is_singular(random):
    """Two equal values and a third one: 20,000 draws, standard errors below 0.015."""
    covariance = np.array([[1.0, 1.0, 0.3], [1.0, 1.0, 0.3], [0.3, 0.3, 2.0]])
    draws = gaussian_draws(np.array([1.0, 2.0, 3.0]), covariance, 20_000, random)
    np.testing.assert_allclose(draws.mean(axis=0), [1.0, 2.0, 3.0], atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.08)
    np.testing.assert_allclose(draws[:, 1] - draws[:, 0], 1.0, atol=1e-6)
