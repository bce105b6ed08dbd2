"""Numbers as people write them. The oracle is the number that a reader sees, and the cell itself when written again."""

import pytest

from semigp.columns.formats.numbers import NumberFormat


@pytest.mark.parametrize(("cells", "numbers", "new"), [
    (["$3.20", "$1,234.50", "-$0.05"], [3.2, 1234.5, -0.05], "-$2,345.68"),
    (["€3,20", "€-1,00"], [3.2, -1.0], "€-2345,68"),
    (["3,20 €", "4,00 €"], [3.2, 4.0], "-2345,68 €"),
    (["1.234,50", "7,00"], [1234.5, 7.0], "-2.345,68"),
    (["1,234", "12"], [1234.0, 12.0], "-2,346"),
    (["1,234", "1,5"], [1.234, 1.5], "-2345,68"),
    (["12%", "3%"], [12.0, 3.0], "-2346%"),
    (["1 234.5", "7.0"], [1234.5, 7.0], "-2 345.7"),
    (["12'345.0"], [12345.0], "-2'345.7"),
    (["USD 5", "USD 6"], [5.0, 6.0], "-USD 2346"),
])  # fmt: skip
def test_read_and_written(cells, numbers, new):
    found = NumberFormat.find(cells)
    assert [found.read(cell) for cell in cells] == numbers
    assert found.write(-2345.678) == new
    assert found.read(new) is not None
    if found.places == 2:
        assert [found.write(number) for number in numbers] == cells


def test_where_commas_do_not_separate_fields_they_are_before_decimals_if_they_can_be():
    assert NumberFormat.find(["1,234", "2"], has_decimal_commas=True).read("1,234") == 1.234
    assert NumberFormat.find(["1,234,567"], has_decimal_commas=True).read("1,234,567") == 1234567.0


@pytest.mark.parametrize("cells", [
    ["$3", "€4"], ["12%", "0.5"], ["12,34,56"], ["192.168.1.1"], ["$"], ["007"], ["1_000"], ["--1"],
    ["1,2,3"], ["5 apples"], ["9" * 100], ["$1e999"],
])  # fmt: skip
def test_what_is_no_column_of_numbers(cells):
    assert NumberFormat.find(cells) is None
