"""Dates as people write them. The oracle is what Python's `datetime` says, and the cell itself when written again."""

from datetime import datetime

import pytest

from semigp.columns.formats.dates import DateFormat

DAY = datetime(2018, 1, 31)


@pytest.mark.parametrize(("cells", "first"), [
    (["01/31/2018", "02/01/2018"], DAY),
    (["31/01/2018", "01/02/2018"], DAY),
    (["1/31/2018", "2/1/2018"], DAY),
    (["31.01.2018", "01.02.2018"], DAY),
    (["31 Jan 2018", "1 May 2018"], DAY),
    (["31-Jan-18", "01-May-18"], DAY),
    (["January 31, 2018", "May 1, 2018"], DAY),
    (["Jan-18", "May-18"], datetime(2018, 1, 1)),
    (["May 2018", "June 2018"], datetime(2018, 5, 1)),
    (["2018-01", "2018-02"], datetime(2018, 1, 1)),
    (["1/31/2018 1:45 PM", "2/1/2018 12:05 AM"], datetime(2018, 1, 31, 13, 45)),
    (["31.01.2018 07:05:09"], datetime(2018, 1, 31, 7, 5, 9)),
])  # fmt: skip
def test_read_and_written(cells, first):
    found = DateFormat.find(cells)
    assert found.read(cells[0]) == first
    assert [found.write(found.read(cell)) for cell in cells] == cells
    assert not found.is_open


def test_the_whole_column_decides_whether_the_day_is_first():
    cells = ["01/02/2018", "03/04/2018"]
    assert DateFormat.find(cells).read(cells[0]) == datetime(2018, 1, 2)
    assert DateFormat.find(cells).is_open
    assert DateFormat.find(cells, is_day_first=True).read(cells[0]) == datetime(2018, 2, 1)
    for is_day_first in (None, False, True):  # no option can change what a cell tells
        assert DateFormat.find([*cells, "13/04/2018"], is_day_first).read(cells[0]) == datetime(2018, 2, 1)


@pytest.mark.parametrize("cells", [["31.02.2018"], ["01/31/2018", "31/01/2018"], ["2018"], ["Mo"], ["13/13/2018"]])
def test_what_is_no_column_of_dates(cells):
    assert DateFormat.find(cells) is None
