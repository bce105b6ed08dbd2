"""Quarters of years. The oracle is the calendar, and the cell itself when written again."""

from datetime import datetime

import pytest

from semigp.columns.formats.quarters import QuarterFormat


@pytest.mark.parametrize("cells", [["2018Q3", "2019Q1"], ["2018-Q3"], ["2018 q3"], ["Q3 2018"], ["Q3/2018"]])
def test_read_and_written(cells):
    found = QuarterFormat.find(cells)
    assert found.read(cells[0]) == datetime(2018, 7, 1)
    assert [found.write(found.read(cell)) for cell in cells] == cells
    assert found.write(datetime(2018, 9, 30)) == cells[0]


@pytest.mark.parametrize("cells", [["2018Q5"], ["0000Q1"], ["Q1"], ["2018Q1", "Q1 2018"], []])
def test_what_is_no_column_of_quarters(cells):
    assert QuarterFormat.find(cells) is None
