"""The bar as it looks. Oracles: what was told, and a terminal that remembers."""

import io
import re
import time

import pytest
from rich.console import Console

from semigp.core.search.report import Progress
from semigp.progress import bar as bar_module
from semigp.progress import showing, steps
from semigp.progress.bar import Bar


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)


def _seen(console):
    """All that was written, without the control codes."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())


def test_a_short_job_shows_nothing(terminal):
    with showing(Bar("fit", terminal)):
        list(steps(range(5), "rows"))
    assert terminal.file.getvalue() == ""


def test_a_long_job_shows_how_far_it_is(terminal, monkeypatch):
    """Two of four steps in about 0.2 s: half is done, and what is left takes less than a second."""
    monkeypatch.setattr(bar_module, "PATIENCE", 0.05)
    with showing(Bar("predict", terminal)):
        for i in steps(range(4), "rows"):
            time.sleep(0.1 if i < 2 else 0.3)
    seen = _seen(terminal)
    assert re.search(r"predict: rows ━.* 50% about [01] s left", seen)
    assert terminal.file.getvalue().endswith("\x1b[2K")  # the line is cleared


@pytest.mark.parametrize(("title", "stage", "expected"), [
    ("fit", "sweeps", "fit: sweeps, 2 of 4"), ("regress", "sweeps", "regress: fit, 2 of 4"),
])  # fmt: skip
def test_a_search_shows_its_bound(terminal, monkeypatch, title, stage, expected):
    """After 5 of 10 iterations of the second of four searches, 3/8 are done."""
    monkeypatch.setattr(bar_module, "PATIENCE", 0.05)
    with showing(Bar(title, terminal)) as bar:
        assert not bar.callback(Progress(stage, 5, 10, -12.34, 0.0, "fit", 2, 4))
        time.sleep(0.4)
        bar.is_interrupted = True
        assert bar.callback(Progress(stage, 6, 10, -12.34, 0.0, "fit", 2, 4))
    assert re.search(rf"{expected} ━.* 38% bound -12.3 about 0 s left", _seen(terminal))


def test_a_new_activity_has_its_own_time(terminal, monkeypatch):
    """Ten seconds of getting ready and of a first loop do not count for the second, which takes two."""
    now = iter([0.0, 10.0, 11.0, 11.0, 11.0, 12.0, 13.0, 13.0, 13.0])
    monkeypatch.setattr(bar_module.time, "perf_counter", lambda: next(now, 13.0))
    with Bar("fit", terminal) as bar:
        bar.tell("first", 0.5)
        bar.tell("first", 1.0)
        bar.tell("second", 0.0)
        bar.tell("second", 0.0)
        bar.tell("second", 0.5)
        assert bar._bars.tasks[0].fields["told"] == "50% about 1 s left"
