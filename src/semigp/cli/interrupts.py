"""Ctrl-C ends a fit, and keeps its best model."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from rich.console import Console

from ..progress.bar import Bar


@contextlib.contextmanager
def ending_gently(bar: Bar, console: Console) -> Iterator[None]:
    """A context in which the first Ctrl-C ends the fit at its next iteration, and the second one gives up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        if bar.is_interrupted:
            raise KeyboardInterrupt
        bar.is_interrupted = True
        console.print("Stopping at the next iteration, to keep the best model so far. Ctrl-C again to give up.")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
