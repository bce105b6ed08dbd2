"""Draws of missing inputs given the outputs. Oracles: exact posteriors of problems with few possible inputs."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from semigp.core.exact.certain import Hyperparameters, OutputDensity
from semigp.estimators.particles import chains
from semigp.estimators.particles.chains import Particle, Search, candidates, choose, draw_particles, latest
from semigp.estimators.particles.layout import Layout
from semigp.estimators.particles.relations import Relations, fill
from semigp.estimators.particles.schedule import Schedule


def test_choices_have_the_right_frequencies(random):
    """An even grid of 1000 uniform numbers: every frequency to 1/1000 of its probability, whatever the constant."""
    logs = random.normal(size=(1, 5)) * 2.0
    weights = np.exp(logs[0]) / np.exp(logs[0]).sum()
    grid = (np.arange(1000) + 0.5) / 1000
    for shift in (0.0, -5000.0, 5000.0):
        chosen = choose(np.tile(logs + shift, (1000, 1)), grid)
        np.testing.assert_allclose(np.bincount(chosen, minlength=5) / 1000, weights, atol=1e-3)
    np.testing.assert_array_equal(choose(np.array([[-np.inf, 0.0, -np.inf]]), np.array([0.5])), [1])


@dataclass
class _Coins:
    """A column that is -1, 0 or 1 with the probabilities 0.2, 0.3 and 0.5, whatever the others are."""

    group = 0

    def draw(self, rows, choice, normal, uniform):
        return np.select([choice < 0.2, choice < 0.5], [-1.0, 0.0], 1.0)[:, None]


def test_the_chain_goes_to_the_posterior(monkeypatch, random):
    """Oracle: Bayes' rule for the one missing input, p(x) p(y | x, other rows). 1500 sweeps that depend on each other
    little: 4 standard errors of independent ones, 0.05. The likelihood moves the probabilities by more than that."""
    X = np.linspace(-2, 2, 8)[:, None]
    y = 0.6 * X
    table = np.r_[X, [[0.0]]]
    targets = np.r_[y, [[-0.5]]]
    parameters = Hyperparameters(np.ones(1), np.zeros(1), np.full(1, 0.5), np.full(1, 0.3), 0.0, np.zeros(3))
    missing = np.zeros((9, 1), bool)
    missing[8] = True
    relations = Relations(Layout.of(table, ((0,),)), missing, {})
    monkeypatch.setattr(Relations, "conditional", lambda *_, **how: _Coins())
    options = np.array([[[-1.0], [0.0], [1.0]]])
    likelihood = np.exp(OutputDensity.given(parameters, X, y).log_densities(options, targets[8:]))[0]
    posterior = likelihood * [0.2, 0.3, 0.5] / np.sum(likelihood * [0.2, 0.3, 0.5])
    assert np.abs(posterior - [0.2, 0.3, 0.5]).max() > 0.1
    counts = np.zeros(3)
    for _ in range(1500):
        chains.sweep(table, targets, relations, partial(OutputDensity.given, parameters), random)
        counts[int(table[8, 0]) + 1] += 1
    np.testing.assert_allclose(counts / 1500, posterior, atol=0.05)
    np.testing.assert_array_equal(table[:8], X)


@pytest.fixture(scope="module")
def problem():
    """Two inputs that tell nothing about each other, an output of both, and one row in which y is missing, too."""
    random = np.random.default_rng(0)
    truth = random.normal(size=(50, 2))
    targets = np.column_stack([truth[:, 0] + truth[:, 1], truth[:, 0] - truth[:, 1]]) + 0.05 * random.normal(
        size=(50, 2)
    )
    table = np.where(random.random(truth.shape) < 0.25, np.nan, truth)
    targets[3], targets[5, 0] = np.nan, np.nan
    filled, relations = fill(table, Layout.of(table, ((0,), (1,))), random)
    return truth, table, targets, filled, relations


def test_candidates(problem, random):
    """The first is what is there; the others change holes only, and usually do."""
    _, table, _, filled, relations = problem
    rows = np.flatnonzero(relations.missing.any(axis=1))
    given = [relations.conditional(group, filled, 3, random, is_quick=True) for group in relations.with_holes()]
    options = candidates(filled, rows, relations, given, random)
    np.testing.assert_array_equal(options[:, 0], filled[rows])
    known = ~np.isnan(table[rows])
    np.testing.assert_array_equal(options.swapaxes(0, 1)[:, known], np.tile(table[rows][known], (options.shape[1], 1)))
    assert np.mean(options[:, 1:] != options[:, :1]) > 0.3
    options = candidates(filled, rows, relations, given[:1], random)
    assert set(np.flatnonzero((options != options[:, :1]).any(axis=(0, 1)))) == {given[0].group}


def test_outputs_find_the_inputs(problem):
    """Known entries stay; errors of what was hidden are half those of the fill without outputs; seeds decide."""
    truth, table, targets, filled, relations = problem
    schedule = Schedule(2, 6, 2, 2)
    found, again = (
        draw_particles(schedule, Search(), lambda _: filled.copy(), targets, relations, np.random.default_rng(1))
        for _ in range(2)
    )
    particles, is_stopped = found
    assert (len(particles), is_stopped) == (4, False)
    holes = np.isnan(table)
    for one, other in zip(particles, again[0], strict=True):
        np.testing.assert_array_equal(one.table[~holes], table[~holes])
        np.testing.assert_array_equal(one.table, other.table)
    told = holes & ~np.isnan(targets).any(axis=1, keepdims=True)
    mean = np.mean([particle.table for particle in particles], axis=0)
    errors = [np.sqrt(np.mean((some - truth)[told] ** 2)) for some in (mean, filled)]
    assert errors[0] < 0.5 * errors[1]


def test_the_latest_particles_come_from_all_chains():
    """Two chains of three, of which three are wanted: the last of each, then the one before, in their order."""
    particles = [Particle(None, None, chain) for chain in (0, 0, 0, 1, 1, 1)]
    assert latest(particles, 6) == particles
    found = latest(particles, 3)
    assert [next(i for i, each in enumerate(particles) if each is one) for one in found] == [1, 2, 5]


@pytest.mark.parametrize("when", [1, 4, 5])
def test_a_stop_leaves_a_particle(problem, when):
    """Of every chain at least one; none makes another sweep after it has been told."""
    _, _, targets, filled, relations = problem
    calls = []

    def is_stopped(chain, sweep, evidence):
        calls.append(np.isfinite(evidence))
        return len(calls) >= when

    random = np.random.default_rng(0)
    how = lambda _: filled.copy(), targets, relations, random, is_stopped
    particles, was = draw_particles(Schedule(2, 50, 2), Search(), *how)
    assert was
    assert {particle.chain for particle in particles} == {0, 1}
    assert all(calls)
    assert len(calls) < 50


@pytest.mark.parametrize("n", [600, 2500])
def test_many_rows(n, monkeypatch):
    """Blocks of rows and inducing points find the hidden inputs, to half of their spread; seeds decide."""
    monkeypatch.setattr(chains, "_ROWS_AT_ONCE", 200)
    random = np.random.default_rng(0)
    truth = random.normal(size=(n, 2))
    targets = np.column_stack([truth.sum(axis=1), truth[:, 0] - truth[:, 1]]) + 0.05 * random.normal(size=(n, 2))
    table = np.where(random.random(truth.shape) < 0.1, np.nan, truth)
    filled, relations = fill(table, Layout.of(table, ((0,), (1,))), random)
    found, again = (
        draw_particles(
            Schedule(1, 4, 2), Search(), lambda _: filled.copy(), targets, relations, np.random.default_rng(1)
        )
        for _ in range(2)
    )
    last = found[0][-1].table
    np.testing.assert_array_equal(last, again[0][-1].table)
    holes = np.isnan(table)
    assert np.sqrt(np.mean((last - truth)[holes] ** 2)) < 0.5
