"""The bar in a notebook. The oracle is a stand-in for IPython that remembers what a cell shows."""

import sys
import time
from types import ModuleType

import pytest
from rich.console import Console

from semigp.progress import bar as bar_module
from semigp.progress import showing, steps
from semigp.progress.bar import Bar


class Handle:
    """What `display` returns, and what a reader would see, one after the other."""

    def __init__(self, first):
        self.shown = [first]

    def update(self, data, raw):
        assert raw
        self.shown.append(data)


@pytest.fixture
def cell(monkeypatch):
    handles = []

    def display(data, raw, display_id):
        assert raw
        assert display_id
        handles.append(Handle(data))
        return handles[-1]

    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    package.display, module.display = module, display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return handles


def test_a_cell_shows_the_bar_and_then_nothing(cell, monkeypatch):
    """No ipywidgets are here, and no warning that asks for them: warnings are errors in these tests."""
    monkeypatch.setattr(bar_module, "PATIENCE", 0.1)
    with showing(Bar("predict", Console(force_jupyter=True))):
        for _ in steps(range(4), "rows"):
            time.sleep(0.3)
    (handle,) = cell
    texts = [each["text/plain"] for each in handle.shown]
    assert any(text.startswith("predict: rows ━") and "50% about 1 s left" in text for text in texts)
    assert all("<pre" in each["text/html"] for each in handle.shown[:-1])
    assert handle.shown[-1] == {"text/plain": "", "text/html": ""}


def test_a_short_job_leaves_the_cell_empty(cell):
    with showing(Bar("predict", Console(force_jupyter=True))):
        list(steps(range(4), "rows"))
    assert cell == []
