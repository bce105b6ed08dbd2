"""What is wrong with a file or an option is said in a sentence with the file, the row and the column, and a code."""

import numpy as np
import polars as pl
import pytest

import semigp
from semigp.cli.problems import BAD_DATA, WRONG_USE

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
    "nothing.csv": b"a,b,y\n1,,2\n3,,4\n5,,6\n",
    "no_y.csv": b"a,y\n1,\n2,\n3,\n",
    "minus.csv": b"a,a_std,y\n1,.1,2\n3,-.1,4\n5,.1,6\n",
    "no_bar.csv": b"a,a_std,y\n1,.1,2\n3,,4\n5,.1,6\n",
    "names.csv": b"who,y\nann,1\nbob,2\n",
    "dates.csv": b"date,y\n2020-01-01,1\n2020-01-02,2\n2020-01-02,3\n",
    "uneven.csv": b"date,y\n2020-01-01,1\n2020-01-02,2\n2020-01-03T07:00,3\n2020-02-09,3\n2020-07-01,2\n",
    "one_class.csv": b"a,class\n1,x\n2,x\n3,\n",
    "fake.parquet": b"not parquet",
    "fake.semigp": b"not a model",
    "table.xlsx": b"",
    "typo.csv": b"value\n1\n2\nx3\n4\n",
    "clock.csv": b"t,y\n0001-01-01T00:00+02:00,1\n2024-01-02,2\n",
}
CASES = [
    ("impute empty.csv", BAD_DATA, "empty.csv: the file is empty"),
    ("impute header.csv", BAD_DATA, "header.csv: there are no rows below the header"),
    ("impute ragged.csv", BAD_DATA, "ragged.csv, row 2 (line 3): 1 fields, where the header has 2"),
    ("regress text.csv -t y", BAD_DATA, "text.csv, row 3, column 'a': 'x5' is not a number"),
    ("regress infinite.csv -t y", BAD_DATA, "infinite.csv, row 2, column 'a': the value is infinite"),
    ("impute twice.csv", BAD_DATA, "twice.csv: column 'a' is there twice, as 1 and 3"),
    ("impute nameless.csv", BAD_DATA, "nameless.csv: column 2 has no name"),
    ("impute numbers.csv", BAD_DATA, "numbers.csv: the first line holds numbers only"),
    ("impute latin.csv", BAD_DATA, "latin.csv, near line 3: not UTF-8 text"),
    ("impute zero.csv", BAD_DATA, "zero.csv, row 1: a zero byte"),
    ("impute quote.csv", BAD_DATA, "quote.csv, line 3: unexpected end of data"),
    ("impute nothing.csv", BAD_DATA, "nothing.csv, column 'b': no value to learn from. Leave it out with --ignore b"),
    ("regress no_y.csv -t y", BAD_DATA, "no_y.csv, column 'y': no value to learn from"),
    ("regress minus.csv -t y", BAD_DATA, "minus.csv, row 2, column 'a_std': an error bar cannot be negative"),
    ("regress no_bar.csv -t y", BAD_DATA, "no_bar.csv, row 2, column 'a_std': no error bar, where 'a' has a value"),
    ("regress names.csv -t y", BAD_DATA, "names.csv: no column of numbers is left to learn from"),
    ("forecast dates.csv", BAD_DATA, "dates.csv, row 2, column 'date': a time that is there twice"),
    ("forecast uneven.csv", BAD_DATA, "The times are irregular"),
    ("classify one_class.csv -l class", BAD_DATA, "column 'class': two classes or more are needed; there is only 'x'"),
    ("impute fake.parquet", BAD_DATA, "fake.parquet is not a Parquet file"),
    ("impute data.csv -o out.xlsx", BAD_DATA, "out.xlsx: the name must end in .csv, .tsv or .parquet"),
    ("forecast names.csv", BAD_DATA, "names.csv, column 'who': 'ann' is not read as a date. Write dates as 2015-01-31"),
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
    ("regress train.csv -t y --error a=-1", WRONG_USE, "--error a=-1: neither a number, 0 or more, nor a column"),
    ("impute data.csv --ignore q", WRONG_USE, "--ignore q: data.csv has no such column"),
    ("forecast series.csv --window none", WRONG_USE, "--window none: a number from 1 on, or auto"),
    ("forecast series.csv --covariate x", WRONG_USE, "--covariate needs --future"),
    ("forecast series.csv --steps 0", WRONG_USE, "Invalid value for '--steps'"),
    ("regress train.csv -t y -t y", WRONG_USE, "--target y: given more than once"),
    ("regress train.csv -t y --error y=1", WRONG_USE, "--error y: error bars are for inputs, and 'y' is none"),
    ("regress train.csv -t y --plot figure.xyz", WRONG_USE, "--plot figure.xyz: the name must end in .png, .svg, .pdf"),
    ("regress train.csv -t y -o table.doc", BAD_DATA, "table.doc: the name must end in .csv, .tsv or .parquet"),
    ("forecast series.csv --ignore q", WRONG_USE, "--ignore q: series.csv has no such column"),
    (
        "forecast clock.csv --time t",
        BAD_DATA,
        "clock.csv, column 't': '0001-01-01T00:00+02:00' is neither a date nor a number",
    ),
    ("classify labels.csv", WRONG_USE, "Say which column holds the classes: --label COLUMN"),
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
