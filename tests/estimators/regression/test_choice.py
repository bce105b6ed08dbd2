"""Who wins the contest of the forms of q(X), and on which rows it is held."""

from dataclasses import replace

import numpy as np
import pytest

from semigp.estimators.common.component import Recipe
from semigp.estimators.common.table import Table
from semigp.estimators.regression import choice as contests
from semigp.estimators.regression.choice import Contest, hold_contest
from semigp.estimators.regression.missing_inputs import CorrelatedInputs

RECIPE = Recipe(n_inducing=20, per_output=True, constrain_means=False, max_iter=5, random_state=0)


def make_inputs(n=36, bars=0.0):
    """Every other row has a hole; the others have error bars, if any."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 2))
    y = X.sum(axis=1, keepdims=True) + 0.1 * random.normal(size=(n, 1))
    X[::2, 0] = np.nan
    return CorrelatedInputs(Table(X, y, np.where(np.isnan(X), 0.0, bars)), 0, 3)


@pytest.mark.parametrize(("error", "winner"), [(0.02, "gaussian"), (0.03, "mixture")])
def test_the_gaussian_must_win_by_two_standard_errors(error, winner):
    assert Contest(mixture=0.10, gaussian=0.05, lead=0.05, error=error, n_rows=16).winner == winner


@pytest.mark.parametrize(("lead", "is_clear"), [(0.09, True), (0.07, False), (-0.03, False), (-0.05, True)])
def test_a_clear_case_ends_the_contest(lead, is_clear):
    assert Contest(mixture=0.0, gaussian=0.0, lead=lead, error=0.02, n_rows=16).is_clear == is_clear


def test_one_row_counts_for_a_nat_at_most():
    """By hand: the Gaussian is ahead by .5 in 24 rows and behind by 22 in one, which counts as 1."""
    mixture, gaussian = np.full(25, 1.0), np.full(25, 0.5)
    gaussian[7] = 23.0
    contest = Contest.between(mixture, gaussian)
    assert contest.gaussian > contest.mixture
    assert contest.lead == pytest.approx((24 * 0.5 - 1.0) / 25)
    assert contest.error == pytest.approx(1.5 / 25)  # 1.5 times that of one 1 among 25, √(24/25² / 24)
    assert contest.winner == "gaussian"


def test_folds_are_apart_and_as_many_as_it_takes(monkeypatch):
    """Held-back rows have no holes and are never held back twice; a clear case needs no more of them."""
    inputs, held = make_inputs(), []

    def hold_back(leads):
        def one(rows, *_):
            held.append(rows)
            return np.array([leads[len(held) - 1], np.zeros(len(rows))]), False

        return one

    unclear, clear = np.resize([0.5, -0.5], 6), np.resize([0.9, 0.8], 6)
    for leads, count in (((clear,), 1), ((unclear, -clear), 2), ((unclear,) * 3, 3)):
        held.clear()
        monkeypatch.setattr(contests, "_hold_back", hold_back(leads))
        contest = hold_contest(RECIPE, inputs)
        rows = np.concatenate(held)
        assert len(held) == count
        assert contest.n_rows == len(rows) == len(np.unique(rows)) == 6 * count
        assert np.all(rows % 2 == 1)


def test_rows_with_error_bars_take_part():
    """Without them there would be none to hold back."""
    inputs = make_inputs(bars=0.2)
    assert not inputs.table.is_certain.any()
    contest = hold_contest(RECIPE, inputs)
    assert contest.n_rows in (6, 12, 18)
    assert np.isfinite([contest.mixture, contest.gaussian, contest.lead, contest.error]).all()


def test_too_few_rows_make_no_contest():
    assert hold_contest(RECIPE, make_inputs(n=28)) is None


def test_an_interrupted_contest_ends_with_its_fold():
    """Each of the two forms is stopped once."""
    calls = []

    def stop(progress):
        calls.append(progress)
        return True

    contest = hold_contest(replace(RECIPE, callback=stop), make_inputs())
    assert contest.is_interrupted
    assert contest.n_rows == 6
    assert [progress.phase for progress in calls] == ["trial"] * 2
