"""Where rows come from. Oracle: the table that was written."""

import numpy as np
import polars as pl
import pytest

from semigp import ParquetRows
from semigp.estimators.streaming import row_sources
from semigp.estimators.streaming.row_sources import ArrayRows


def _read(source):
    blocks = [source.read(block) for block in range(source.n_blocks)]
    return tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))


def test_arrays_in_blocks(monkeypatch, random):
    monkeypatch.setattr(row_sources, "_ARRAY_BLOCK", 4)
    X, y = random.normal(size=(10, 2)), random.normal(size=10)
    source = ArrayRows(X, y)
    assert source.n_blocks == 3
    found = _read(source)
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], y[:, None])


def test_files_in_blocks(monkeypatch, tmp_path, random):
    """In the order of their names; null is NaN, and whole numbers are numbers."""
    monkeypatch.setattr(row_sources, "_PARQUET_BLOCK", 4)
    for name in ("b", "a"):
        table = pl.DataFrame({"x": [1, None, 3, 4, 5], "z": random.normal(size=5), "y": random.normal(size=5)})
        table.write_parquet(tmp_path / f"{name}.parquet")
    source = ParquetRows(tmp_path, ["z", "x"], "y")
    assert [file.name for file in ParquetRows.files(tmp_path)] == ["a.parquet", "b.parquet"]
    assert source.n_blocks == 4
    X, y = _read(source)
    expected = pl.concat([pl.read_parquet(tmp_path / f"{name}.parquet") for name in "ab"])
    np.testing.assert_array_equal(X[:, 0], expected["z"])
    np.testing.assert_array_equal(X[:, 1], [1, np.nan, 3, 4, 5] * 2)
    np.testing.assert_array_equal(y[:, 0], expected["y"])


def test_columns_that_are_not_there_or_no_numbers(tmp_path):
    pl.DataFrame({"x": [1.0], "name": ["a"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="has no column 'z'; there are x, name"):
        ParquetRows(tmp_path, ["z"], "x")
    with pytest.raises(ValueError, match="column 'name' holds String, not numbers"):
        ParquetRows(tmp_path, ["name"], "x")
    with pytest.raises(FileNotFoundError, match="no pattern that matches a file"):
        ParquetRows(tmp_path / "no-*.parquet", ["x"], "x")
