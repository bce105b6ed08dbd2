"""Python objects as floats and back: the oracle is the object itself."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from semigp.columns.values import form_of, from_float, is_missing, number_in, to_float


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s"), Decimal("nan")]
)
def test_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (3, "numbers"), (2.5, "numbers"), (Decimal("1.5"), "numbers"), (date(2024, 2, 29), "times"),
        (datetime(1969, 5, 4, 3, 2, 1), "times"), (datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=3))), "times"),
        (time(13, 30), "times"), (timedelta(hours=-3), "spans"), (pd.Timestamp("2024-05-06", tz=UTC), "times"),
        (pd.Timedelta("3h"), "spans"),
    ],
)  # fmt: skip
def test_there_and_back(value, form):
    assert not is_missing(value)
    assert form_of([value, None]) == form
    back = from_float(to_float(value), value)
    assert back == value
    assert type(back) is type(value)


def test_forms_of_mixtures():
    assert form_of([]) == "numbers"
    assert form_of([1, "2"]) == "text"
    assert form_of([True, "a", 1]) == "levels"
    assert form_of([1, date(2024, 1, 1)]) is None
    assert form_of(["a", [1]]) is None


def test_numbers_in_text():
    assert [number_in(text) for text in ("1.5", " -2 ", "1e3", "0", "0.5")] == [1.5, -2.0, 1000.0, 0.0, 0.5]
    assert [number_in(text) for text in ("x", "007", "1_0", "nan", "inf", "")] == [None] * 6
    assert from_float(3.0, "1") == "3"
    assert from_float(0.123456789, "1") == "0.123457"
