"""A bar that tells what a job is doing, the share that is done, the bound if there is one, and the time left.

It is shown after two seconds, and goes away when the job ends. It needs rich.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from .notebook import NotebookDisplay
from .outlook import Outlook

if TYPE_CHECKING:
    from ..core.search.report import Progress

PATIENCE = 2.0  # seconds before the bar is shown


class Bar:
    """A context in which a bar is shown. `callback` is for searches, and `tell` for everything else.

    `spans` holds the shares of the job, from and to, that the current step and the steps around it stand for.
    `is_interrupted` is what `callback` returns: searches end when it is true.
    """

    def __init__(self, title: str, console: Console, is_shown: bool = True) -> None:
        self.is_interrupted, self.spans = False, [(0.0, 1.0)]
        self._title, self._is_shown, self._outlook = title, is_shown, Outlook()
        columns = TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.fields[told]}", style="dim")
        # What others print goes above the bar, but only if it would go to the terminal anyway.
        has_terminal = sys.stdout is not None and sys.stdout.isatty()
        self._bars = Bars(*columns, console=console, transient=True, redirect_stdout=has_terminal)
        self._task = self._bars.add_task(title, total=None, told="getting ready")
        self._display: Any = NotebookDisplay(self._bars) if console.is_jupyter else self._bars
        self._timer = threading.Timer(PATIENCE, self._start)
        self._timer.daemon = True
        self._lock, self._is_on, self._is_over = threading.Lock(), False, False
        self._activity, self._since = "", 0.0

    def __enter__(self) -> Bar:
        self._since = self._last = time.perf_counter()
        if self._is_shown:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None) -> None:
        with self._lock:
            self._is_over = True
            if self._is_on:
                self._display.stop()
        self._timer.cancel()

    def _start(self) -> None:
        with self._lock:
            if not self._is_over:
                self._display.start()
                self._is_on = True

    def callback(self, progress: Progress) -> bool:
        """Show the state of a search. Returns True to end it."""
        left = self._outlook(progress)
        done = (progress.part - 1 + progress.iteration / (progress.iteration + left)) / progress.parts
        doing = progress.stage if progress.phase == self._title else progress.phase
        part = f", {progress.part} of {progress.parts}" if progress.parts > 1 else ""
        activity = progress.phase if progress.parts > 1 else progress.phase + progress.stage
        self._begin(activity, 1)
        self._show(doing + part, done, f"bound {progress.bound:.1f}")
        return self.is_interrupted

    def tell(self, doing: str, done: float) -> None:
        """Show what is being done, and the share of the current step that is done."""
        self._begin(doing, 2)
        self._show(doing, done, "")

    def rest(self) -> None:
        """Show that the job goes on, but not how far it is."""
        self._last = time.perf_counter()
        self._bars.update(self._task, description=self._title, told="")
        self._bars.tasks[0].total = None
        self._refresh()

    def _begin(self, activity: str, depth: int) -> None:
        """Count the time of a new activity from the end of the one before, unless it is a part of another one."""
        if len(self.spans) <= depth and activity != self._activity:
            self._activity, self._since = activity, self._last

    def _show(self, doing: str, done: float, bound: str) -> None:
        low, high = self.spans[-1]
        done = low + (high - low) * done
        self._last = time.perf_counter()
        spent = self._last - self._since
        left = f"about {_duration(spent / done - spent)} left" if done > 0.0 else ""
        told = " ".join(each for each in (f"{done:.0%}", bound, left) if each)
        self._bars.update(self._task, total=1.0, completed=done, description=f"{self._title}: {doing}", told=told)
        self._refresh()

    def _refresh(self) -> None:
        if self._is_on and self._display is not self._bars:
            self._display.refresh()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
