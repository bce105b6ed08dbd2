"""Tables in CSV and Parquet files, with columns of numbers, times, booleans or text.

Error messages name the file, the row and the column. Rows are counted from 1, without the header.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from ..columns.formats import Format, truths
from ..columns.texts import number_slips, read_numbers
from ..columns.values import float_in
from . import parquet_files
from .problems import Problem
from .sources import AS_USUAL, Reading, Source, read_csv
from .wording import listed, shortened

_SUFFIXES = {".csv": "csv", ".txt": "csv", ".tsv": "csv", **dict.fromkeys(parquet_files.SUFFIXES, "parquet")}

_CURE = "Correct it, or leave the cell empty if the value is missing."


def read_source(path: Path, reading: Reading, earlier: dict[str, Format] | None = None) -> Source:
    """A table and how it is written. Columns that leave this open are as in `earlier` files."""
    if _kind(path) == "parquet":
        return Source(parquet_files.with_rows(parquet_files.read_parquet(path), path))
    return read_csv(path, reading, earlier)


def read_table(path: Path) -> pl.DataFrame:
    """A table whose columns are numbers, times, booleans or text, with null where a value is missing."""
    return read_source(path, AS_USUAL).table


def write_table(table: pl.DataFrame, path: Path | None) -> None:
    """Write to a file, in the format of its suffix, or as CSV to the standard output."""
    table = table.with_columns(pl.selectors.float().fill_nan(None))
    for name, kind in table.schema.items():  # days are written as days
        if kind == pl.Datetime and (table[name] == table[name].dt.truncate("1d")).all():
            table = table.with_columns(pl.col(name).dt.date())  # in local time, unlike a cast
    if path is None:
        sys.stdout.write(table.write_csv())
    elif check_writable(path) == "parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path, separator="\t" if path.suffix.lower() == ".tsv" else ",")


def check_writable(path: Path) -> str:
    """The kind of file that a path stands for. Raises a Problem if it cannot be written."""
    kind = _kind(path)
    if not path.absolute().parent.is_dir():
        raise Problem(f"{path}: there is no folder {path.parent}.")
    return kind


def numbers(table: pl.DataFrame, names: list[str], path: Path) -> np.ndarray:
    """Columns as numbers, with NaN where a value is missing."""
    return np.column_stack([_numbers(table, name, path) for name in names]) if names else np.empty((len(table), 0))


def _numbers(table: pl.DataFrame, name: str, path: Path) -> np.ndarray:
    if name not in table.columns:
        there = listed(table.columns)
        raise Problem(f"{path}: there is no column {name!r} (an empty one would do); there are {there}.")
    column = table[name]
    if not (column.dtype.is_numeric() or column.dtype in (pl.Null, pl.Boolean)):
        values = _numbers_of_texts([None if value is None else str(value) for value in column], name, path)
    else:
        values = column.cast(pl.Float64).to_numpy()
    if np.isinf(values).any():
        row, count = np.argmax(np.isinf(values)) + 1, np.isinf(values).sum()
        many = "" if count == 1 else f" There are {count} such cells."
        raise Problem(f"{path}, row {row}, column {name!r}: the value is infinite.{many} {_CURE}")
    return values


def _numbers_of_texts(texts: list[str | None], name: str, path: Path) -> np.ndarray:
    """The numbers of a column of text; 1 for yes or true, and 0 for no or false. Raises a Problem if it has others."""
    plain = [np.nan if text is None else float_in(text) for text in texts]  # keys such as 007 are numbers if need be
    if None not in plain:
        return np.array(plain, dtype=float)
    found = read_numbers(texts)
    if found is not None:
        return found[0]
    words = truths(text for text in texts if text is not None)
    if words is not None:
        return np.array([np.nan if text is None else words[text] for text in texts])
    rows, example = number_slips(texts)
    if not rows:  # nothing but words such as NA
        return np.full(len(texts), np.nan)
    is_other = example is not None and read_numbers([texts[rows[0]]]) is not None
    what = f"is not written as {shortened(example)} is" if is_other else "is not a number"
    many = "" if len(rows) == 1 or example is None else f" There are {len(rows)} such cells."
    cure = _CURE if example is not None else "No cell is. To predict words rather than numbers, use semigp classify."
    raise Problem(f"{path}, row {rows[0] + 1}, column {name!r}: {shortened(texts[rows[0]])} {what}.{many} {cure}")


def rounded(name: str, values: np.ndarray) -> pl.Series:
    """A column of results, rounded to six digits."""
    return pl.Series(name, [float(f"{value:.6g}") for value in values])


def _kind(path: Path) -> str:
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise Problem(f"{path}: the name must end in .csv, .tsv or .parquet.")
    return kind
