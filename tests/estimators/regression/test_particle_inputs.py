"""Draws of the inputs of new rows. Oracles: rows alone, the sentence that says which draws there are, and the truth."""

import numpy as np
import pytest

from semigp import SemiDescribedGPRegressor
from semigp.estimators.regression.particle_inputs import _CANDIDATES, _CHOSEN, _DRAWS, ParticleInputs

NAN = np.nan


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    truth = random.normal(size=(70, 3))
    truth[:, 2] = truth[:, 0] + 0.1 * random.normal(size=70)
    y = 2.0 * truth[:, 1] + truth[:, 0] + 0.05 * random.normal(size=70)
    return truth, y


@pytest.fixture(scope="module")
def inputs(problem):
    truth, y = problem
    holes = np.where(np.random.default_rng(1).random(truth.shape) < 0.2, NAN, truth)
    holes[0] = NAN
    model = SemiDescribedGPRegressor(n_draws=6, trend="linear", random_state=0).fit(holes[:50], y[:50])
    assert isinstance(model._inputs, ParticleInputs)
    return model


def _standard(model, problem, rows):
    """Features of rows in which the second and third column are missing, and their targets."""
    truth, y = problem
    new = truth[rows].copy()
    new[:, 1:] = NAN
    return model._input_units.standard(new[:, model._arrangement.columns]), model._y_units.standard(y[rows][:, None])


def test_rows_without_holes_have_one_belief(inputs, random):
    rows, error = random.normal(size=(4, 3)), np.full((4, 3), 0.2)
    (belief,) = inputs._inputs.beliefs(rows, error)
    np.testing.assert_array_equal(belief.mean, rows)
    np.testing.assert_allclose(belief.variance, 0.04)


def test_rows_with_holes_have_a_belief_for_every_draw(inputs, random):
    """At least 50 over all chains; drawn entries are certain, the others have their error bars, and stay."""
    rows, error = random.normal(size=(4, 3)), np.full((4, 3), 0.2)
    rows[:, 1] = NAN
    beliefs = inputs._inputs.beliefs(rows, error)
    assert _DRAWS <= len(beliefs) < _DRAWS + len(inputs._inputs.chains())
    for belief in beliefs:
        np.testing.assert_array_equal(belief.mean[:, [0, 2]], rows[:, [0, 2]])
        np.testing.assert_array_equal(belief.variance, [[0.2**2, 0.0, 0.2**2]] * 4)
    assert np.std([belief.mean[:, 1] for belief in beliefs]) > 0


@pytest.mark.parametrize("with_outputs", [False, True])
def test_draws_do_not_depend_on_company(inputs, problem, with_outputs):
    """Exactly."""
    rows, targets = _standard(inputs, problem, np.arange(50, 58))
    targets = targets if with_outputs else None
    together = inputs._inputs.draws(rows, targets)
    for i in range(8):
        alone = inputs._inputs.draws(rows[i : i + 1], targets if targets is None else targets[i : i + 1])
        np.testing.assert_array_equal(alone[:, 0], together[:, i])


def test_outputs_choose_among_draws(inputs, problem):
    """y tells the second input: half the error, and half the spread. Known entries stay."""
    rows, targets = _standard(inputs, problem, np.arange(50, 70))
    truth = inputs._input_units.standard(problem[0][50:, inputs._arrangement.columns])
    column = list(inputs._arrangement.columns).index(1)
    without, given = inputs._inputs.draws(rows, None), inputs._inputs.draws(rows, targets)
    assert len(given) == _CHOSEN * len(inputs._inputs.chains())
    known = ~np.isnan(rows)
    assert np.all(given[:, known] == rows[known])
    errors, spreads = [], []
    for draws in (given, without):
        errors.append(np.sqrt(np.mean((draws.mean(axis=0) - truth)[:, column] ** 2)))
        spreads.append(draws.std(axis=0)[:, column].mean())
    assert errors[0] < 0.5 * errors[1]
    assert spreads[0] < 0.5 * spreads[1]


def test_missing_outputs_choose_nothing(inputs, problem):
    """With y = NaN all candidates weigh the same: exactly every so-many-th is taken."""
    rows, _ = _standard(inputs, problem, np.arange(50, 60))
    found = inputs._inputs
    given = found.draws(rows, np.full((10, 1), NAN))
    step = _CANDIDATES // _CHOSEN
    expected = [found._without_outputs(k, rows, _CANDIDATES)[step // 2 - 1 :: step] for k in range(4)]
    np.testing.assert_array_equal(given, np.concatenate(expected))


def test_every_chain_counts(inputs):
    """Six draws of four chains: two of each of the first chains, of which the last counts, and one of the others."""
    found = inputs._inputs
    assert [particle.chain for particle in found.particles] == [0, 0, 1, 1, 2, 3]
    assert found.chains() == [found.particles[place] for place in (1, 3, 4, 5)]
    stopped = ParticleInputs(found.relations, found.particles[:1], found.targets, found.is_latent, 0)
    assert stopped.chains() == found.particles[:1]


def test_latent_columns_are_not_drawn(inputs, random):
    """They are N(0, 1) where missing, and NaN among the draws."""
    found = inputs._inputs
    wider = ParticleInputs(
        found.relations, found.particles, found.targets, np.array([False, True, False, False]), found.seed
    )
    rows = np.insert(random.normal(size=(3, 3)), 1, NAN, axis=1)
    (belief,) = wider.beliefs(rows, np.zeros(rows.shape))
    np.testing.assert_array_equal(belief.variance, [[0.0, 1.0, 0.0, 0.0]] * 3)
    np.testing.assert_array_equal(belief.mean[:, 1], 0.0)
    rows[:, 3] = NAN
    for belief in wider.beliefs(rows, np.zeros(rows.shape)):
        np.testing.assert_array_equal(belief.variance, [[0.0, 1.0, 0.0, 0.0]] * 3)
    assert np.isnan(wider.draws(rows, None)[:, :, 1]).all()
