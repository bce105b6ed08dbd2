"""A progress bar with the bound and the time left, for fits longer than two seconds; Ctrl-C keeps the best model."""

from __future__ import annotations

import signal
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

if TYPE_CHECKING:
    from ..core.search.report import Progress

_PATIENCE = 2.0  # seconds before the bar is shown
_RECENT = 20  # gains of these latest iterations show how fast gains shrink
_TOLERANCE = 1e-7  # relative gain at which fits end


class Outlook:
    """An estimate of the iterations left, which assumes that the gains shrink by a constant factor."""

    def __init__(self) -> None:
        self._bounds: list[float] = []
        self._which: Any = None

    def __call__(self, progress: Progress) -> int:
        """The number of iterations left after this one."""
        which = progress.phase, progress.part, progress.stage
        if which != self._which:
            self._which, self._bounds = which, []
        self._bounds.append(progress.bound)
        most = progress.max_iterations - progress.iteration
        gains = np.diff(self._bounds[-2 * _RECENT :])
        if len(gains) < 6:
            return most
        half = len(gains) // 2
        early, late = max(np.mean(gains[:half]), 1e-300), max(np.mean(gains[half:]), 1e-300)
        shrinking = (late / early) ** (1 / half)
        now = late * shrinking ** (half / 2)
        enough = _TOLERANCE * max(abs(progress.bound), 1.0)
        if now <= enough:
            return min(1, most)
        return most if shrinking >= 0.999 else min(most, int(np.log(enough / now) / np.log(shrinking)) + 1)


class FitBar:
    """A context whose `callback` is passed to an estimator. The first Ctrl-C ends the fit and keeps its best model."""

    def __init__(self, title: str, console: Console, is_shown: bool, is_gentle: bool = True) -> None:
        self.is_interrupted = False
        self._console, self._is_shown, self._is_gentle = console, is_shown, is_gentle
        text = ("{task.description}", "{task.fields[bound]}", "{task.fields[left]}")
        columns = TextColumn(text[0]), BarColumn(24), TextColumn(text[1]), TextColumn(text[2], style="dim")
        self._bar = Bar(*columns, console=console, transient=True)
        self._task = self._bar.add_task(title, total=None, bound="", left="getting ready")
        self._title, self._outlook = title, Outlook()
        self._timer = threading.Timer(_PATIENCE, self._start)
        self._timer.daemon = True
        self._lock, self._is_over = threading.Lock(), False

    def __enter__(self) -> FitBar:
        self._started = time.perf_counter()
        if self._is_shown:
            self._timer.start()
        if self._is_gentle and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None) -> None:
        with self._lock:
            self._is_over = True
            if self._bar.live.is_started:
                self._bar.stop()
        self._timer.cancel()
        if self._is_gentle and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)

    def _start(self) -> None:
        with self._lock:
            if not self._is_over:
                self._bar.start()

    def callback(self, progress: Progress) -> bool:
        """Update the bar. Returns True to end the fit."""
        left = self._outlook(progress)
        done = (progress.part - 1 + progress.iteration / (progress.iteration + left)) / progress.parts
        spent = time.perf_counter() - self._started
        part = f", {progress.part} of {progress.parts}" if progress.parts > 1 else ""
        self._bar.update(
            self._task, total=1.0, completed=done, bound=f"bound {progress.bound:.1f}",
            description=f"{self._title}: {progress.phase}{part}", left=f"about {_duration(spent / done - spent)} left",
        )  # fmt: skip
        return self.is_interrupted

    def _interrupt(self, number: int, frame: Any) -> None:
        if self.is_interrupted:
            raise KeyboardInterrupt
        self.is_interrupted = True
        self._console.print("Stopping at the next iteration, to keep the best model so far. Ctrl-C again to give up.")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
