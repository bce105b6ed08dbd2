"""Which linear shares are offered."""

import numpy as np

from semigp.core.chained import shares
from semigp.core.chained.regression import CURVED, NEARLY_LINEAR


def test_the_grid_that_finds_hidden_entries_better(monkeypatch):
    """The curved one has to win by a tenth of a nat."""
    table = np.random.default_rng(0).normal(size=(30, 3))
    table[:5, 0] = np.nan
    for curved, expected in ((0.85, CURVED), (0.95, NEARLY_LINEAR)):
        losses = {CURVED: curved, NEARLY_LINEAR: 1.0}
        monkeypatch.setattr(shares, "_median_loss", lambda _, hidden, some, seed, losses=losses: losses[some])
        assert shares.choose_shares(table, 0) == expected


def test_hidden_entries_were_known_and_others_are_left(monkeypatch):
    table = np.random.default_rng(0).normal(size=(30, 3))
    table[:5, 0] = table[5:9, 2] = np.nan
    seen = []
    monkeypatch.setattr(shares, "_median_loss", lambda some, hidden, *_: seen.append((some, hidden)) or 0.0)
    shares.choose_shares(table, 0)
    assert len(seen) == 4  # two tables, two grids
    for some, hidden in seen:
        assert hidden.any()
        assert not np.isnan(some[hidden]).any()
        assert np.all(np.sum(~np.isnan(some) & ~hidden, axis=0) > 1)


def test_a_table_without_holes_decides_nothing():
    assert shares.choose_shares(np.random.default_rng(0).normal(size=(10, 2)), 0) == NEARLY_LINEAR
