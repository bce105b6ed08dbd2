"""Which tables of a chain are kept. Oracle: counting."""

import numpy as np
import pytest

from semigp.estimators.particles import chains, tables


def _check(schedule, n_draws):
    kept = [sweep for sweep in range(schedule.n_sweeps) if schedule.is_kept(sweep)]
    assert len(kept) == schedule.n_kept
    assert kept[-1] == schedule.n_sweeps - 1
    assert set(np.diff(kept)) <= {schedule.n_between}
    assert n_draws <= schedule.n_chains * schedule.n_kept < n_draws + max(schedule.n_chains, schedule.n_kept)


@pytest.mark.parametrize(("n_rows", "most"), [(300, 1000), (3000, 10), (60_000, 5)])
@pytest.mark.parametrize("n_draws", [1, 2, 3, 4, 15])
def test_chains_of_a_regression(n_draws, n_rows, most):
    _check(chains.schedule_for(n_draws, n_rows), min(n_draws, most))


@pytest.mark.parametrize("n_sweeps", [1, 2, 3, 10, 25])
@pytest.mark.parametrize("n_tables", [1, 2, 3, 4, 10])
def test_chains_of_an_imputation(n_tables, n_sweeps):
    """None in the first half."""
    schedule = tables.schedule_for(n_tables, n_sweeps)
    _check(schedule, n_tables)
    assert schedule.n_sweeps == n_sweeps
    assert not any(schedule.is_kept(sweep) for sweep in range(n_sweeps // 2))
