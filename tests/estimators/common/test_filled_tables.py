"""How filled tables are returned. Oracle: the types of the table that was given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import semigp
from semigp import GPImputer, SemiDescribedGPRegressor
from semigp.columns import Columns
from semigp.estimators.common.filled_tables import FilledTables

from ..mixed import mixed_frame

CODES = np.array([[2.4, 0.5], [2.0, 0.25], [3.0, 0.125]])


def test_arrays_stay_arrays():
    """Unchanged, and with a table of another kind as that."""
    tables = FilledTables.like(np.full((3, 2), np.nan), None)
    assert tables.filled(CODES) is CODES
    found = tables.filled(CODES, pd.DataFrame(CODES, columns=["a", "b"]))
    assert list(found.columns) == ["a", "b"]
    assert tables.spreads(CODES) is CODES


@pytest.mark.parametrize("is_polars", [False, True])
def test_frames_of_numbers_keep_their_types(is_polars):
    """A nullable whole number is rounded; known entries and the index stay. Standard deviations are floats."""
    if is_polars:
        frame = pl.DataFrame({"a": pl.Series([None, 2, 3], dtype=pl.Int32), "b": [0.5, None, 0.125]})
    else:
        frame = pd.DataFrame({"a": pd.array([None, 2, 3], "Int64"), "b": [0.5, None, 0.125]}, index=list("xyz"))
    tables = FilledTables.like(frame, None)
    for found in (tables.filled(CODES), tables.filled(CODES, frame)):
        assert list(found["a"]) == [2, 2, 3]
        assert list(found["b"]) == [0.5, 0.25, 0.125]
        assert list(found.dtypes) == list(frame.dtypes)
        assert is_polars or list(found.index) == list("xyz")
    spreads = tables.spreads(CODES)
    assert isinstance(spreads, type(frame))
    np.testing.assert_array_equal(spreads.to_numpy(), CODES)
    np.testing.assert_array_equal(tables.filled(CODES, CODES), CODES)  # a model of a frame may meet an array


def test_a_file_keeps_no_training_table():
    """Numbers come back without it, as floats; other columns are asked for."""
    frame = pd.DataFrame({"a": pd.array([None, 2, 3], "Int64"), "b": [0.5, None, 0.125]})
    stored = FilledTables(**FilledTables.like(frame, None)._stored())
    assert stored.training is None
    np.testing.assert_array_equal(stored.filled(CODES).to_numpy(), CODES)
    text = pd.DataFrame({"a": ["u", "v", None], "b": [0.5, None, 0.125]})
    stored = FilledTables(**FilledTables.like(text, Columns.learn(text))._stored())
    with pytest.raises(ValueError, match=r"does not keep a training table .* Give the table"):
        stored.filled(CODES)
    codes = np.array([[0.0, 0.5], [1.0, 0.25], [1.0, 0.125]])
    assert list(stored.filled(codes, text)["a"]) == ["u", "v", "v"]


def test_spreads_have_the_columns_that_are_used():
    """Identifiers are left out; the rest has their names."""
    frame = pd.DataFrame({"id": [f"row {i}x{i * i}" for i in range(30)], "b": np.arange(30.0)})
    with pytest.warns(UserWarning, match="id"):
        columns = Columns.learn(frame)
    found = FilledTables.like(frame, columns).spreads(np.zeros((30, 1)))
    assert list(found.columns) == ["b"]


@pytest.mark.parametrize("kind", [GPImputer, SemiDescribedGPRegressor])
def test_models_from_files(kind, tmp_path):
    """A mixed frame is asked for. Filled from a file it is as before."""
    _, holes, y = mixed_frame(30)
    model = kind(n_draws=1, random_state=0).fit(holes, y)
    model.save(tmp_path / "m")
    loaded = semigp.load(tmp_path / "m")
    with pytest.raises(ValueError, match="Give the table"):
        loaded.impute()
    pd.testing.assert_frame_equal(loaded.impute(holes), model.impute(holes))
    assert model.impute().notna().all(axis=None)
