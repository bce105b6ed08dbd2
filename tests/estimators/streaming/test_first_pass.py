"""A first pass. Oracle: NumPy's moments of the whole table."""

import numpy as np
import pytest

from semigp.estimators.streaming import row_sources
from semigp.estimators.streaming.first_pass import first_pass
from semigp.estimators.streaming.row_sources import ArrayRows


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(row_sources, "_ARRAY_BLOCK", 7)


def test_counts_moments_and_a_sample(random):
    """Rows without outputs do not count; 1e-12 for sums block by block."""
    X, y = 3.0 + random.normal(size=(50, 2)), random.normal(size=(50, 2))
    X[::5, 0], y[1, 1], y[10:14] = np.nan, np.nan, np.nan
    found = first_pass(ArrayRows(X, y), 20, np.random.default_rng(0))
    used = ~np.isnan(y).all(axis=1)
    assert (found.n_rows, found.n_incomplete) == (46, int(np.isnan(X[used]).any(axis=1).sum()))
    assert not found.outputs_go_together
    np.testing.assert_allclose(found.x_units.mean, np.nanmean(X[used], axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.y_units.std, np.nanstd(y[used], axis=0), rtol=1e-12)
    rows = {tuple(row) for row in np.round(found.y_units.standard(y[used]), 9).tolist()}
    assert len({tuple(row) for row in np.round(found.targets, 9).tolist()} & rows) >= 19  # NaN is unlike itself
    assert found.inputs.shape == found.targets.shape == (20, 2)


def test_what_cannot_be_learned_from():
    X, y = np.ones((9, 2)), np.ones((9, 1))
    for bad, sentence in (
        ((np.where(np.arange(18).reshape(9, 2) == 17, np.inf, X), y), "X is infinite at row 8, column 1"),
        ((X, np.full((9, 1), np.nan)), "y has no value in column 0"),
        ((X, np.where(np.arange(9)[:, None], np.nan, y)), "Only 1 sample.s. have an output; a minimum of 2"),
    ):
        with pytest.raises(ValueError, match=sentence):
            first_pass(ArrayRows(*bad), 5, np.random.default_rng(0))
