"""The fields of CSV files, as text."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from ..columns.values import float_in
from .problems import WRONG_USE, Problem
from .wording import check_names, in_a_line

_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Fields:
    """The fields of a file by column, in the order of its rows."""

    header: list[str]
    columns: list[list[str]]
    has_decimal_commas: bool  # whether commas may be before decimals, since they do not separate fields


def read_fields(path: Path, encoding: str = "utf-8") -> Fields:
    """The fields of a CSV file. Raises a Problem that says where it cannot be read."""
    file = io.StringIO(_decoded(path, encoding), newline="")
    delimiter = max(_DELIMITERS, key=file.readline().count)
    file.seek(0)
    header, rows = _rows(file, delimiter, path)
    return Fields(header, [list(column) for column in zip(*rows, strict=True)], delimiter != ",")


def _decoded(path: Path, encoding: str) -> str:
    """The text of a file, without the mark at its beginning that some programs write."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise Problem(
            f"--encoding {encoding}: there is no such encoding. Usual ones are utf-8, utf-16, cp1252 and latin-1.",
            WRONG_USE,
        ) from error
    except UnicodeError as error:
        line = len((content[: getattr(error, "start", 0)] + b"?").splitlines())
        likely = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"
        told = f"Name its encoding, such as --encoding {likely}, or save the file as UTF-8."
        raise Problem(f"{path}, near line {line}: not {encoding.upper()} text. {told}") from error


def _rows(file: io.StringIO, delimiter: str, path: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the rows."""
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
    return header, [fields or [""] for fields in rows]


def _misquoted(error: str, path: Path, first: int, last: int) -> str:
    """The message for an error of Python's csv module in a row between two lines, with what to do."""
    if "field limit" in error:
        most = csv.field_size_limit()
        return f"{path}, line {first}: a field of more than {most} characters. Is a quotation mark left open?"
    if "end of data" in error:
        return f"{path}, line {first}: unexpected end of data. A quotation mark is left open, here or below."
    if "expected after" in error:
        return f"{path}, line {last}: a field goes on after its closing quotation mark. Double a mark inside a field."
    return f"{path}, line {last}: {in_a_line(error)}."


def _check_header(fields: list[str], path: Path) -> list[str]:
    header = [_joined(field) for field in fields]
    if not any(header):
        what = "first line" if path.stat().st_size else "file"
        raise Problem(f"{path}: the {what} is empty; the first line must hold the names of the columns.")
    for number, name in enumerate(header, 1):
        if not name:
            raise Problem(f"{path}: column {number} has no name in the header.")
    check_names(header, path)
    if all(float_in(name) is not None for name in header):
        raise Problem(f"{path}: the first line holds numbers only, but it must hold the names of the columns.")
    return header


def _joined(name: str) -> str:
    """A name in one line, even if a spreadsheet has wrapped it."""
    return " ".join(line.strip() for line in name.strip().expandtabs(1).splitlines())
