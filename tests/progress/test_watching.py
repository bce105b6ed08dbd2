"""What the bar in force is told. The oracle is a list of all that was told, worked out by hand."""

import sys
import threading

import pytest

from semigp.core.search.report import Progress
from semigp.progress import portion, showing, steps, told, watched


class Listener:
    """A bar that remembers."""

    def __init__(self, is_interrupted=False):
        self.spans, self.heard, self.is_interrupted = [(0.0, 1.0)], [], is_interrupted

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.heard.append("over")

    def tell(self, doing, done):
        low, high = self.spans[-1]
        self.heard.append((doing, round(low + (high - low) * done, 6)))

    def rest(self):
        self.heard.append("rest")

    def callback(self, progress):
        self.heard.append(progress.iteration)
        return self.is_interrupted


def test_steps_within_steps_share_the_bar():
    with showing(Listener()) as bar:
        for _ in steps("ab", "outer"):
            assert list(steps([1, 2], "inner")) == [1, 2]
    outer, inner = [("outer", 0.0), ("outer", 0.5)], [0.0, 0.25, 0.5]
    first = [("inner", share) for share in inner]
    second = [("inner", 0.5 + share) for share in inner]
    assert bar.heard == [outer[0], *first, outer[1], *second, ("outer", 1.0), "rest", "over"]
    assert bar.spans == [(0.0, 1.0)]


def test_weights_and_portions():
    with showing(Listener()) as bar:
        list(steps("abc", "rows", [1.0, 1.0, 2.0]))
        with portion(0.5, 0.9):
            list(steps("ab", "late"))
    rows = [("rows", share) for share in (0.0, 0.25, 0.5, 1.0)]
    assert bar.heard == [*rows, "rest", ("late", 0.5), ("late", 0.7), ("late", 0.9), "over"]


def test_what_ends_early_leaves_no_steps_behind():
    with showing(Listener()) as bar:
        for each in steps("abc", "rows"):
            if each == "b":
                break
        with pytest.raises(ValueError, match="no"):
            _fail_in(steps("ab", "others"))
        list(steps("a", "last"))
    assert bar.heard[-4:] == [("last", 0.0), ("last", 1.0), "rest", "over"]


def _fail_in(items):
    for _ in items:
        raise ValueError("no")


def test_without_a_bar_nothing_changes():
    assert list(steps(range(3), "rows")) == [0, 1, 2]
    assert list(steps([], "rows")) == []
    with portion(0.0, 0.5):
        pass
    assert told(None) is None
    assert told(print) is print


@pytest.mark.parametrize(("bar_stops", "user_stops"), [(False, False), (True, False), (False, True)])
def test_bar_and_user_are_both_told(bar_stops, user_stops):
    heard = []
    with showing(Listener(bar_stops)) as bar:
        both = told(lambda progress: heard.append(progress.iteration) or user_stops)
        assert both(Progress("all", 3, 10, -1.0, 0.0)) == (bar_stops or user_stops)
        assert told(None)(Progress("all", 4, 10, -1.0, 0.0)) == bar_stops
    assert heard == [3]
    assert bar.heard == [3, 4, "over"]


def test_the_outermost_bar_is_the_one():
    """And a thread that a job starts has none."""
    found = []
    with showing(Listener()) as bar:
        with watched("inner", True):
            list(steps("a", "rows"))
        thread = threading.Thread(target=lambda: found.append(told(None)))
        thread.start()
        thread.join()
    assert bar.heard == [("rows", 0.0), ("rows", 1.0), "rest", "over"]
    assert found == [None]


def test_without_rich_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    message = r'not installed: pip install rich, or "semigp\[cli\]"'
    with pytest.raises(ModuleNotFoundError, match=message), watched("fit", True):
        pass
    with watched("fit", False):
        pass
