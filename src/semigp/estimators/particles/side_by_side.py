"""Chains side by side, one in each thread: products, exponentials and trees let other threads run.

Every chain has its own random numbers, so that what it draws does not depend on the other chains.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

from ...progress import steps

S = TypeVar("S")
T = TypeVar("T")
# Tell that a sweep was made, with its log evidence. Whether to stop is returned.
Tell = Callable[[int, float], bool]
# (chain, sweep, log evidence) → whether to stop
IsStopped = Callable[[int, int, float], bool]


def n_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_side_by_side(function: Callable[[S], T], items: Iterable[S], doing: str | None = None) -> list[T]:
    """The values of a function, in the order of the items. A bar shows how many there are, if it can say of what."""
    with ThreadPoolExecutor(n_cores()) as pool:
        futures = [pool.submit(function, item) for item in items]
        return [future.result() for future in (futures if doing is None else steps(futures, doing))]


def run_chains(
    chains: Sequence[Callable[[Tell], T]], is_stopped: IsStopped, n_threads: int | None = None
) -> tuple[list[T], bool]:
    """What all chains return, and whether they were stopped.

    `is_stopped` is called in this thread, after every sweep. If it returns True, or the user interrupts, every chain is
    told to stop after its present sweep. By default there is a thread for every core.
    """
    stop, news = Event(), queue.SimpleQueue[tuple[int, int, float] | None]()

    def run(number: int) -> T:
        def tell(sweep: int, evidence: float) -> bool:
            news.put((number, sweep, evidence))
            return stop.is_set()

        try:
            return chains[number](tell)
        except BaseException:
            stop.set()  # the others need not go on
            raise

    with ThreadPoolExecutor(min(len(chains), n_threads or n_cores())) as pool:
        futures = [pool.submit(run, number) for number in range(len(chains))]
        for future in futures:
            future.add_done_callback(lambda _: news.put(None))
        try:
            for sweep in _until_done(news, futures):
                if is_stopped(*sweep):
                    stop.set()
        except BaseException as error:
            stop.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
        return [future.result() for future in futures], stop.is_set()


def _until_done(news: Any, futures: list[Future]) -> Iterator[tuple[int, int, float]]:
    """The sweeps of all chains, as they are made."""
    left = len(futures)
    while left:
        item = news.get()
        if item is None:
            left -= 1
        else:
            yield item
