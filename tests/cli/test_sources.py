"""Tables as people write them. The oracles are the letters of the file, and the estimators on typed columns."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import semigp
from semigp.cli.sources import Reading, read_column, read_csv

HEADER = "key,day,price,share,ok,amount,half"
MESSY = [
    "00012,01/31/2018,$3.20,12%,yes,\"1,234.50\",1.50",
    "00013,02/01/2018,NA,11%,no,\"1,100.00\",2.50",
    "00014,,$4.40,,yes,\"1,434.50\",",
    "00015,02/03/2018,$2.20,10%,n/a,\"1,034.50\",0.50",
    "00016,02/04/2018,$5.10,15%,yes,\"1,500.00\",3.0",
]  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), [
    (["1", "2"], pl.Series([1, 2])),
    (["1.5", "none"], pl.Series([1.5, None])),
    (["007", "8"], pl.Series(["007", "8"])),
    (["$3", "-$1,000"], pl.Series([3, -1000])),
    (["12%", "?"], pl.Series([12, None])),
    (["none", "mild", "NA"], pl.Series(["none", "mild", None])),
    (["+", "-", "?"], pl.Series(["+", "-", None])),
    (["yes", "no"], pl.Series(["yes", "no"])),
    (["2018Q2"], pl.Series([datetime(2018, 4, 1)])),
    (["2018-01-31T01:00+01:00"], pl.Series([datetime(2018, 1, 31, tzinfo=UTC)])),
])  # fmt: skip
def test_columns(fields, expected):
    assert read_column(fields)[0].equals(expected, check_dtypes=True)


def test_every_cell_but_holes_comes_back_in_its_own_letters(shell):
    (shell.folder / "t.csv").write_text("\n".join([HEADER, *MESSY]) + "\n")
    told = shell("impute t.csv --draws 3 -o out.csv").stderr
    assert "t.csv: holes among 35 cells: 5, in 3 of 5 rows. Filled in: 5. Left: none." in told
    before, after = (pl.read_csv(name, infer_schema=False) for name in ("t.csv", "out.csv"))
    assert after.select(before.columns).null_count().sum_horizontal().item() == 0
    lost = ("NA", "n/a", None)
    for name in before.columns:
        pairs = zip(before[name], after[name], strict=True)
        assert all(old == new for old, new in pairs if old not in lost), name
    assert read_column(after["price"].to_list())[1] == read_column(["$3.20"])[1]
    assert after["share"][2].endswith("%")
    assert after["ok"][3] in ("yes", "no")
    assert after["day"][2][:3] in ("01/", "02/")


def test_the_shell_and_python_take_the_same_text_alike(shell):
    """A frame of text as it is in the file gives the imputations of the file."""
    (shell.folder / "t.csv").write_text("\n".join([HEADER, *MESSY]) + "\n")
    found = pl.read_csv(shell("impute t.csv --draws 3 --quiet").stdout.encode(), infer_schema=False)
    frame = pl.read_csv("t.csv", infer_schema=False, null_values=["NA", "n/a"])
    filled = semigp.GPImputer(3, random_state=0).fit(frame).impute()
    for name in ("day", "price", "share", "ok", "amount"):
        assert filled[name].to_list() == found[name].to_list(), name


def test_days_and_months_of_a_later_file_are_read_as_in_the_first(shell):
    first = ["a,d,y", *(f"{i % 5},{d:02d}/01/2018,{i + d}" for i, d in enumerate(range(5, 25)))]
    (shell.folder / "a.csv").write_text("\n".join(first))
    (shell.folder / "b.csv").write_text("a,d\n1,06/01/2018\n2,07/01/2018\n")
    model = shell("regress a.csv -t y -p b.csv -o out.csv --inducing 5").stderr
    assert "with the month first" not in model
    alone = shell("info b.csv")
    assert "b.csv, column 'd': '06/01/2018' is read with the month first; no cell tells" in alone.stderr
    assert "add --day-first" in alone.stderr
    assert "2018-01-06" in shell("info b.csv --day-first").stdout
    assert read_csv(Path("b.csv"), Reading(is_day_first=False)).table["d"][0] == datetime(2018, 6, 1)


def test_encodings(shell):
    (shell.folder / "t.csv").write_bytes("größe,y\n1,2\n2,4\n3,\n".encode("cp1252"))
    (shell.folder / "u.csv").write_bytes("größe,y\n1,2\n2,4\n3,\n".encode("utf-16"))
    assert "not UTF-8 text. Name its encoding, such as --encoding cp1252" in shell("info t.csv", 3).stderr
    assert "not UTF-8 text. Name its encoding, such as --encoding utf-16" in shell("info u.csv", 3).stderr
    assert "größe" in shell("info t.csv --encoding cp1252").stdout
    assert "größe" in shell("info u.csv --encoding utf-16").stdout
    assert "--encoding latin-99: there is no such encoding" in shell("info t.csv --encoding latin-99", 2).stderr


@pytest.mark.parametrize("zone", ["+05:30", "Z"])
def test_forecasts_have_the_times_the_file_has(shell, zone):
    days = [f"2018-01-{day:02d}T06:00:00{zone}" for day in range(1, 22) if day != 7]
    (shell.folder / "t.csv").write_text("t,v\n" + "\n".join(f"{day},{i % 3}" for i, day in enumerate(days)))
    found = pl.read_csv(shell("forecast t.csv --window 3 --steps 2 --quiet").stdout.encode(), infer_schema=False)
    assert found["t"].to_list() == [f"2018-01-{day}T06:00:00{zone}" for day in (22, 23)]


def test_levels_are_quantiles_or_intervals(shell):
    told = shell("forecast series.csv --window 2 --steps 3 --paths 50 --levels 50,80 --levels 95% --quiet").stdout
    intervals = pl.read_csv(told.encode())
    assert intervals.columns[3:] == ["q0.025", "q0.1", "q0.25", "q0.5", "q0.75", "q0.9", "q0.975"]
    told = shell("forecast series.csv --window 2 --steps 3 --paths 50 --levels .1,.9 --quiet").stdout
    np.testing.assert_array_equal(pl.read_csv(told.encode())[:, 3:], intervals.select("q0.1", "q0.9"))


def test_a_target_of_yes_and_no_is_one_and_zero(shell):
    rows = [f"{i},{'Yes' if i > 9 else 'no'}" for i in range(20)]
    (shell.folder / "t.csv").write_text("a,y\n" + "\n".join(rows))
    found = pl.read_csv(shell("regress t.csv -t y -p t.csv --inducing 5 --quiet").stdout.encode())
    assert found["y_predicted"][0] < 0.3
    assert found["y_predicted"][19] > 0.7
    assert found["y"].to_list() == [row.partition(",")[2] for row in rows]


def test_points_are_between_thousands_where_decimals_have_commas(tmp_path):
    (tmp_path / "t.csv").write_text("menge;preis;faktor\n8.952;1,70;1.5\n411;22,10;2.25\n;3,00;1.125\n")
    source = read_csv(tmp_path / "t.csv", Reading())
    assert source.table["menge"].to_list() == [8952, 411, None]
    assert source.table["faktor"].to_list() == [1.5, 2.25, 1.125]
    assert source.as_written(source.table.with_columns(menge=pl.Series([8952, 411, 12000])))["menge"][2] == "12.000"


def test_words_that_the_user_calls_missing(shell):
    (shell.folder / "t.csv").write_text(
        "a,b\n" + "\n".join(f"{i % 7},{(i % 7) ** 2}" for i in range(20)) + "\nunknown,9\n"
    )
    told = shell("impute t.csv -o out.csv --missing unknown")
    assert "Filled in: 1. Left: none." in told.stderr
    assert abs(pl.read_csv(shell.folder / "out.csv")["a"][20] - 3) < 0.5


def test_empty_columns_are_left_out_with_a_note(shell):
    """In all commands: spreadsheets have such columns."""
    lines = [f"{i % 7},,{(i % 7) ** 2}" for i in range(20)]
    (shell.folder / "t.csv").write_text("\n".join(["a,empty,b", *lines, "3,,"]) + "\n")
    for command in ("impute t.csv", "regress t.csv --target b", "compare t.csv --target b --minutes .1"):
        assert "column 'empty' is left out; it holds nothing." in shell(f"{command} -o out.csv").stderr


def test_percent_in_one_file_only_is_told(shell):
    for name, mark in (("old", "%"), ("new", "")):
        lines = [f"{i % 9}{mark},{i % 9}" for i in range(30)]
        (shell.folder / f"{name}.csv").write_text("\n".join(["p,y", *lines]) + "\n")
    told = shell("regress old.csv --target y --predict new.csv -o out.csv").stderr
    assert "new.csv, column 'p': an earlier file has another unit there" in told
