"""Identifiers are told from numbers by name and values; the oracle is how people name columns."""

import numpy as np
import pytest

from semigp.columns.identifiers import is_free_text, is_identifier, is_identifying_name

NAMES = ["id", "ID", "user_id", "PassengerId", "customerID", "index", "Key", "Unnamed: 0", "row", "uuid", "no.", "No"]
OTHERS = ["width", "acid", "paid", "humid", "x", "number of rooms", "heat index", "row_height", "1", "0", "Idaho", 3]


@pytest.mark.parametrize("name", [*NAMES, "number", "row number", "Record No.", ""])
def test_names_of_identifiers(name):
    assert is_identifying_name(name)


@pytest.mark.parametrize("name", OTHERS)
def test_other_names(name):
    assert not is_identifying_name(name)


def test_an_identifier_has_many_whole_numbers_that_are_all_different():
    numbers = np.arange(20.0)
    assert is_identifier("id", numbers)
    assert is_identifier("id", np.append(numbers, np.nan))
    assert not is_identifier("id", numbers[:19])
    assert not is_identifier("id", np.append(numbers, 0.0))
    assert not is_identifier("id", numbers + 0.5)
    assert not is_identifier("width", numbers)


def test_free_text_has_more_than_20_levels_and_few_repeats():
    assert is_free_text(21, 41)
    assert not is_free_text(21, 42)
    assert not is_free_text(20, 20)
