"""Sweeps over a table."""

import numpy as np

from semigp.core.chained import sweeps
from semigp.core.chained.regression import Regression


def test_reference_rows_are_the_fullest_and_know_every_column(monkeypatch):
    monkeypatch.setattr(sweeps, "MAX_ROWS", 3)
    monkeypatch.setattr(sweeps, "_MIN_KNOWN", 2)
    missing = np.zeros((6, 3), bool)
    missing[:4, 2] = True  # only rows 4 and 5 know the last column,
    missing[4:, :2] = True  # and these have the most holes
    chosen = sweeps.reference_rows(missing, 0)
    assert len(chosen) == len(set(chosen)) == 5
    assert set(chosen[:3]) < {0, 1, 2, 3}
    assert set(chosen[3:]) == {4, 5}


def test_draws_are_of_the_conditional_they_report():
    """Missing entries alone, from N(mean, variance) with the generator's own normals, to the last digit."""
    random = np.random.default_rng(0)
    table = random.normal(size=(20, 3))
    missing = np.zeros(table.shape, bool)
    missing[:6, 1] = True
    drawn, regressions = np.where(missing, 0.0, table), {1: Regression(1.0, 0.2, 0.1, 1.0)}
    mean, variance = sweeps.draw_missing(drawn, missing, np.arange(20), regressions, np.random.default_rng(7))
    noise = np.random.default_rng(7).normal(size=6)
    np.testing.assert_array_equal(drawn[:6, 1], mean[:6, 1] + np.sqrt(variance[:6, 1]) * noise)
    np.testing.assert_array_equal(drawn[~missing], table[~missing])
    assert np.all(variance[missing] > 0)
    assert np.all(variance[~missing] == 0)


def test_the_column_with_the_fewest_holes_comes_first():
    missing = np.zeros((20, 3), bool)
    missing[:6, 0] = missing[:2, 2] = True
    filled, gps = np.random.default_rng(0).normal(size=(20, 3)), {j: Regression(1.0, 0.2, 0.1, 1.0) for j in (0, 2)}
    assert [j for j, *_ in sweeps.sweep_columns(filled, missing, np.arange(20), gps)] == [2, 0]
