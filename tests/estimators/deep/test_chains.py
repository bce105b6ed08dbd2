"""Chains of stacks. Oracles: the GP with one layer fitted without the rows that are held back, and the plan."""

import numpy as np
import pytest

from semigp.core.exact.certain import OutputDensity, fit_hyperparameters
from semigp.estimators.deep.chains import ITERATIONS, Plan, draw_chains
from semigp.estimators.deep.complete_tables import CompleteTable

GROUPS = np.arange(1)


@pytest.fixture
def table(random):
    inputs = np.sort(random.uniform(-1.5, 1.5, (30, 1)), axis=0)
    return CompleteTable(inputs, np.sign(inputs) + 0.05 * random.normal(size=(30, 1)))


def _plan(*tables, n_chains=1):
    return Plan(tables, GROUPS, None, None, n_chains, False, seed=3)


def _never(chain, iteration, value):
    return False


def test_every_row_is_held_back_once(table):
    plan = _plan(table, n_chains=5)
    np.testing.assert_array_equal(np.sum([plan.is_held_back(chain) for chain in range(5)], axis=0), 1)


def test_tables_are_shared_out(table):
    tables = [CompleteTable(table.inputs + i, table.targets) for i in range(5)]
    plan = _plan(*tables, n_chains=2)
    assert [len(plan.tables_of(chain)) for chain in range(2)] == [3, 2]
    assert _plan(table, n_chains=3).tables_of(2) == [table]


def test_of_many_rows_some_take_part(random):
    table = CompleteTable(random.normal(size=(1000, 1)), np.zeros((1000, 1)))
    assert len(np.unique(_plan(table).rows)) == 400


def test_a_chain(table):
    """One layer's density of what was held back is that of a GP fitted to the rest; every kept draw sees all rows."""
    plan, told = _plan(table), []
    (chain,), was_stopped = draw_chains(plan, [2], lambda *news: told.append(news) or False)
    assert not was_stopped
    assert len(told) == ITERATIONS
    back = plan.is_held_back(0)
    known = table.inputs[~back], table.targets[~back]
    one = OutputDensity.given(fit_hyperparameters(*known, GROUPS, None, 60), *known, precision=float)
    expected = one.log_densities(table.inputs[back][:, None], table.targets[back])[:, 0]
    np.testing.assert_allclose(chain.one_layer, expected, atol=1e-7)
    assert chain.stacked.shape == expected.shape
    assert len(chain.draws) == 6
    assert all(draw.inputs is table.inputs and draw.n_layers == 2 for draw in chain.draws)
    assert len({draw.layers[0].weights.tobytes() for draw in chain.draws}) > 1


def test_the_same_seed_gives_the_same_chain(table):
    first, second = (draw_chains(_plan(table), [2], _never)[0][0] for _ in range(2))
    np.testing.assert_array_equal(first.stacked, second.stacked)
    np.testing.assert_array_equal(first.draws[-1].layers[0].weights, second.draws[-1].layers[0].weights)


def test_a_chain_that_is_stopped_early_leaves_nothing(table):
    assert draw_chains(_plan(table), [2], lambda *news: True) == ([], True)
