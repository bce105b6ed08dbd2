"""Rows in chunks. Oracle: all rows at once, in NumPy."""

import jax
import numpy as np
import pytest

from semigp.core.numerics import chunks


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("n", [8, 21, 24])
def test_sums_and_maps_are_those_of_all_rows(random, n):
    """One chunk, three filled up, three without filling; 1e-13 for another order of sums."""
    rows, weights = random.normal(size=(n, 3)), random.random((n, 2))
    total = jax.jit(lambda r, w: chunks.sum_over_rows(lambda a, b: b.T @ a, r, w, 8))(rows, weights)
    np.testing.assert_allclose(total, weights.T @ rows, rtol=1e-13, atol=1e-13)
    mapped = jax.jit(lambda r: chunks.map_rows(lambda a: {"square": a**2}, r, 8))(rows)
    np.testing.assert_array_equal(mapped["square"], rows**2)


def test_size_of_a_chunk_by_the_environment(monkeypatch):
    monkeypatch.setenv(chunks.CHUNK_VARIABLE, "1000")
    assert chunks.chunk_size() == 1000
    assert chunks.rows_per_chunk(10**6, 10) == 100
    for wrong in ("0", "-5", "many"):
        monkeypatch.setenv(chunks.CHUNK_VARIABLE, wrong)
        with pytest.raises(ValueError, match=f"{chunks.CHUNK_VARIABLE} is '{wrong}'; it must be a positive whole"):
            chunks.chunk_size()
