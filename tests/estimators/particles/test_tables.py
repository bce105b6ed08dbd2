"""Draws of whole tables. Oracles: what is known, the same rows in other company, and means over draws."""

import numpy as np
import pytest

from semigp.estimators.particles.layout import Layout
from semigp.estimators.particles.tables import choose_for_new_rows, draw_new_rows, draw_tables

GROUPS = ((0,), (1,), (2, 3, 4), (5,))


def _wanted(values, column):
    return np.concatenate([values, values**2], axis=-1)


def _never(chain, sweep, evidence):
    return False


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    a = random.normal(size=70)
    table = np.column_stack([a, np.sin(a), np.eye(3)[np.digitize(a, [-0.5, 0.5])], a**2 + 0.1 * random.normal(size=70)])
    hidden = random.random((70, 4)) < 0.2
    hidden[:, 3] = False
    for column, group in enumerate(GROUPS):
        table[np.ix_(hidden[:, column], list(group))] = np.nan
    return table


@pytest.fixture(scope="module")
def drawn(table):
    layout = Layout.of(table, GROUPS)
    return draw_tables(table, layout, _wanted, 3, 4, np.random.default_rng(0), _never)


def test_known_entries_stay(table, drawn):
    known = ~np.isnan(table)
    assert len(drawn.tables) == 3
    assert not drawn.is_interrupted
    assert drawn.evidence.shape == (8,)  # two chains of four sweeps
    layout = drawn.relations.layout
    for one in drawn.tables:
        np.testing.assert_array_equal(one[known], table[known])
        assert np.isin(one[:, 2:5], (0.0, 1.0)).all()
        assert (one[:, 2:5].sum(axis=1) == 1.0).all()
        assert np.all((one >= layout.lower) & (one <= layout.upper))
    assert not np.array_equal(drawn.tables[0], drawn.tables[1])


def test_expectations(table, drawn):
    """Of columns with holes only; E x² ≥ (E x)², and the means lie near those of draws: correlation over 0.8."""
    assert set(drawn.expectations) == {0, 1, 2}
    for column in (0, 1):
        holes = np.isnan(table[:, column])
        means = drawn.expectations[column][holes]
        assert np.all(means[:, 1] >= means[:, 0] ** 2 - 1e-12)
        draws = np.mean([one[holes, column] for one in drawn.tables], axis=0)
        assert np.corrcoef(draws, means[:, 0])[0, 1] > 0.8
    holes = np.isnan(table[:, 2])
    np.testing.assert_allclose(drawn.expectations[2][holes][:, :3].sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("when", [1, 3, 7])
def test_an_interrupt_leaves_a_table(table, when):
    """Of every chain, and expectations are there, whenever it came."""
    layout, random, calls = Layout.of(table, GROUPS), np.random.default_rng(0), []

    def is_stopped(*sweep):
        calls.append(sweep)
        return len(calls) >= when

    found = draw_tables(table, layout, _wanted, 6, 50, random, is_stopped)
    assert found.is_interrupted
    assert len(found.tables) == 3
    assert np.isfinite(found.tables).all()
    assert set(found.expectations) == {0, 1, 2}
    assert len(found.evidence) < 50


def test_new_rows_do_not_depend_on_their_company(table, drawn):
    """Exactly, for rows with any holes: also in a column that had none in training."""
    rows = table[:8].copy()
    rows[0], rows[1, 5] = np.nan, np.nan
    choose_for_new_rows(rows, drawn.relations, drawn.tables[0], 7)
    together = draw_new_rows(rows, drawn.relations, drawn.tables[0], 4, 3, (7, 0))
    assert together.shape == (4, 8, 6)
    known = ~np.isnan(rows)
    np.testing.assert_array_equal(together[:, known], np.tile(rows[known], (4, 1)))
    assert np.isfinite(together).all()
    for i in range(8):
        alone = draw_new_rows(rows[i : i + 1], drawn.relations, drawn.tables[0], 4, 3, (7, 0))
        np.testing.assert_array_equal(alone[:, 0], together[:, i])
    other = draw_new_rows(rows, drawn.relations, drawn.tables[0], 4, 3, (7, 1))
    assert not np.array_equal(other, together)
