"""Tables in CSV and Parquet files: numbers, times and text by column; whatever is wrong has a file, a row and a column.

Rows are counted from 1, the header not included.
"""

from __future__ import annotations

import csv
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .problems import Problem

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "-nan", "+nan", "null", "none", "-", "?", "."})
_LARGEST = 2**53  # from here on whole numbers are rounded
_DELIMITERS = ",;\t|"
# Whole numbers that a float holds exactly; numbers such as -1,5 where commas do not part fields.
_WHOLE, _DECIMAL_COMMA = re.compile(r"[+-]?\d{1,15}"), re.compile(r"[+-]?\d+(,\d*)?([eE][+-]?\d+)?")
_FORMS = ("%Y-%m", "%d.%m.%Y", "%Y/%m/%d", "%b %Y", "%B %Y")  # of dates, besides ISO 8601
_SUFFIXES = {".csv": "csv", ".txt": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def read_table(path: Path) -> pl.DataFrame:
    """A table whose columns are numbers (Float64), times, or text; null where missing."""
    if _kind(path) == "parquet":
        return _read_parquet(path)
    header, rows, has_commas = _read_csv(path)
    columns = zip(*rows, strict=True)
    return pl.DataFrame({name: _column(values, has_commas) for name, values in zip(header, columns, strict=True)})


def read_part(path: Path, rank: int, count: int) -> pl.DataFrame:
    """One of `count` parts of a Parquet file's rows, or of the Parquet files in a folder or of a pattern such as *.pq.

    Nothing else is read.
    """
    if path.is_file():
        if _kind(path) != "parquet":
            raise Problem(f"{path}: --distributed reads Parquet files, from which each process takes its own rows.")
        n = pl.scan_parquet(path).select(pl.len()).collect().item()
        if n < 2 * count:
            raise Problem(f"{path} has {n} rows: too few for {count} processes.")
        return _read_parquet(path, slice(rank * n // count, (rank + 1) * n // count))
    folder, pattern = (path, "*") if path.is_dir() else (path.parent, path.name)
    files = sorted(file for file in folder.glob(pattern) if _SUFFIXES.get(file.suffix.lower()) == "parquet")
    if not files and not path.is_dir() and "*" not in path.name:
        raise FileNotFoundError(2, "", str(path))
    if len(files) < count:
        raise Problem(f"{path}: {len(files)} Parquet files, too few for {count} processes.")
    return pl.concat([_read_parquet(file) for file in files[rank::count]], how="vertical_relaxed")


def write_table(table: pl.DataFrame, path: Path | None) -> None:
    """To a file, by its suffix, or as CSV to the standard output."""
    table = table.with_columns(pl.selectors.float().fill_nan(None))
    for name, kind in table.schema.items():  # days are written as days
        if kind == pl.Datetime and (table[name] == table[name].dt.truncate("1d")).all():
            table = table.with_columns(pl.col(name).cast(pl.Date))
    if path is None:
        sys.stdout.write(table.write_csv())
    elif check_writable(path) == "parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path, separator="\t" if path.suffix.lower() == ".tsv" else ",")


def check_writable(path: Path) -> str:
    """The kind of file that would be written; a problem where that cannot be."""
    kind = _kind(path)
    if not path.absolute().parent.is_dir():
        raise Problem(f"{path}: there is no folder {path.parent}.")
    return kind


def numbers(table: pl.DataFrame, names: list[str], path: Path) -> np.ndarray:
    """Columns as numbers, NaN where missing."""
    return np.column_stack([_numbers(table, name, path) for name in names]) if names else np.empty((len(table), 0))


def _numbers(table: pl.DataFrame, name: str, path: Path) -> np.ndarray:
    if name not in table.columns:
        there = ", ".join(table.columns)
        raise Problem(f"{path}: there is no column {name!r} (an empty one would do); there are {there}.")
    column = table[name]
    if not column.dtype.is_numeric():
        for row, value in enumerate(column, 1):
            if value is not None and _number(str(value)) is None:
                raise Problem(f"{path}, row {row}, column {name!r}: {_shortened(value)} is not a number.")
    values = column.cast(pl.Float64).to_numpy()
    if np.isinf(values).any():
        raise Problem(f"{path}, row {np.argmax(np.isinf(values)) + 1}, column {name!r}: the value is infinite.")
    return values


def rounded(name: str, values: np.ndarray) -> pl.Series:
    """A column of results, to six digits."""
    return pl.Series(name, [float(f"{value:.6g}") for value in values])


def _kind(path: Path) -> str:
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise Problem(f"{path}: the name must end in .csv, .tsv or .parquet.")
    return kind


def _read_parquet(path: Path, rows: slice = slice(None)) -> pl.DataFrame:
    if not path.is_file():
        raise FileNotFoundError(2, "", str(path))
    try:
        table = pl.read_parquet(path) if rows == slice(None) else pl.scan_parquet(path)[rows].collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise Problem(f"{path} is not a Parquet file that can be read: {error}") from error
    for name, kind in table.schema.items():
        if kind.is_integer() and not (table[name].abs() > _LARGEST).any():
            table = table.with_columns(pl.col(name).cast(pl.Int64))
        elif kind.is_integer():
            table = table.with_columns(pl.col(name).cast(pl.String))
        elif kind.is_numeric() or kind == pl.Boolean:
            table = table.with_columns(pl.col(name).cast(pl.Float64).fill_nan(None))
        elif isinstance(kind, pl.Categorical | pl.Enum):
            table = table.with_columns(pl.col(name).cast(pl.String))
        elif not (kind.is_temporal() or kind in (pl.String, pl.Null)):
            raise Problem(f"{path}, column {name!r} holds {kind}; numbers, times and text can be read.")
    return table


def _read_csv(path: Path) -> tuple[list[str], list[list[str]], bool]:
    """Header, rows, and whether numbers may have a comma in them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            first = file.readline()
            file.seek(0)
            delimiter = max(_DELIMITERS, key=first.count)
            lines = csv.reader(file, delimiter=delimiter, strict=True)
            header = _check_header(next(lines, []), path)
            rows: list[list[str]] = []
            for fields in lines:
                if len(header) == 1 and not fields:  # a missing value
                    rows.append(fields)
                elif fields:  # else an empty line is no row
                    rows.append(fields)
                    if len(fields) != len(header):
                        where = f"{path}, row {len(rows)} (line {lines.line_num})"
                        raise Problem(f"{where}: {len(fields)} fields, where the header has {len(header)}.")
                    if "\0" in "".join(fields):
                        raise Problem(f"{path}, row {len(rows)}: a zero byte. Is this a text file?")
        except UnicodeDecodeError as error:
            line = 1 + path.read_bytes()[: error.start].count(b"\n")
            raise Problem(f"{path}, near line {line}: not UTF-8 text. Save the file as UTF-8.") from error
        except csv.Error as error:
            raise Problem(f"{path}, line {lines.line_num}: {error}.") from error
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise Problem(f"{path}: there are no rows below the header.")
    return header, [fields or [""] for fields in rows], delimiter != ","


def _check_header(fields: list[str], path: Path) -> list[str]:
    header = [field.strip() for field in fields]
    if not any(header):
        raise Problem(f"{path}: the file is empty; a line with the names of the columns comes first.")
    for number, name in enumerate(header, 1):
        if not name:
            raise Problem(f"{path}: column {number} has no name in the header.")
        if name in header[: number - 1]:
            raise Problem(f"{path}: column {name!r} is there twice, as {header.index(name) + 1} and {number}.")
    if all(_number(name) is not None for name in header):
        raise Problem(f"{path}: the first line holds numbers only; the names of the columns belong there.")
    return header


def _column(fields: Any, has_commas: bool) -> pl.Series:
    """Numbers if all fields are, whole ones as such, else times if all are, else text; keys such as 007 are text."""
    cells = [None if field.strip().lower() in MISSING else field.strip() for field in fields]
    known = [cell for cell in cells if cell is not None]
    if has_commas and all(_DECIMAL_COMMA.fullmatch(cell) for cell in known):
        cells = [None if cell is None else cell.replace(",", ".") for cell in cells]
        known = [cell for cell in cells if cell is not None]
    if any(_is_key(cell) for cell in known):
        return pl.Series(cells, dtype=pl.String)
    if known and all(_WHOLE.fullmatch(cell) for cell in known):
        return pl.Series([None if cell is None else int(cell) for cell in cells], dtype=pl.Int64)
    if all(_number(cell) is not None for cell in known):
        return pl.Series([None if cell is None else _number(cell) for cell in cells], dtype=pl.Float64)
    if all(_time(cell) is not None for cell in known):
        return pl.Series([None if cell is None else _time(cell) for cell in cells], dtype=pl.Datetime("us"))
    return pl.Series(cells, dtype=pl.String)


def _is_key(cell: str) -> bool:
    """Whether digits are a name rather than a number: 00123, or more of them than a number holds."""
    digits = cell.lstrip("+-")
    return digits.isdecimal() and ((len(digits) > 1 and digits[0] == "0") or len(digits) > 16 or int(digits) > _LARGEST)


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _time(cell: str) -> datetime | None:
    """A date or time as in ISO 8601, or a year and month; in UTC where it has a zone."""
    for form in _FORMS:
        try:
            return datetime.strptime(cell, form)
        except ValueError:
            continue
    if not cell[:4].isdigit() or "-" not in cell:
        return None
    try:
        time = datetime.fromisoformat(cell)
        return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    except (OverflowError, ValueError):
        return None


def _shortened(value: Any) -> str:
    text = repr(str(value))
    return text if len(text) <= 40 else f"{text[:37]}…'"
