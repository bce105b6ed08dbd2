"""The bar in force: jobs tell it how far they are, without knowing whether there is one.

It is kept in a context variable, so that every thread has its own. Threads that a job starts have none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from contextvars import ContextVar
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ..core.search.report import Callback, Progress

T = TypeVar("T")
_in_force: ContextVar[Any] = ContextVar("bar", default=None)


@contextlib.contextmanager
def showing(bar: Any) -> Iterator[Any]:
    """A context in which a bar is shown and in force."""
    with bar:
        token = _in_force.set(bar)
        try:
            yield bar
        finally:
            _in_force.reset(token)


@contextlib.contextmanager
def watched(title: str, is_verbose: bool) -> Iterator[None]:
    """A context in which a bar with this title is shown, if that is wanted and no other is in force."""
    if not is_verbose or _in_force.get() is not None:
        yield
        return
    try:
        from rich.console import Console

        from .bar import Bar
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'verbose=True shows a bar with rich, which is not installed: pip install rich, or "semigp[cli]".',
            name=error.name,
        ) from error
    console = Console(stderr=True)
    with showing(Bar(title, console, console.is_terminal or console.is_jupyter)):
        yield


def told(callback: Callback | None) -> Callback | None:
    """A callback that tells the bar in force too. The search ends if one of the two asks for it."""
    bar = _in_force.get()
    if bar is None:
        return callback

    def both(progress: Progress) -> bool:
        is_interrupted = bar.callback(progress)
        return bool(callback is not None and callback(progress)) or is_interrupted

    return both


def steps(items: Collection[T], doing: str, weights: Sequence[float] | None = None) -> Iterator[T]:
    """The items, one after the other. The bar in force shows what is done with them, and the share that is done.

    Inside a step there may be others: these share the part of the bar that the step has. The parts are in proportion
    to the weights, which are 1 by default.
    """
    bar = _in_force.get()
    if bar is None or not len(items):
        yield from items
        return
    depth, (low, high) = len(bar.spans), bar.spans[-1]
    ends = [0.0, *accumulate(weights or [1.0] * len(items))]
    try:
        for item, first, last in zip(items, ends, ends[1:], strict=False):
            bar.spans[depth:] = [_within(low, high, first / ends[-1], last / ends[-1])]
            bar.tell(doing, 0.0)
            yield item
        bar.tell(doing, 1.0)
    finally:
        del bar.spans[depth:]
        if depth == 1:
            bar.rest()


@contextlib.contextmanager
def portion(first: float, last: float) -> Iterator[None]:
    """A context whose steps stand for a part of the current step, from one share to another."""
    bar = _in_force.get()
    if bar is None:
        yield
        return
    depth = len(bar.spans)
    low, high = bar.spans[-1]
    bar.spans.append(_within(low, high, first, last))
    try:
        yield
    finally:
        del bar.spans[depth:]


def _within(low: float, high: float, first: float, last: float) -> tuple[float, float]:
    return low + (high - low) * first, low + (high - low) * last
