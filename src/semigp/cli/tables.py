"""Tables in CSV and Parquet files, with columns of numbers, times, booleans or text.

Error messages name the file, the row and the column. Rows are counted from 1, without the header.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..series.dates import read_date
from .problems import Problem

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "-nan", "+nan", "null", "none", "-", "?", "."})
_LARGEST = 2**53  # larger whole numbers are rounded as floats
_DELIMITERS = ",;\t|"
_LONGEST_NAME = 500  # longer texts are most likely not names
_CONTROLS = re.compile(r"[\0-\x1f\x7f-\x9f]")
# Whole numbers that a float holds exactly; numbers such as -1,5 in files where commas do not separate fields.
_WHOLE, _DECIMAL_COMMA = re.compile(r"[+-]?\d{1,15}"), re.compile(r"[+-]?\d+(,\d*)?([eE][+-]?\d+)?")
# Units of times in Parquet files. Nanoseconds reach from 1677 to 2262, so they are never out of range.
_UNITS = {"days": timedelta(1), "ms": timedelta(milliseconds=1), "us": timedelta(microseconds=1), "ns": None}
_SUFFIXES = {".csv": "csv", ".txt": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def read_table(path: Path) -> pl.DataFrame:
    """A table whose columns are numbers, times, booleans or text, with null where a value is missing."""
    if _kind(path) == "parquet":
        return _with_rows(_read_parquet(path), path)
    header, rows, has_commas = _read_csv(path)
    columns = zip(*rows, strict=True)
    return pl.DataFrame({name: _column(values, has_commas) for name, values in zip(header, columns, strict=True)})


def read_part(path: Path, rank: int, count: int) -> pl.DataFrame:
    """Part number `rank` of `count` parts of the rows of a Parquet file, of a folder, or of a pattern such as *.pq.

    Only this part is read.
    """
    if path.is_file():
        if _kind(path) != "parquet":
            raise Problem(f"{path}: --distributed needs Parquet, of which each process reads its own rows. Convert it.")
        with _readable(path):
            n = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
        if n < 2 * count:
            raise Problem(f"{path} has {n} rows: too few for {count} processes.")
        return _read_parquet(path, slice(rank * n // count, (rank + 1) * n // count))
    folder, pattern = (path, "*") if path.is_dir() else (path.parent, path.name)
    files = sorted(file for file in folder.glob(pattern) if _SUFFIXES.get(file.suffix.lower()) == "parquet")
    if not files and not path.is_dir() and "*" not in path.name:
        raise FileNotFoundError(2, "", str(path))
    if len(files) < count:
        raise Problem(f"{path}: {len(files)} Parquet files, too few for {count} processes.")
    parts = [_read_parquet(file) for file in files[rank::count]]
    try:
        return _with_rows(pl.concat(parts, how="vertical_relaxed"), path)
    except pl.exceptions.PolarsError as error:
        raise Problem(f"{path}: the files differ in their columns: {_in_a_line(error)}") from error


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
        found = [None if value is None else _number(str(value)) for value in column]
        for row, (value, number) in enumerate(zip(column, found, strict=True), 1):
            if value is not None and number is None:
                raise Problem(f"{path}, row {row}, column {name!r}: {shortened(value)} is not a number.")
        column = pl.Series(found, dtype=pl.Float64)  # polars reads fewer numbers than Python does
    values = column.cast(pl.Float64).to_numpy()
    if np.isinf(values).any():
        raise Problem(f"{path}, row {np.argmax(np.isinf(values)) + 1}, column {name!r}: the value is infinite.")
    return values


def rounded(name: str, values: np.ndarray) -> pl.Series:
    """A column of results, rounded to six digits."""
    return pl.Series(name, [float(f"{value:.6g}") for value in values])


def _kind(path: Path) -> str:
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise Problem(f"{path}: the name must end in .csv, .tsv or .parquet.")
    return kind


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn errors of polars about a Parquet file into a Problem."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise Problem(f"{path} is not a Parquet file that can be read: {_in_a_line(error)}") from error
    except pl.exceptions.PanicException as error:
        raise Problem(f"{path} is not a Parquet file that can be read: it is damaged.") from error


def _read_parquet(path: Path, rows: slice = slice(None)) -> pl.DataFrame:
    if not path.is_file():
        raise FileNotFoundError(2, "", str(path))
    with _readable(path):  # a name such as a[1].parquet is not a pattern
        table = pl.scan_parquet(path, glob=False)[rows].collect()
    _check_names(table.columns, path)
    return pl.DataFrame([_parquet_column(column, path) for column in table])


def _with_rows(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    if not len(table):
        raise Problem(f"{path}: there are no rows.")
    return table


def _parquet_column(column: pl.Series, path: Path) -> pl.Series:
    kind = column.dtype
    if kind.is_integer():
        whole = column.cast(pl.Int64, strict=False)  # null where a number does not fit
        fits = whole.null_count() == column.null_count() and not ((whole > _LARGEST) | (whole < -_LARGEST)).any()
        return whole if fits else column.cast(pl.String)
    if kind == pl.Boolean:
        return column
    if kind.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if isinstance(kind, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if not (kind.is_temporal() or kind in (pl.String, pl.Null)):
        raise Problem(f"{path}, column {column.name!r} holds {kind}; only numbers, times and text can be read.")
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


def _read_csv(path: Path) -> tuple[list[str], list[list[str]], bool]:
    """The header, the rows, and whether numbers may contain a comma."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len((error.object[: error.start] + b"?").splitlines())
        raise Problem(f"{path}, near line {line}: not UTF-8 text. Save the file as UTF-8.") from error
    file = io.StringIO(text, newline="")
    delimiter = max(_DELIMITERS, key=file.readline().count)
    file.seek(0)
    lines = csv.reader(file, delimiter=delimiter, strict=True)
    begun = 0  # number of lines before this row
    rows: list[list[str]] = []
    try:
        header = _check_header(next(lines, []), path)
        begun = lines.line_num
        for fields in lines:
            begun = lines.line_num
            if len(header) == 1 and not fields:  # a missing value
                rows.append(fields)
            elif fields:  # an empty line is not a row if there are several columns
                rows.append(fields)
                if len(fields) != len(header):
                    where = f"{path}, row {len(rows)} (line {lines.line_num})"
                    raise Problem(f"{where}: {len(fields)} fields, but the header has {len(header)}.")
                if "\0" in "".join(fields):
                    name = next(name for name, field in zip(header, fields, strict=True) if "\0" in field)
                    raise Problem(f"{path}, row {len(rows)}, column {name!r}: a zero byte. Is this a text file?")
    except csv.Error as error:
        raise Problem(_misquoted(str(error), path, begun + 1, lines.line_num)) from error
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise Problem(f"{path}: there are no rows below the header.")
    return header, [fields or [""] for fields in rows], delimiter != ","


def _misquoted(error: str, path: Path, first: int, last: int) -> str:
    """The message for an error of Python's csv module in a row between two lines, with what to do."""
    if "field limit" in error:
        most = csv.field_size_limit()
        return f"{path}, line {first}: a field of more than {most} characters. Is a quotation mark left open?"
    if "end of data" in error:
        return f"{path}, line {first}: unexpected end of data. A quotation mark is left open, here or below."
    if "expected after" in error:
        return f"{path}, line {last}: a field goes on after its closing quotation mark. Double a mark inside a field."
    return f"{path}, line {last}: {_in_a_line(error)}."


def _check_header(fields: list[str], path: Path) -> list[str]:
    header = [_joined(field) for field in fields]
    if not any(header):
        what = "first line" if path.stat().st_size else "file"
        raise Problem(f"{path}: the {what} is empty; the first line must hold the names of the columns.")
    for number, name in enumerate(header, 1):
        if not name:
            raise Problem(f"{path}: column {number} has no name in the header.")
    _check_names(header, path)
    if all(_number(name) is not None for name in header):
        raise Problem(f"{path}: the first line holds numbers only, but it must hold the names of the columns.")
    return header


def _joined(name: str) -> str:
    """A name in one line, even if a spreadsheet has wrapped it."""
    return " ".join(line.strip() for line in name.strip().expandtabs(1).splitlines())


def _check_names(names: Sequence[str], path: Path) -> None:
    """Raise a Problem unless the names are different, short, and without control characters."""
    if not names:
        raise Problem(f"{path}: there are no columns.")
    places: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if len(name) > _LONGEST_NAME:
            raise Problem(
                f"{path}: column {number} has a name of {len(name)} characters, {shortened(name)}; "
                f"at most {_LONGEST_NAME} are allowed. Is a quotation mark left open?"
            )
        if "\0" in name:
            raise Problem(f"{path}: a zero byte in the name of column {number}. Is this a text file?")
        if _CONTROLS.search(name):
            raise Problem(f"{path}: the name of column {number}, {name!r}, has a control character. Rename it.")
        if name in places:
            raise Problem(f"{path}: the name {name!r} occurs twice, in columns {places[name]} and {number}.")
        places[name] = number


def _column(fields: Any, has_commas: bool) -> pl.Series:
    """A column of whole numbers, numbers or times if all fields are such, otherwise text. Keys like 007 are text."""
    cells = [None if field.strip().lower() in MISSING else field.strip() for field in fields]
    known = [cell for cell in cells if cell is not None]
    if has_commas and all(_DECIMAL_COMMA.fullmatch(cell) for cell in known):
        cells = [None if cell is None else cell.replace(",", ".") for cell in cells]
        known = [cell for cell in cells if cell is not None]
    if any(is_key(cell) for cell in known):
        return pl.Series(cells, dtype=pl.String)
    if known and all(_WHOLE.fullmatch(cell) for cell in known):
        return pl.Series([None if cell is None else int(cell) for cell in cells], dtype=pl.Int64)
    if all(_number(cell) is not None for cell in known):
        return pl.Series([None if cell is None else _number(cell) for cell in cells], dtype=pl.Float64)
    if all(_time(cell) is not None for cell in known):
        return pl.Series([None if cell is None else _time(cell) for cell in cells], dtype=pl.Datetime("us"))
    return pl.Series(cells, dtype=pl.String)


def is_key(cell: str) -> bool:
    """Whether digits are a key rather than a number: they begin with 0, or are too many for an exact float."""
    digits = cell.strip().lstrip("+-")
    return digits.isdecimal() and ((len(digits) > 1 and digits[0] == "0") or len(digits) > 16 or int(digits) > _LARGEST)


def is_number(cell: str) -> bool:
    """Whether a text is a number."""
    return _number(cell) is not None


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _time(cell: str) -> datetime | None:
    """A date or time, or None. Times with a zone are converted to UTC."""
    time = read_date(cell)
    return None if time is None else time.replace(tzinfo=None)


def shortened(value: Any) -> str:
    """A cell, quoted and shortened for a message."""
    text = repr(str(value)[:_LONGEST_NAME])
    return text if len(text) <= 40 else f"{text[:37]}…'"


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names, separated by commas and shortened for a message."""
    return ", ".join(names if len(names) <= most else [*names[: most - 1], f"and {len(names) - most + 1} more"])


def _in_a_line(error: Any) -> str:
    """The error of another library in one line, shortened."""
    text = " ".join(_CONTROLS.sub(" ", str(error)).split())
    return text if len(text) <= 300 else f"{text[:299]}…"
