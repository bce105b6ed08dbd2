"""Files as they are written: unchanged cells come back in the same letters, and new ones are written alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from ..columns.formats import (
    MISSING_AMONG_NUMBERS,
    Format,
    NumberFormat,
    find_number_format,
    find_time_format,
    is_missing_word,
    missing_words,
)
from ..columns.values import float_in, is_key
from .csv_files import read_fields

_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{3})*")
_MOST_DIGITS = 15  # of whole numbers that a float holds exactly


@dataclass(frozen=True)
class Reading:
    """What a user says of the files to be read."""

    encoding: str = "utf-8"
    is_day_first: bool | None = None  # None: the month is first in dates where the column leaves that open
    missing: tuple[str, ...] = ()  # words that stand for a missing value, beside the usual ones


AS_USUAL = Reading()


@dataclass(frozen=True)
class Source:
    """A table, and how its file writes it. Parquet files write nothing, since their columns have types."""

    table: pl.DataFrame
    texts: dict[str, list[str]] = field(default_factory=dict)
    formats: dict[str, Format] = field(default_factory=dict)
    has_usual_marks: bool = True  # False if there is another mark than a comma between its cells

    def open_dates(self) -> Iterator[tuple[str, str]]:
        """The columns whose cells do not tell whether day or month is first, each with an example."""
        for name, form in self.formats.items():
            if getattr(form, "is_open", False):
                yield name, next(text for text in self.texts[name] if form.read(text.strip()) is not None)

    def with_other_units(self, earlier: dict[str, Format]) -> Iterator[str]:
        """The columns of numbers that have another unit than in earlier files, of which one is per cent."""
        for name, form in earlier.items():
            if name in self.table.columns and self.table[name].dtype.is_numeric():
                units = {getattr(each, "unit", "") for each in (form, self.formats.get(name))}
                if len(units) > 1 and "%" in units:
                    yield name

    def as_written(self, table: pl.DataFrame, names: Sequence[str] | None = None) -> pl.DataFrame:
        """A table of results, in which columns of the file (or those with these names) are as the file writes them."""
        here = [name for name in names or table.columns if name in self.texts and name in table.columns]
        return table.with_columns(self._written(table[name]) for name in here)

    def _written(self, column: pl.Series) -> pl.Series:
        name, texts, form = column.name, self.texts[column.name], self.formats.get(column.name)
        if len(column) != len(texts):
            return column if form is None else pl.Series(name, [_cell(value, form) for value in column])
        before = self.table[name].to_list()
        cells = [text if new == old else _cell(new, form) for new, old, text in zip(column, before, texts, strict=True)]
        return pl.Series(name, cells, dtype=pl.String)


def _cell(value: Any, form: Format | None) -> str | None:
    if value is None or value != value:
        return None
    if form is None:
        return str(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return form.write(value)


def read_csv(path: Path, reading: Reading, earlier: dict[str, Format] | None = None) -> Source:
    """A CSV file. Where a column leaves open how it is written, it is as in `earlier` files, by names of columns."""
    fields = read_fields(path, reading.encoding)
    columns, formats = {}, {}
    for name, cells in zip(fields.header, fields.columns, strict=True):
        hints = _hints((earlier or {}).get(name), reading)
        known = ["" if cell.strip() in reading.missing else cell for cell in cells]
        column, form = read_column(known, fields.has_decimal_commas, hints.is_day_first)
        columns[name] = column
        if form is not None:
            formats[name] = form
    if any(getattr(form, "decimal", "") == "," for form in formats.values()):
        for name, cells in zip(fields.header, fields.columns, strict=True):
            if name not in formats and _has_thousands(cells):
                formats[name] = NumberFormat(thousands=".", decimal=",")
                columns[name] = _read_as(cells, formats[name])
    texts = dict(zip(fields.header, fields.columns, strict=True))
    return Source(pl.DataFrame(columns), texts, formats, not fields.has_decimal_commas)


def _has_thousands(cells: Sequence[str]) -> bool:
    """Whether points can only be between thousands, in a file whose decimals are behind commas: 8.952 and 411."""
    known = [cell.strip() for cell in cells if not is_missing_word(cell, MISSING_AMONG_NUMBERS)]
    return any("." in cell for cell in known) and all(_GROUPED.fullmatch(cell) for cell in known)


def _read_as(cells: Sequence[str], form: NumberFormat) -> pl.Series:
    return pl.Series([form.read(cell.strip()) for cell in cells], dtype=pl.Float64).cast(pl.Int64)


def _hints(earlier: Format | None, reading: Reading) -> Reading:
    """What the user says, or else what an earlier file said of the same column."""
    date = getattr(earlier, "date", None)
    if reading.is_day_first is not None or date is None:
        return reading
    return replace(reading, is_day_first=date.startswith("%d"))


def read_column(
    fields: Sequence[str], has_decimal_commas: bool = False, is_day_first: bool | None = None
) -> tuple[pl.Series, Format | None]:
    """Whole numbers, numbers or times if all fields are such, with their format; otherwise text. Keys are text."""
    cells = [None if is_missing_word(each, MISSING_AMONG_NUMBERS) else each.strip() for each in fields]
    known = dict.fromkeys(cell for cell in cells if cell is not None)
    if any(is_key(cell) for cell in known):
        return _text(fields), None
    floats = {cell: float_in(cell) for cell in known}
    if None not in floats.values():
        is_whole = bool(known) and all(_is_whole(cell) for cell in known)
        return _series(cells, {cell: int(cell) for cell in known} if is_whole else floats, is_whole), None
    number = find_number_format(known, has_decimal_commas)
    if number is not None:
        floats = {cell: number.read(cell) for cell in known}
        is_whole = number.places == 0 and all(value.is_integer() for value in floats.values())  # type: ignore[union-attr]
        return _series(cells, floats, is_whole), number
    time = find_time_format(known, is_day_first)
    if time is None:
        return _text(fields), None
    times = {cell: time.read(cell) for cell in known}
    zone = "UTC" if getattr(time, "offset", None) is not None else None
    return pl.Series([times.get(cell) for cell in cells], dtype=pl.Datetime("us", zone)), time


def _is_whole(cell: str) -> bool:
    digits = cell.lstrip("+-")
    return digits.isdecimal() and len(digits) <= _MOST_DIGITS


def _series(cells: Sequence[str | None], values: dict[str, Any], is_whole: bool) -> pl.Series:
    if is_whole:
        values = {cell: int(value) for cell, value in values.items()}
    return pl.Series([values.get(cell) for cell in cells], dtype=pl.Int64 if is_whole else pl.Float64)  # type: ignore[arg-type]


def _text(fields: Sequence[str]) -> pl.Series:
    words = missing_words(fields)
    return pl.Series([None if is_missing_word(each, words) else each.strip() for each in fields], dtype=pl.String)
