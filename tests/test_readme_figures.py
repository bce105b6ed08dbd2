"""Every score in the tables of README.md stands in the table under `results/` that it is quoted from.

Oracle: the committed tables. A quoted number must be a number of its table, rounded to the digits that are quoted.
Only a reader can tell whether it is the right one of that table. This finds numbers that are no longer in it.
"""

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d*\.\d+(?!\w)")  # as scores are written; whole numbers name settings too often
LINK = re.compile(r"\]\((results/[\w/-]+\.md)\)")


def _quoting_lines():
    """Lines of tables with the file that they quote: the last one linked, in the table or in the text above it."""
    source, is_in_table, found = None, False, []
    for line in README.splitlines():
        if line.startswith("#") or (is_in_table and not line.startswith("|")):
            source = None
        is_in_table = line.startswith("|")
        source = (LINK.findall(line) or [source])[-1]
        if source and is_in_table:
            found.append((source, line))
    return found


def _quoted(line):
    return NUMBER.findall(re.sub(r"\[[^]]*\]\([^)]*\)", "", line))


def _measured(source):
    text = (ROOT / source).read_text(encoding="utf-8")
    return {Decimal(number) for number in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", text)}


def _is_rounded(quoted, measured):
    digits = Decimal(1).scaleb(Decimal(quoted).as_tuple().exponent)
    ways = (ROUND_HALF_EVEN, ROUND_HALF_UP)
    return any(Decimal(quoted) in (each.quantize(digits, way) for way in ways) for each in measured)


@pytest.mark.parametrize("source", sorted({source for source, _ in _quoting_lines()}))
def test_quoted_numbers_are_measured(source):
    measured = _measured(source)
    lost = {
        line: missing
        for name, line in _quoting_lines()
        if name == source and (missing := [each for each in _quoted(line) if not _is_rounded(each, measured)])
    }
    assert not lost


def test_there_are_lines_to_check():
    assert len(_quoting_lines()) > 30
    assert sum(len(_quoted(line)) for _, line in _quoting_lines()) > 150
