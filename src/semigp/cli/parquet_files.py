"""Tables in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

from ..columns.values import LARGEST
from .parquet_sizes import memory_bytes, unpacked_bytes
from .problems import Problem
from .wording import check_names, in_a_line

SUFFIXES = (".parquet", ".pq")
_OTHER_KINDS = (pl.String, pl.Null, pl.Boolean, pl.Categorical, pl.Enum)
_COPIES = 4  # of a table, that a command has at once: as read, as numbers, in standard units, and in a fit
# Units of times in Parquet files. Nanoseconds reach from 1677 to 2262, so they are never out of range.
_UNITS = {"days": timedelta(1), "ms": timedelta(milliseconds=1), "us": timedelta(microseconds=1), "ns": None}


def read_parquet(path: Path, rows: slice = slice(None)) -> pl.DataFrame:
    """Rows of a file, in columns of numbers, times, booleans or text."""
    if not path.is_file():
        raise FileNotFoundError(2, "", str(path))
    with _readable(path):  # a name such as a[1].parquet is not a pattern
        scanned = pl.scan_parquet(path, glob=False)
        n, held = scanned.select(pl.len()).collect().item(), unpacked_bytes(path)
    for name, kind in parquet_head(path).schema.items():
        _check_kind(name, kind, path)
    _check_memory(held * len(range(n)[rows]) // max(n, 1), path)
    with _readable(path):
        table = scanned[rows].collect()
    # Equal texts share their letters in what polars has read, but not later.
    _check_memory(sum(column.str.len_bytes().sum() for column in table if column.dtype == pl.String), path)
    return pl.DataFrame([_parquet_column(column, path) for column in table])


def check_pages(path: Path) -> None:
    """Raise a Problem if pages of a file say that they hold what cannot be."""
    with _readable(path):
        unpacked_bytes(path)


def parquet_head(path: Path) -> pl.DataFrame:
    """The names and types of the columns of a file, without any rows."""
    with _readable(path):
        schema = pl.scan_parquet(path, glob=False).collect_schema()
    check_names(schema.names(), path)
    return pl.DataFrame(schema=schema)


def _check_memory(held: int, path: Path) -> None:
    """Raise a Problem if so many bytes cannot be worked with in memory."""
    memory = memory_bytes()
    if memory is not None and held * _COPIES > memory:
        raise Problem(
            f"{path} unpacks to {held / 2**30:.1f} GiB, too much for {memory / 2**30:.1f} GiB of memory, of which a "
            f"table may take one part in {_COPIES}. Keep fewer rows or columns, or fit with semigp regress --stream, "
            "which reads part by part."
        )


def _check_kind(name: str, kind: pl.DataType, path: Path) -> None:
    """Raise a Problem unless a column holds numbers, times, booleans or text. What is nested may be of any size."""
    if not (kind.is_numeric() or kind.is_temporal() or kind in _OTHER_KINDS):
        raise Problem(f"{path}, column {name!r} holds {kind}; only numbers, times and text can be read.")


def read_part(path: Path, rank: int, count: int) -> pl.DataFrame:
    """Part number `rank` of `count` parts of the rows of a Parquet file, of a folder, or of a pattern such as *.pq.

    Only this part is read.
    """
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise Problem(f"{path}: --distributed needs Parquet, of which each process reads its own rows. Convert it.")
        with _readable(path):
            n = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
        if n < 2 * count:
            raise Problem(f"{path} has {n} rows: too few for {count} processes.")
        return read_parquet(path, slice(rank * n // count, (rank + 1) * n // count))
    folder, pattern = (path, "*") if path.is_dir() else (path.parent, path.name)
    files = sorted(file for file in folder.glob(pattern) if file.suffix.lower() in SUFFIXES)
    if not files and not path.is_dir() and "*" not in path.name:
        raise FileNotFoundError(2, "", str(path))
    if len(files) < count:
        raise Problem(f"{path}: {len(files)} Parquet files, too few for {count} processes.")
    parts = [read_parquet(file) for file in files[rank::count]]
    try:
        return with_rows(pl.concat(parts, how="vertical_relaxed"), path)
    except pl.exceptions.PolarsError as error:
        raise Problem(f"{path}: the files differ in their columns: {in_a_line(error)}") from error


def with_rows(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The table. Raises a Problem if it has no rows."""
    if not len(table):
        raise Problem(f"{path}: there are no rows.")
    return table


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn errors of polars about a Parquet file into a Problem."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise Problem(f"{path} is not a Parquet file that can be read: {in_a_line(error)}") from error
    except pl.exceptions.PanicException as error:
        raise Problem(f"{path} is not a Parquet file that can be read: it is damaged.") from error


def _parquet_column(column: pl.Series, path: Path) -> pl.Series:
    kind = column.dtype
    if kind.is_integer():
        whole = column.cast(pl.Int64, strict=False)  # null where a number does not fit
        fits = whole.null_count() == column.null_count() and not ((whole > LARGEST) | (whole < -LARGEST)).any()
        return whole if fits else column.cast(pl.String)
    if kind == pl.Boolean:
        return column
    if kind.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if isinstance(kind, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if isinstance(kind, pl.Date | pl.Datetime | pl.Duration):
        _check_times(column, path)
    return column


def _check_times(column: pl.Series, path: Path) -> None:
    """Raise a Problem if a time is outside the range that Python can represent."""
    kind, start = column.dtype, datetime(1970, 1, 1)
    first, last = timedelta.min, timedelta.max  # of spans of time
    if not isinstance(kind, pl.Duration):
        margin = timedelta(getattr(kind, "time_zone", None) is not None)  # in another time zone, it may be another year
        first, last = datetime.min + margin - start, datetime.max - margin - start
    unit = _UNITS[getattr(kind, "time_unit", "days")]
    if unit is None:
        return
    ends = (max(-(2**63), min(2**63 - 1, end // unit)) for end in (first, last))
    outside = ~column.to_physical().is_between(*ends)
    if outside.any():
        row = outside.arg_true()[0] + 1
        raise Problem(
            f"{path}, row {row}, column {column.name!r}: the time is out of range; years must be between 1 and 9999."
        )
