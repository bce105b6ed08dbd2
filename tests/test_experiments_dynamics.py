"""The experiment on latent dynamics: its problems and its tables. The models have tests of their own."""

import numpy as np
import pytest

from semigp.experiments import state_space
from semigp.experiments.simulated_systems import N_AHEAD, N_TRAIN, SIMULATED, simulated


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_systems(name):
    """The same seed gives the same system, another seed another one; nothing runs away; the noise has its size."""
    values, inputs = simulated(name, 0)
    assert values.shape == (N_TRAIN + N_AHEAD,)
    assert (inputs is not None) == SIMULATED[name].is_driven
    np.testing.assert_array_equal(simulated(name, 0)[0], values)
    assert np.abs(simulated(name, 1)[0] - values).max() > 0.1
    assert np.abs(values).max() < 10
    ahead, behind = values[: N_TRAIN // 2], values[N_TRAIN // 2 : N_TRAIN]
    assert 0.5 < ahead.std() / behind.std() < 2.0


def test_gaps():
    for seed in range(20):
        is_gap = state_space.gaps(seed)
        assert is_gap.sum() == state_space.GAP * state_space.N_GAPS
        assert not is_gap[:5].any()
        assert not is_gap[-5:].any()


def test_cells_are_all_different():
    cells = state_space.cells("paper")
    assert len(set(cells)) == len(cells) == 3 * 4 + (10 + 3) * len(SIMULATED)


def test_tables():
    """Means over seeds, at their places."""
    rows = [
        {"task": task, "name": name, "seed": seed, "way": way, "RMSE": 0.5 + seed, "CRPS": 0.25 + seed, "coverage": 0.9,
         "seconds": 3.0}
        for task, name in (("measured", "drive"), ("simulated", "tanks"), ("gaps", "tanks"))
        for way in (state_space.OURS, state_space.FORECASTER, state_space.LINEAR, state_space.LINE)
        for seed in (0, 1)
    ]  # fmt: skip
    table = state_space.table(rows)
    assert "| drive | StateSpaceGP | 1.00 | 0.750 | 0.900 | 3.00 |" in table
    assert "Lowest published RMSE: drive 0.373." in table
    assert "| tanks | 0.75 ± 0.50 | 0.75 ± 0.50 | 0.75 ± 0.50 | 0.900 |" in table
    assert "| tanks | 1.00 ± 0.50 | 1.00 ± 0.50 | 1.00 ± 0.50 | 0.900 |" in table
