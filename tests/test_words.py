"""Numbers in words."""

import pytest

from semigp.words import told_number, told_share


@pytest.mark.parametrize(
    ("value", "digits", "told"),
    [
        (88437.0, 3, "88,400"),
        (999.9, 3, "1,000"),
        (-12.345, 3, "-12.3"),
        (0.012345, 3, "0.0123"),
        (1.0, 3, "1.00"),
        (3.14159, 4, "3.142"),
        (2.3e7, 3, "2.3e+07"),
        (1.5e-6, 3, "1.5e-06"),
        (0.0, 3, "0"),
        (float("nan"), 3, "nan"),
        (float("inf"), 3, "inf"),
    ],
)
def test_numbers_have_so_many_digits_and_no_exponent_where_they_can_be_read(value, digits, told):
    assert told_number(value, digits) == told


def test_shares_are_not_rounded_to_nothing_or_all():
    assert [told_share(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0 %", "less than 1 %", "50 %", "more than 99 %", "100 %",
    ]  # fmt: skip
