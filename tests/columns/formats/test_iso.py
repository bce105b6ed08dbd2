"""Times in ISO 8601. The oracle is the cell itself when written again."""

from datetime import UTC, datetime

import pytest

from semigp.columns.formats.iso import IsoFormat


@pytest.mark.parametrize("cells", [
    ["2018-01-31", "2018-02-01"], ["2018-01-31 13:45"], ["2018-01-31T13:45:01"], ["2018-01-31T13:45:01.250"],
    ["2018-01-31T13:45:01.000250"], ["2018-01-31T13:45:00+01:00", "2018-02-01T00:00:00+01:00"], ["2018-01-31T13:45Z"],
    ["2018-01-31 13:45-05:30"],
])  # fmt: skip
def test_written_as_it_was_read(cells):
    found = IsoFormat.find(cells)
    assert [found.write(found.read(cell)) for cell in cells] == cells


def test_offsets_are_read_in_utc_and_the_last_one_is_written_where_they_differ():
    cells = ["2018-01-31T13:45+01:00", "2018-07-31T13:45+02:00"]
    found = IsoFormat.find(cells)
    assert found.read(cells[1]) == datetime(2018, 7, 31, 11, 45, tzinfo=UTC)
    assert found.write(found.read(cells[1])) == cells[1]
    assert found.write(found.read(cells[0])) == "2018-01-31T14:45+02:00"


@pytest.mark.parametrize("cells", [["2018-01-31", "2018-01-31T00:00Z"], ["0001-01-01T00:00+02:00"], ["20180131"], []])
def test_what_is_no_column_of_times(cells):
    assert IsoFormat.find(cells) is None
