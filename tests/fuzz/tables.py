"""Read tables that someone has damaged, or written in ways that nobody foresaw: tables.py COUNT SEED [FIRST].

Every file must be read or be refused, within three seconds, half a gigabyte, and without running, opening or connecting
to anything. What is read has columns of numbers, times, booleans or text; a column taken as numbers is finite or
missing. What is refused is told in one line that names the file. Prints how many files were refused and how many read.
"""

import io
import sys
import unicodedata
import warnings
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
from running import change_bytes, read_files

from semigp.cli import info
from semigp.cli.columns import choose_inputs, input_frame
from semigp.cli.problems import UNEXPECTED, Problem, _told
from semigp.cli.tables import numbers, read_table

KINDS = (pl.Int64, pl.Float64, pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Duration, pl.Time, pl.Null)
CELLS = [
    "", " ", "NA", "nan", "-nan", "NaN(7)", "null", "inf", "-Infinity", "1e999", "-1e999", "1e-999", "0x10", "1_000",
    "1,5", "1.000,5", "1,000", "١٢٣", "１２", "²", "½", "−1", "1e", "+-1", "--1", ".", "1.", ".5", "-0", "007",
    "9" * 15, "9" * 17, "9" * 5000, str(2**53), str(2**63), "true", "=1+1", "=cmd|' /C calc'!A0", "+1+1", "-2+3",
    "@SUM(A1:A9)", '=HYPERLINK("x")', "2020-01-01", "2020-02-30", "0000-01-01", "0001-01-01T00:00+02:00",
    "9999-12-31T23:59-02:00", "10000-01-01", "2020-13", "2020-W01-1", "20200101-", "31.12.9999", "Jan 2020",
    "2020-01-01T24:00", "2020-01-01T00:00:60", "٢٠٢٠-٠١-٠١", "²²²²-", "a\tb", "a\x1b[2Jb", "\x00", "\x1a", "\u202e",
    "\u2028", "\x85", "\x0b", "\x0c", "\ufeff", "\ufffe", "\U0001f600", "e\u0301", "'", '"', '""', '"a', 'a"b',
    '"a"b', '"a\nb"', '"a\r\nb"', '"a,b"', "\\", "\\N", "a\\\nb", "../../etc/passwd", "file:///etc/passwd",
    "s3://a/b", "%s%n", "{0}", "[/bold]", "<b>", "$3.20", "-$3", "$-3", "$", "€3,20", "3,20 €", "€1.234,50", "12%", "%",
    "1,234.50", "1'234", "1 234", "1\u00a0234,5", "$1e999", "$" + "9" * 400, "1,234,56", "01/31/2018", "31/01/2018",
    "01/02/2018", "1/2/18", "13/13/2018", "00/00/0000", "Jan-18", "JAN-18", "Sept-18", "2018Q1", "2018Q5", "0000Q1",
    "Q1 2018", "31 Jan 2018", "29 Feb 2019", "May 5, 2018", "1/31/2018 1:45 PM", "1/31/2018 13:45 PM",
    "2018-01-31T00:00+05:30", "2018-01-31T00:00Z", "2018-01-31T00:00+99:00", "yes", "no", "TRUE", "False",
    "none", "+", "USD 5", "5 USD",
]  # fmt: skip
NAMES = ["a", "b", "y", "a_std", "a", "A", "a ", "rows", "date", "mass [kg]", "_std", "x" * 300]
ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"]
SIGNS = b"\x00\xff\xef\xbb\xbf\xe9\x80\r\n\"',;\t|=-.0e"


def plain_rows(dice):
    """A table as it should be: a few columns, each of one kind."""
    n = dice.choice([1, 3, 10, 40])
    kinds = [
        lambda i: str(i), lambda i: f"{dice.gauss(0, 1):.4g}", lambda i: f"2020-{1 + i % 12:02d}-01",
        lambda i: f"key {i}", lambda i: "" if i % 3 else str(i), lambda i: f"{dice.random():.3f}".replace(".", ","),
        lambda i: f"${1000 * dice.random():,.2f}", lambda i: f"{i}%", lambda i: f"{1 + i % 12}/{1 + i % 28}/2018",
        lambda i: f"{2000 + i // 4}Q{1 + i % 4}", lambda i: f"2020-01-01T{i % 24:02d}:00+05:30",
    ]  # fmt: skip
    columns = [dice.choice(kinds) for _ in range(dice.choice([1, 2, 4, 8]))]
    header = dice.sample(["a", "b", "c", "y", "a_std", "date", "who", "mass [kg]"], len(columns))
    return [header, *([make(i) for make in columns] for i in range(n))]


def change_rows(rows, dice):
    """One thing that people, spreadsheets or attackers do to a table."""
    row = dice.choice(rows)
    place = dice.randrange(len(row)) if row else 0
    how = dice.randrange(12)
    if how < 4 and row:
        row[place] = dice.choice(CELLS)
    elif how == 4:
        row.insert(place, dice.choice(CELLS))
    elif how == 5 and row:
        del row[place]
    elif how == 6 and rows[0]:
        rows[0][dice.randrange(len(rows[0]))] = dice.choice(NAMES + CELLS)
    elif how == 7:  # a column of whatever there is
        for other in rows[1:]:
            if place < len(other):
                other[place] = dice.choice(CELLS)
    elif how == 8:
        rows.insert(dice.randrange(len(rows)), dice.choice([[], [""], list(row), ["", "", ""], ["# note"]]))
    elif how == 9:  # as where every line ends with a delimiter
        for other in rows:
            other.append("")
    elif how == 10:
        rows[:] = rows[dice.randrange(len(rows)) :]
    elif dice.random() < 0.05:
        change_size(rows, dice)


def change_size(rows, dice):
    """Fields of megabytes, thousands of columns, thousands of rows."""
    how = dice.randrange(4)
    if how == 0 and rows[-1]:
        rows[-1][0] = dice.choice(["x", "1", '"', ",", " ", "é"]) * dice.choice([10_000, 131_071, 131_073, 2_000_000])
    elif how == 1:
        rows[0][:0] = [f"c{i}" for i in range(5000)]
        for row in rows[1:3]:
            row[:0] = ["1"] * 5000
        del rows[3:]
    elif how == 2 and len("".join(rows[-1])) < 1000:
        rows.extend([list(rows[-1]) for _ in range(5000)])
    elif rows[0]:
        rows[0][0] = "n" + dice.choice("n \t") * dice.choice([10_000, 131_000, 131_073]) + "n"


def make_text(dice):
    """A table as text, by its own delimiter, line ends, quotation marks and encoding."""
    rows = plain_rows(dice)
    for _ in range(dice.choice([0, 1, 1, 2, 5])):
        change_rows(rows, dice)
    delimiter = dice.choice([",", ",", ",", ";", "\t", "|", ":", ", "])
    ends = dice.choice([["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"], ["\n\n"], ["\n\r"]])
    if dice.random() < 0.3:
        rows = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
    text = "".join(delimiter.join(row) + dice.choice(ends) for row in rows)
    text = text if dice.random() < 0.7 else text.rstrip("\r\n")
    encoding = dice.choice(ENCODINGS) if dice.random() < 0.3 else "utf-8"
    return dice.choice(["t.csv", "t.csv", "t.tsv", "t.txt"]), text.encode(encoding, "replace")


def parquet_columns(dice, n):
    """Columns of every kind that polars writes, with what is at the ends of their ranges."""
    far = [-(2**63), 2**63 - 1, -(2**40), 2**40, 0, None]
    pick = lambda choices: [dice.choice(choices) for _ in range(n)]  # noqa: E731
    units = dice.choice(["ms", "us", "ns"])
    kinds = [
        lambda: pl.Series(pick([1.5, -2.0, 0.0, 1e300])),
        lambda: pl.Series(pick([1, 2, None]), dtype=pl.Int64),
        lambda: pl.Series(pick([1.5, None, float("nan"), float("inf"), -float("inf"), 5e-324]), dtype=pl.Float64),
        lambda: pl.Series(pick([1e-40, 3e38, None]), dtype=pl.Float32),
        lambda: pl.Series(pick([-(2**63), 2**63 - 1, 2**53, 2**53 + 1, 0, None]), dtype=pl.Int64),
        lambda: pl.Series(pick([2**64 - 1, 0, 2**53 + 1]), dtype=pl.UInt64),
        lambda: pl.Series(pick([-128, 127, None]), dtype=pl.Int8),
        lambda: pl.Series(pick([-(2**127), 2**127 - 1, 2**53, 0]), dtype=pl.Int128),
        lambda: pl.Series(pick([True, False, None])),
        lambda: pl.Series(pick(CELLS), dtype=pl.String),
        lambda: pl.Series(pick(["1", "2.5", " 3 ", "1e5", None]), dtype=pl.String),
        lambda: pl.Series(pick(["a", "b", None]), dtype=pl.Categorical),
        lambda: pl.Series(pick(["1", "2", None]), dtype=pl.Enum(["1", "2"])),
        lambda: pl.Series(pick([b"\x00\xff", b""]), dtype=pl.Binary),
        lambda: pl.Series(pick([Decimal("1.50"), Decimal("-9" * 1 + "9" * 30), None]), dtype=pl.Decimal(38, 2)),
        lambda: pl.Series(pick([date(2020, 1, 1), date.max, date.min, None]), dtype=pl.Date),
        lambda: pl.Series(pick([-(2**31), 2**31 - 1, 0, None]), dtype=pl.Int32).cast(pl.Date),
        lambda: pl.Series(pick([datetime(2020, 1, 1), datetime.max, datetime.min, None]), dtype=pl.Datetime("us")),
        lambda: pl.Series(pick(far), dtype=pl.Int64).cast(pl.Datetime(units)),
        lambda: pl.Series(pick(far), dtype=pl.Int64).cast(pl.Datetime(units)).dt.replace_time_zone("UTC"),
        lambda: (
            pl.Series(pick([0, 10**9, None]), dtype=pl.Int64)
            .cast(pl.Datetime("ms"))
            .dt.replace_time_zone("UTC")
            .dt.convert_time_zone("Europe/Paris")
        ),
        lambda: pl.Series(pick(far), dtype=pl.Int64).cast(pl.Duration(units)),
        lambda: pl.Series(pick([timedelta(1), None]), dtype=pl.Duration),
        lambda: pl.Series(pick([time(1), time.max, None]), dtype=pl.Time),
        lambda: pl.Series([None] * n, dtype=pl.Null),
        lambda: pl.Series(pick([[1.0], [], None]), dtype=pl.List(pl.Float64)),
        lambda: pl.Series(pick([[1.0, 2.0]]), dtype=pl.Array(pl.Float64, 2)),
        lambda: pl.Series(pick([{"a": 1, "b": "x"}]), dtype=pl.Struct({"a": pl.Int64, "b": pl.String})),
    ]
    return [dice.choice(kinds[: dice.choice([2, 12, len(kinds)])])() for _ in range(dice.choice([0, 1, 2, 4, 8]))]


def make_parquet(dice):
    """A Parquet file; half of them are damaged, most of those in what describes the pages."""
    columns = parquet_columns(dice, dice.choice([0, 1, 3, 20, 200]))
    names = dice.sample(["a", "b", "c", "y", "a_std", "date", *NAMES[7:], "", " ", "a\nb", "a\x1bb", "\U0001f600"], 8)
    if dice.random() < 0.005:
        columns = [pl.Series([1.0, 2.0])] * 3000
        names = [f"c{i}" for i in range(3000)]
    table = pl.DataFrame(dict(zip(names, columns, strict=False)))
    buffer = io.BytesIO()
    compression = dice.choice(["zstd", "snappy", "gzip", "lz4", "brotli", "uncompressed", "uncompressed"])
    table.write_parquet(
        buffer, compression=compression, row_group_size=dice.choice([None, 2]), statistics=dice.random() < 0.7
    )
    return dice.choice(["t.parquet", "t.pq"]), buffer.getvalue()


def make(dice):
    """One file: text or Parquet, then perhaps some bytes of it changed, its end cut off, or two put together."""
    is_text = dice.random() < 0.65
    name, content = make_text(dice) if is_text else make_parquet(dice)
    how = dice.random()
    if not content or how < 0.5:
        return name, content
    if how < 0.9:
        return name, change_bytes(content, dice, SIGNS)
    if how < 0.95:
        return name, content[: dice.randrange(len(content))]
    other = make_text(dice)[1] if is_text else make_parquet(dice)[1]
    return name, content[: dice.randrange(len(content))] + other[dice.randrange(len(other)) if other else 0 :]


def check(path):
    """Whether the file is read; and whatever commands then do with its columns."""
    try:
        table = read_table(path)
    except Exception as error:
        return check_told(error, path)
    assert table.width
    for name, kind in table.schema.items():
        assert isinstance(kind, KINDS), kind
        assert kind != pl.Float64 or not table[name].is_nan().any(), "what is missing is null"
    try:
        input_frame(table, choose_inputs(table, [], path, lambda note: None)[:20], path)
    except Problem as error:
        check_told(error, path)
    for name in table.columns[:20]:
        info._column(table[name])
        try:
            values = numbers(table, [name], path)
            assert values.shape == (len(table), 1)
            assert values.dtype == np.float64
            assert not np.isinf(values).any()
        except Problem as error:
            check_told(error, path)
    return True


def check_told(error, path):
    message, code = _told(error)
    if code == UNEXPECTED:
        raise error
    assert path.name in message, message
    assert not any(unicodedata.category(sign) == "Cc" for sign in message), repr(message)
    assert len(message) < 6000 + len(str(path)), message
    return False


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    read_files(make, check, *map(int, sys.argv[1:]))
