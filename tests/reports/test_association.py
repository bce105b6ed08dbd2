"""Strength of relations between columns, against SciPy and against what chance gives."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from scipy.stats.contingency import association

from semigp.reports.association import strength, strengths


def test_numbers_have_the_rank_correlation_of_rows_that_both_know():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 200))
    b = np.exp(a + 0.5 * b)
    a[:50] = np.nan
    assert strength(a, b, False, False) == pytest.approx(abs(spearmanr(a[50:], b[50:])[0]), abs=1e-12)
    assert strength(a, -b, False, False) == pytest.approx(strength(a, b, False, False), abs=1e-12)


def test_levels_have_the_v_of_cramer_when_there_are_many_rows():
    """Less what chance gives, which is (r - 1)(k - 1)/n of its square: 6/20,000."""
    random = np.random.default_rng(0)
    a = random.integers(0, 3, size=20_000)
    b = np.where(random.random(20_000) < 0.4, a, random.integers(0, 4, size=20_000))
    v = association(np.histogram2d(a, b, bins=(3, 4))[0].astype(int), method="cramer")
    assert strength(a.astype(float), b.astype(float), True, True) == pytest.approx(v, abs=2e-3)


@pytest.mark.parametrize("kinds", [(True, True), (True, False)])
def test_columns_that_do_not_know_each_other_are_near_zero(kinds):
    """Ten levels explain (10 - 1)/(n - 1) = 23 % of 40 numbers by chance; that is taken off. Mean over 200 tables."""
    random = np.random.default_rng(0)
    found = [strength(*random.integers(0, 10, size=(2, 40)).astype(float), *kinds) ** 2 for _ in range(200)]
    assert np.mean(found) < 0.06


def test_a_category_that_decides_a_number_is_perfectly_related():
    levels = np.repeat([0.0, 1.0, 2.0], 10)
    assert strength(levels, levels * 7 % 3, True, False) == pytest.approx(1.0)


def test_no_strength_without_rows_or_without_change():
    few = np.r_[np.arange(5.0), np.full(5, np.nan)]
    table = np.column_stack([few, np.arange(10.0), np.ones(10)])
    assert np.isnan(strengths(table, np.zeros(3, bool))).all()
