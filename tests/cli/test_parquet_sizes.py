"""Small Parquet files that hold more than fits in memory."""

import subprocess
import sys

import polars as pl
import pytest

from semigp.cli.parquet_sizes import unpacked_bytes
from semigp.cli.thrift import Reader

# Its argument is how much more memory the process may have than it has after its imports, in bytes.
_INFO = """
import resource, sys
from pathlib import Path
import polars as pl
from semigp.cli import app, main, parquet_files
pl.DataFrame({"a": [1.0]}).write_parquet("warm.parquet")
parquet_files.read_parquet(Path("warm.parquet"))  # the threads of polars have addresses too
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + int(sys.argv[1]), resource.RLIM_INFINITY))
sys.argv[1:] = sys.argv[2:]
main()
"""


def _run(line, memory, folder):
    command = [sys.executable, "-c", _INFO, str(memory), *line.split()]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def _equal_numbers(path, n, columns):
    """`n` times the number 1 in every column, which polars packs into a few kilobytes."""
    ones = pl.Series([1.0]).new_from_index(0, n)
    pl.DataFrame({f"c{i}": ones for i in range(columns)}).write_parquet(path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize(
    ("n", "columns", "gibibytes"), [(2_000_000, 50, 0.7), pytest.param(10_000_000, 50, 3.7, marks=pytest.mark.slow)]
)
def test_bomb_is_refused_in_a_line_that_says_what_to_do(tmp_path, n, columns, gibibytes):
    """The oracle is arithmetic: rows times columns times eight bytes. It ended the process, by a signal."""
    path = tmp_path / "bomb.parquet"
    _equal_numbers(path, n, columns)
    assert path.stat().st_size < n * columns / 200
    assert unpacked_bytes(path) / 2**30 == pytest.approx(gibibytes, abs=0.1)
    done = _run("info bomb.parquet", 2**30, tmp_path)
    assert done.returncode == 3, done.stderr[-2000:]
    told = done.stderr.strip()
    assert told.startswith(f"semigp: bomb.parquet unpacks to {gibibytes} GiB, too much for ")
    assert told.endswith("or fit with semigp regress --stream, which reads part by part.")
    assert "\n" not in told


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_equal_texts_count_each(tmp_path):
    """A text of 100 kB, ten thousand times, is held once by the file and by polars, but not by Python."""
    pl.DataFrame({"a": ["x" * 100_000] * 10_000}).write_parquet(tmp_path / "t.parquet")
    assert unpacked_bytes(tmp_path / "t.parquet") < 2**18
    done = _run("info t.parquet", 2**30, tmp_path)
    assert done.returncode == 3, done.stderr[-2000:]
    assert done.stderr.startswith("semigp: t.parquet unpacks to 0.9 GiB, too much for ")


def test_lists_are_refused_before_they_are_unpacked(tmp_path):
    """By their type, so it does not matter how much is in them."""
    ones = pl.Series([1.0]).new_from_index(0, 50_000_000).implode()
    pl.DataFrame({"a": ones}).write_parquet(tmp_path / "t.parquet")
    done = _run("info t.parquet", 2**30, tmp_path)
    assert done.returncode == 3, done.stderr[-2000:]
    assert "column 'a' holds List(Float64); only numbers, times and text can be read." in done.stderr


_LISTS = 5000 * b"\x19" + (5000).to_bytes(4, "little") + b"PAR1"  # each holds one list


@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1", b"PAR1" + 8 * b"\xff" + b"PAR1", b"\x19\xf7\xff\xff\xff\xff\x0f\x07\0\0\0PAR1", _LISTS],
    ids=["empty", "short", "length", "long list", "lists in lists"],
)
def test_no_footer(tmp_path, content):
    """Lengths that are not there, lists that are longer than the file or too deep, end at once."""
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=r"too short|damaged"):
        unpacked_bytes(tmp_path / "t.parquet")


@pytest.mark.parametrize("options", [{}, {"row_group_size": 7}, {"compression": "uncompressed"}, {"statistics": False}])
def test_sizes_of_ordinary_files(tmp_path, options):
    """At least eight bytes a cell, whatever the file is packed with; text as long as the file says."""
    table = pl.DataFrame({"a": range(100), "b": [i / 7 for i in range(100)], "c": [f"key {i}" for i in range(100)]})
    table.write_parquet(tmp_path / "t.parquet", **options)
    assert 2400 <= unpacked_bytes(tmp_path / "t.parquet") < 12_000


@pytest.mark.parametrize("how", [{}, {"data_page_size": 2000}, {"statistics": False}])
def test_a_page_that_says_what_cannot_be(tmp_path, how):
    """-999 values of 1000, for which polars would ask for 2⁶¹ bytes, and end the process.

    n is written as 2 n, and -n as 2 n - 1, with seven bits in a byte.
    """
    path = tmp_path / "t.parquet"
    table = pl.DataFrame({name: [None, *(i / 7 for i in range(999))] for name in "ay"})
    table.write_parquet(path, compression="uncompressed", **how)
    assert unpacked_bytes(path) >= 16_000
    content = path.read_bytes()
    count = Reader(content, 4).struct()[5][1]  # the first page begins after PAR1
    written, negative = (bytes([0x15, code & 127 | 128, code >> 7]) for code in (2 * count, 2 * count - 3))
    assert written in content[:100]
    path.write_bytes(content.replace(written, negative, 1))
    with pytest.raises(ValueError, match="the head of a page, is damaged"):
        unpacked_bytes(path)
    for command in ("info t.parquet", "regress t.parquet --target y --stream"):
        done = _run(command, 2**30, tmp_path)
        assert done.returncode == 3, done.stderr[-2000:]
        assert done.stderr.strip().splitlines()[-1] == (
            "semigp: t.parquet is not a Parquet file that can be read: The footer, or the head of a page, is damaged."
        )


def test_any_type_at_any_place(tmp_path):
    """Every byte of footer and heads with another low half, where types are written: a size, or one error."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1.0, 2.0], "c": ["x", None]}).write_parquet(path, statistics=False)
    content, refused = path.read_bytes(), 0
    for place in range(4, len(content) - 4):
        for kind in (0, 3, 8, 9, 12):  # the end of a struct, a byte, a text, a list, a struct
            path.write_bytes(content[:place] + bytes([content[place] & 0xF0 | kind]) + content[place + 1 :])
            try:
                assert unpacked_bytes(path) >= 0
            except ValueError:
                refused += 1
    assert refused > 300
