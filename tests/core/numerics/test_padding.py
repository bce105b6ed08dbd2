"""Round sizes. Oracles: their own descriptions."""

import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.numerics.padding import nearly, pad_rows, padded_length, round_up


def test_rows_to_predict():
    """Powers of two from 64 on, then multiples of 4096; nothing stays nothing."""
    assert [padded_length(n) for n in (0, 1, 65, 4096, 4097)] == [0, 64, 128, 4096, 8192]


@pytest.mark.parametrize("share", [8, 32])
def test_a_fit_grows_by_a_small_share(share):
    """By less than eight rows, or at most a share-th; and few different sizes come of many."""
    counts = np.arange(1, 3000)
    sizes = np.array([nearly(int(n), share) for n in counts])
    assert np.all(sizes >= counts)
    assert np.all(sizes - counts <= np.maximum(7, counts / share))
    assert len(set(sizes.tolist())) < 12 * share
    assert nearly(100_001, share, most=64) == 100_032


def test_round_up():
    assert [round_up(n, 16) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]


@pytest.mark.parametrize("library", [np, jnp])
def test_rows_of_a_value_come_behind(library):
    rows = library.ones((2, 3))
    padded = pad_rows(rows, 4, 7.0)
    assert type(padded) is type(rows)
    np.testing.assert_array_equal(padded, [[1.0] * 3] * 2 + [[7.0] * 3] * 2)
    np.testing.assert_array_equal(pad_rows(library.ones(2), 3), [1.0, 1.0, 0.0])
