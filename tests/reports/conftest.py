"""Pages that all tests of reports share."""

import warnings

import pytest

import semigp

from .data import KINDS


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The path of a report of every kind, with its model and data; written once."""
    folder, found = tmp_path_factory.mktemp("reports"), {}
    for name, make in KINDS.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Columns are left out")
            model, data = make()
            found[name] = semigp.report(model, folder / f"{name}.html", **data), model, data
    return found
