"""What is wrong with a file or an option is said in a sentence with the file, the row and the column, and a code."""

import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import semigp
from semigp.cli.parquet_files import read_part
from semigp.cli.problems import BAD_DATA, WRONG_USE, Problem
from semigp.cli.tables import numbers, read_table

FILES = {
    "empty.csv": b"",
    "header.csv": b"a,b,y\n",
    "ragged.csv": b"a,y\n1,2\n3\n",
    "text.csv": b"a,y\n1,2\n3,4\nx5,6\n",
    "infinite.csv": b"a,y\n1,2\ninf,4\n5,6\n",
    "twice.csv": b"a,y,a\n1,2,3\n",
    "nameless.csv": b"a,,y\n1,2,3\n",
    "numbers.csv": b"1,2\n3,4\n",
    "latin.csv": "a,y\n1,2\n3,é\n".encode("latin-1"),
    "zero.csv": b"a,y\n1,\x002\n",
    "quote.csv": b'a,y\n1,"2\n3,4\n',
    "late.csv": b"a,y\n" + b"1,2\n" * 9000 + b"3,\xe9\n",
    "utf16.csv": "a,y\n1,2\n".encode("utf-16"),
    "bare16.csv": "a,y\n1,2\n".encode("utf-16-le"),
    "quoted.csv": b'a\ty\n1\t2\n3\t"4"5\n',
    "huge.csv": b'a,y\n1,2\n3,"4\n' + b"5,6\n" * 40_000,
    "long.csv": b"a," + b"n" * 501 + b"\n1,2\n",
    "escape.csv": b"a\x1b[2J,y\n1,2\n",
    "blank.csv": b"\na,y\n1,2\n",
    "trailing.csv": b"a,y,\n1,2,\n3,4,\n",
    "large.csv": b"a,y\n1,2\n1e999,4\n",
    "formula.csv": b"a,y\n1,2\n=1+1,4\n",
    "under.csv": b"a,y\n1,2\n1_000,4\n",
    "wide.csv": b",".join(b"c%d" % i for i in range(3000)) + b"\n" + b",".join([b"1"] * 3000) + b"\n",
    "nothing.csv": b"a,b\n,\nNA,\n",
    "no_y.csv": b"a,y\n1,\n2,\n3,\n",
    "minus.csv": b"a,a_std,y\n1,.1,2\n3,-.1,4\n5,.1,6\n",
    "no_bar.csv": b"a,a_std,y\n1,.1,2\n3,,4\n5,.1,6\n",
    "grades.csv": b"grade,y\n1,2\n2,3\n4+,4\n4+,6\n",
    "names.csv": b"who,y\nann,1\nbob,2\n",
    "dates.csv": b"date,y\n2020-01-01,1\n2020-01-02,2\n2020-01-02,3\n",
    "uneven.csv": b"date,y\n2020-01-01,1\n2020-01-02,2\n2020-01-03T07:00,3\n2020-02-09,3\n2020-07-01,2\n",
    "one_class.csv": b"a,class\n1,x\n2,x\n3,\n",
    "fake.parquet": b"not parquet",
    "fake.semigp": b"not a model",
    "table.xlsx": b"",
    "typo.csv": b"value\n1\n2\nx3\n4\n",
    "long.tsv": b"shop\tday\ty\tz\na\t2024-01-01\t1\t2\na\t2024-01-02\t2\t2\nb\t2024-01-01\t3\t2\n",
    "no_shop.csv": b"shop,day,y\na,2024-01-01,1\n,2024-01-02,2\n",
    "no_day.csv": b"shop,day,y\na,2024-01-01,1\na,,2\n",
    "same_day.csv": b"shop,day,y\na,2024-01-01,1\nb,2024-01-01,1\na,2024-01-01,2\n",
    "odd_day.csv": b"shop,day,y\na,Mo,1\na,Tu,2\n",
    "february.csv": b"d,y\n2018-01-01,1\n2018-02-30,2\n2018-03-01,3\n",
    "mixed.csv": "p,y\n$3,1\n\u20ac4,2\n$5,3\n".encode(),
    "words.csv": b"a,y\n1,low\n2,high\n",
    "clock.csv": b"t,y\n0001-01-01T00:00+02:00,1\n2024-01-02,2\n",
}
CASES = [
    ("impute empty.csv", BAD_DATA, "empty.csv: the file is empty"),
    ("impute header.csv", BAD_DATA, "header.csv: there are no rows below the header"),
    ("impute ragged.csv", BAD_DATA, "ragged.csv, row 2 (line 3): 1 fields, but the header has 2"),
    ("regress text.csv -t y", BAD_DATA, "text.csv, row 3, column 'a': 'x5' is not a number"),
    ("regress infinite.csv -t y", BAD_DATA, "infinite.csv, row 2, column 'a': the value is infinite"),
    ("impute twice.csv", BAD_DATA, "twice.csv: the name 'a' occurs twice, in columns 1 and 3"),
    ("impute nameless.csv", BAD_DATA, "nameless.csv: column 2 has no name"),
    ("impute numbers.csv", BAD_DATA, "numbers.csv: the first line holds numbers only"),
    ("impute latin.csv", BAD_DATA, "latin.csv, near line 3: not UTF-8 text. Name its encoding, such as --enc"),
    ("impute late.csv", BAD_DATA, "late.csv, near line 9002: not UTF-8 text"),
    ("impute utf16.csv", BAD_DATA, "utf16.csv, near line 1: not UTF-8 text"),
    ("impute bare16.csv", BAD_DATA, "bare16.csv: a zero byte in the name of column 1. Is this a text file?"),
    ("impute zero.csv", BAD_DATA, "zero.csv, row 1, column 'y': a zero byte"),
    ("impute quote.csv", BAD_DATA, "quote.csv, line 2: unexpected end of data. A quotation mark is left open"),
    ("impute quoted.csv", BAD_DATA, "quoted.csv, line 3: a field goes on after its closing quotation mark"),
    ("impute huge.csv", BAD_DATA, "huge.csv, line 3: a field of more than 131072 characters. Is a quotation mark"),
    ("impute long.csv", BAD_DATA, "long.csv: column 2 has a name of 501 characters, 'nnnn"),
    ("impute escape.csv", BAD_DATA, r"escape.csv: the name of column 1, 'a\x1b[2J', has a control character"),
    ("impute blank.csv", BAD_DATA, "blank.csv: the first line is empty; the first line must hold"),
    ("impute trailing.csv", BAD_DATA, "trailing.csv: column 3 has no name in the header"),
    ("regress large.csv -t y", BAD_DATA, "large.csv, row 2, column 'a': the value is infinite"),
    ("regress formula.csv -t y", BAD_DATA, "formula.csv, row 2, column 'a': '=1+1' is not a number"),
    ("regress under.csv -t y", BAD_DATA, "under.csv, row 2, column 'a': '1_000' is not a number"),
    ("regress train.csv -t y -p wide.csv", BAD_DATA, "there are c0, c1, c2, c3, c4, c5, c6, c7, c8, and 2991 more."),
    ("impute nothing.csv", BAD_DATA, "nothing.csv: no column is left to learn from."),
    ("regress no_y.csv -t y", BAD_DATA, "no_y.csv, column 'y': no value to learn from"),
    ("regress minus.csv -t y", BAD_DATA, "minus.csv, row 2, column 'a_std': an error bar cannot be negative"),
    (
        "regress no_bar.csv -t y",
        BAD_DATA,
        "no_bar.csv, row 2, column 'a_std': the error bar is missing, but 'a' has a value",
    ),
    ("regress grades.csv -t y --error grade=1", WRONG_USE, "--error grade: error bars are for numbers, but 'grade'"),
    ("regress names.csv -t y --ignore who", BAD_DATA, "names.csv: no column is left to learn from"),
    ("forecast dates.csv", BAD_DATA, "dates.csv, row 2, column 'date': this time occurs more than once: 2"),
    ("forecast uneven.csv", BAD_DATA, "The times of uneven.csv are irregular"),
    ("classify one_class.csv -l class", BAD_DATA, "column 'class': at least two classes are needed; there is only 'x'"),
    ("impute fake.parquet", BAD_DATA, "fake.parquet is not a Parquet file"),
    ("impute data.csv -o out.xlsx", BAD_DATA, "out.xlsx: the name must end in .csv, .tsv or .parquet"),
    (
        "forecast names.csv",
        BAD_DATA,
        "names.csv, column 'who': 'ann' is not recognised as a date. Write dates as 2015-01-31",
    ),
    ("forecast typo.csv", BAD_DATA, "typo.csv, row 3, column 'value': 'x3' is not a number"),
    ("forecast names.csv --time who", BAD_DATA, "names.csv, column 'who': 'ann' is neither a date nor a number"),
    ("impute table.xlsx", BAD_DATA, "table.xlsx: the name must end in .csv, .tsv or .parquet"),
    ("impute nosuch.csv", BAD_DATA, "nosuch.csv: there is no such file or folder"),
    ("impute nosuch.parquet", BAD_DATA, "nosuch.parquet: there is no such file or folder"),
    ("impute data.csv -o no/folder.csv", BAD_DATA, "no/folder.csv: there is no folder no"),
    ("regress --model fake.semigp --predict test.csv", BAD_DATA, "fake.semigp is not a file written by save()"),
    (
        "regress train.csv -t y -p data.csv",
        BAD_DATA,
        "data.csv: there is no column 'a' (an empty one would do); there are part, length",
    ),
    ("regress train.csv -t q", WRONG_USE, "--target q: train.csv has no such column; there are a, a_std, b, c, y"),
    ("regress train.csv", WRONG_USE, "Say what to predict: --target COLUMN"),
    ("regress", WRONG_USE, "Give a file to learn from, or --model"),
    ("regress train.csv -t y --error a", WRONG_USE, "--error a: write it as column=number or column=column"),
    ("regress train.csv -t y --error a=-1", WRONG_USE, "--error a=-1: -1 is neither a number, 0 or more, nor a column"),
    ("impute data.csv --ignore q", WRONG_USE, "--ignore q: data.csv has no such column"),
    ("forecast series.csv --window none", WRONG_USE, "--window none: give a whole number, 1 or more, or auto"),
    ("forecast series.csv --covariate x", WRONG_USE, "--covariate needs --future"),
    ("forecast series.csv --steps 0", WRONG_USE, "Invalid value for '--steps'"),
    ("regress train.csv -t y -t y", WRONG_USE, "--target y: given more than once"),
    ("regress train.csv -t y --error y=1", WRONG_USE, "--error y: error bars are for inputs, but 'y' is not an input"),
    ("regress train.csv -t y --plot figure.xyz", WRONG_USE, "--plot figure.xyz: the name must end in .png, .svg, .pdf"),
    ("regress train.csv -t y -o table.doc", BAD_DATA, "table.doc: the name must end in .csv, .tsv or .parquet"),
    ("forecast series.csv --ignore q", WRONG_USE, "--ignore q: series.csv has no such column"),
    (
        "forecast clock.csv --time t",
        BAD_DATA,
        "clock.csv, column 't': '0001-01-01T00:00+02:00' is neither a date nor a number",
    ),
    ("forecast series.csv --future x.csv", WRONG_USE, "--future needs --covariate"),
    ("forecast series.csv --season 1", WRONG_USE, "--season 1: give whole numbers, 2 or more, with commas between"),
    ("forecast series.csv --season 7,x", WRONG_USE, "--season 7,x: give whole numbers"),
    ("forecast series.csv --trend up", WRONG_USE, "--trend up: give one of auto, none, increments, time"),
    ("forecast series.csv --levels .1,1", WRONG_USE, "--levels .1,1: give numbers between 0 and 1"),
    ("forecast series.csv --levels a", WRONG_USE, "--levels a: give numbers between 0 and 1"),
    ("forecast long.tsv --id who", WRONG_USE, "--id who: long.tsv has no such column; there are shop, day, y, z"),
    ("forecast long.tsv --id shop", WRONG_USE, "--id shop: one column holds the values of all series, but there are y"),
    ("forecast no_shop.csv --id shop", BAD_DATA, "no_shop.csv, row 2, column 'shop': the name of the series is miss"),
    ("forecast no_day.csv --id shop", BAD_DATA, "no_day.csv, row 2, column 'day': the time is missing"),
    (
        "forecast same_day.csv --id shop",
        BAD_DATA,
        "same_day.csv, row 3: the series 'a' has 2024-01-01 in an earlier row",
    ),
    ("forecast odd_day.csv --id shop", BAD_DATA, "odd_day.csv, column 'day': 'Mo' is not recognised as a date"),
    ("classify labels.csv", WRONG_USE, "Say which column holds the classes: --label COLUMN"),
    (
        "regress february.csv -t y",
        BAD_DATA,
        "february.csv, row 2, column 'd': '2018-02-30' is not a date written as '2018-01-01' is. Correct it, or leave "
        "the cell empty",
    ),
    (
        "forecast february.csv",
        BAD_DATA,
        "'2018-02-30' is not a date written as '2018-01-01' is. Correct it, or leave the row",
    ),
    (
        "regress mixed.csv -t y",
        BAD_DATA,
        "mixed.csv, row 2, column 'p': '\u20ac4' is not written as '$3' is. Correct it",
    ),
    (
        "regress words.csv -t y",
        BAD_DATA,
        "words.csv, row 1, column 'y': 'low' is not a number. No cell is. To predict words",
    ),
    ("impute words.csv --encoding x", WRONG_USE, "--encoding x: there is no such encoding. Usual ones are utf-8"),
    ("forecast series.csv --levels 50,.5", WRONG_USE, "for quantiles, such as .1,.5,.9, or between 1 and 100 for int"),
    ("reproduce everything", WRONG_USE, "There is no experiment 'everything'; there are all, semi-described"),
    ("bench everything", WRONG_USE, "There is no benchmark 'everything'"),
]


@pytest.mark.parametrize(("line", "code", "message"), CASES, ids=[line for line, _, _ in CASES])
def test_problem(shell, line, code, message):
    for name, content in FILES.items():
        (shell.folder / name).write_bytes(content)
    result = shell(line, code)
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_a_model_of_another_kind(shell):
    shell("impute data.csv -o f.csv --save m.semigp --quiet")
    result = shell("regress --model m.semigp --predict test.csv", WRONG_USE)
    assert "m.semigp holds a GPImputer; this command needs a SemiDescribedGPRegressor" in result.stderr


@pytest.mark.parametrize("text", ["a;b\n1;2\n3;\n5;6\n7;8\n", "\ufeffa\tb\r\n1\t2\r\n3\tNA\r\n5\t6\r\n7\t8\r\n\r\n"])
def test_other_ways_to_write_a_table(shell, text):
    (shell.folder / "t.csv").write_text(text, encoding="utf-8", newline="")
    table = pl.read_csv(shell("impute t.csv --quiet").stdout.encode())
    assert table.columns == ["a", "b", "b_std"]
    assert table["a"].to_list() == [1, 3, 5, 7]
    assert 2 < table["b"][1] < 7


def test_a_model_of_arrays_has_no_names_to_go_by(shell):
    semigp.GPImputer(2, random_state=0).fit(np.random.default_rng(0).normal(size=(9, 3))).save("m.semigp")
    assert "m.semigp was fitted to arrays" in shell("impute data.csv --model m.semigp", BAD_DATA).stderr


def test_an_empty_line_is_a_missing_value_of_one_column(shell):
    """As polars writes it; at the end of a file it is nothing."""
    values = pl.Series("y", np.sin(np.arange(30) / 3)).scatter([5, 6, 12], None)
    (shell.folder / "t.csv").write_text(pl.DataFrame([values]).write_csv() + "\n\n")
    found = shell.json("forecast t.csv --window 2 --steps 1 --paths 5")
    assert found["gaps"] == 3


def test_keys_come_back_as_they_were(shell):
    keys = [str(12345678901234567890 + i) for i in range(4)]
    lines = [f"{key},0{i},{i},{i % 3}\n" for i, key in enumerate(keys)]
    (shell.folder / "t.csv").write_text("key,code,a,b\n" + "".join(lines))
    pl.DataFrame({"key": [2**53 + 1, 2, 3], "a": [1.0, 2.0, 3.0], "b": [1.0, None, 4.0]}).write_parquet("t.parquet")
    found = shell("impute t.csv --ignore key --ignore code --quiet").stdout.splitlines()[1:]
    assert [line.split(",")[:2] for line in found] == [line.split(",")[:2] for line in lines]
    assert str(2**53 + 1) in shell("impute t.parquet --ignore key --quiet").stdout


def test_brackets_in_a_name_are_no_markup(shell):
    (shell.folder / "t.csv").write_text("mass [kg],[/bold],y\n1,2,3\n")
    assert "mass [kg]" in shell("info t.csv").stdout
    assert "[/bold]" in shell("info t.csv").stdout


def _check_strange(program, count):
    """Run a program of the folder `fuzz`, which says of every file what may happen."""
    command = [sys.executable, Path(__file__).parents[1] / "fuzz" / program, str(count), "0"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    refused, read = map(int, run.stdout.split())
    assert refused + read == count
    assert min(refused, read) > count / 10  # else the files would be too tame, or too wild


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("count", [1000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_strange_tables_are_refused_or_read_and_nothing_else_happens(count):
    """See `fuzz.tables`."""
    _check_strange("tables.py", count)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("count", [300, pytest.param(30_000, marks=pytest.mark.slow)])
def test_strange_streams_are_refused_or_read_and_nothing_else_happens(count):
    """See `fuzz.streams`."""
    _check_strange("streams.py", count)


WHOLE = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]


@pytest.mark.parametrize("kind", WHOLE, ids=str)
def test_whole_numbers_of_every_width(tmp_path, kind):
    """As they are up to 2^53, which a float holds; as text where one is beyond."""
    pl.DataFrame({"a": pl.Series([1, 100, None], dtype=kind)}).write_parquet(tmp_path / "t.pq")
    found = read_table(tmp_path / "t.pq")["a"]
    assert found.dtype == pl.Int64
    assert found.to_list() == [1, 100, None]
    ends = [pl.select(end).item() for end in (kind.min(), kind.max())]
    pl.DataFrame({"a": pl.Series(ends, dtype=kind)}).write_parquet(tmp_path / "t.pq")
    found = read_table(tmp_path / "t.pq")["a"]
    assert found.to_list() == (ends if ends[1] <= 2**53 else [str(end) for end in ends])


@pytest.mark.parametrize(("values", "row"), [
    (pl.Series([0, 2**31 - 1], dtype=pl.Int32).cast(pl.Date), 2),
    (pl.Series([-(2**63), 0], dtype=pl.Int64).cast(pl.Datetime("us")), 1),
    (pl.Series([None, 2**62], dtype=pl.Int64).cast(pl.Datetime("ms", "UTC")), 2),
    (pl.Series([0, 2**63 - 1], dtype=pl.Int64).cast(pl.Duration("ms")), 2),
    (pl.Series([date.min, date.max]), None),
    (pl.Series([datetime.min, datetime.max]), None),
    (pl.Series([-(2**63) + 1, 2**63 - 1], dtype=pl.Int64).cast(pl.Datetime("ns")), None),
], ids=["days", "us", "zone", "span", "all days", "all us", "all ns"])  # fmt: skip
def test_times_beyond_those_of_python(tmp_path, values, row):
    """The years from 1 to 9999 are read; others made polars panic."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"t": values}).write_parquet(path)
    if row is None:
        assert len(read_table(path)["t"].to_list()) == 2
    else:
        with pytest.raises(Problem, match=f"t.parquet, row {row}, column 't': the time is out of range; years must be"):
            read_table(path)


def test_text_of_numbers_is_read_as_python_does(tmp_path):
    """Blanks around them, and digits of other scripts: polars alone would refuse both."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [" 3 ", "1e5", None, "١٢٣"]}).write_parquet(path)
    np.testing.assert_array_equal(numbers(read_table(path), ["a"], path)[:, 0], [3.0, 1e5, np.nan, 123.0])
    (tmp_path / "t.csv").write_text("a,b\n١٢٣,1_000\n１,2\n", encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    assert table["a"].to_list() == [123, 1]
    assert table["b"].to_list() == ["1_000", "2"]


@pytest.mark.parametrize(("table", "message"), [
    (pl.DataFrame(), "there are no columns"),
    (pl.DataFrame(schema={"a": pl.Float64}), "there are no rows"),
    (pl.DataFrame({"a": [[1.0], [2.0]]}), r"column 'a' holds List\(Float64\); only numbers, times and text"),
    (pl.DataFrame({"a\nb": [1.0]}), r"the name of column 1, 'a\\nb', has a control character. Rename it"),
], ids=["columns", "rows", "nested", "name"])  # fmt: skip
def test_parquet_without_a_table_in_it(tmp_path, table, message):
    table.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(Problem, match=f"t.parquet.*{message}"):
        read_table(tmp_path / "t.parquet")


def test_parts_of_damaged_or_unlike_files(tmp_path):
    for name, table in (("a", {"x": [1.0]}), ("b", {"y": ["1", "2"], "z": [1, 2]})):
        pl.DataFrame(table).write_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(Problem, match="the files differ in their columns"):
        read_part(tmp_path, 0, 1)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(Problem, match=r"a.parquet is not a Parquet file that can be read"):
        read_part(tmp_path / "a.parquet", 0, 1)


def test_brackets_in_the_name_of_a_file_are_no_pattern(tmp_path):
    pl.DataFrame({"a": [1.0]}).write_parquet(tmp_path / "t[1].parquet")
    pl.DataFrame({"a": [2.0]}).write_parquet(tmp_path / "t1.parquet")
    assert read_table(tmp_path / "t[1].parquet")["a"].to_list() == [1.0]


def test_line_breaks_in_a_header_are_blanks(tmp_path):
    """Spreadsheets wrap long names so."""
    (tmp_path / "t.csv").write_bytes(b'"mass\r\n[kg]",y\n1,2\n')
    assert read_table(tmp_path / "t.csv").columns == ["mass [kg]", "y"]


def test_formulas_come_back_as_they_were(shell):
    """They are text, and data: whoever opens the file in a spreadsheet decides what they are there."""
    texts = ["=1+1", "+1+1", "@SUM(A1:A9)", "-2+3", "=cmd|' /C calc'!A0"]
    lines = [f"{text},{i},{i % 3}" for i, text in enumerate(texts)]
    (shell.folder / "t.csv").write_text("\n".join(["who,a,b", *lines]) + "\n")
    found = shell("impute t.csv --quiet").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in found] == texts
