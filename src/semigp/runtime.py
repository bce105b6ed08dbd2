"""What holds while we compute: JAX's compilation cache, one thread for LAPACK, room for programs, and helpful errors.

Compiling the objective takes seconds; loading it from the cache in another process takes a fraction of a second. The
cache and the number of threads are settings of the whole process. The first computation changes them, and the last one
to end restores them.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import numpy as np
from jax.experimental.compilation_cache import compilation_cache as jax_cache
from threadpoolctl import threadpool_limits

from .core.numerics.chunks import CHUNK_VARIABLE, chunk_size

_FLAGS = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
_MIN_COMPILE_SECONDS = 0.2


def cache_folder() -> Path | None:
    """Where compiled code is kept: $SEMIGP_CACHE, or the user's cache folder; None if $SEMIGP_CACHE is "off"."""
    chosen = os.environ.get("SEMIGP_CACHE")
    if chosen == "off":
        return None
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else base / "semigp"


class _Shared:
    """A setting of the whole process. The first user makes it, and the last user to leave undoes it."""

    def __init__(self, setting: Callable[[], contextlib.AbstractContextManager]) -> None:
        self._setting, self._lock, self._users = setting, threading.Lock(), 0
        self._made = contextlib.ExitStack()

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._made.enter_context(self._setting())
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._made.close()


@contextlib.contextmanager
def _cache() -> Iterator[None]:
    """Turn the compilation cache on. A cache that the user has set up is left alone."""
    folder, before = cache_folder(), {flag: getattr(jax.config, flag) for flag in _FLAGS}
    if folder is None or before["jax_compilation_cache_dir"] is not None:
        yield
        return
    for flag, value in zip(_FLAGS, (str(folder / "jax"), _MIN_COMPILE_SECONDS), strict=True):
        jax.config.update(flag, value)
    try:
        yield
    finally:
        for flag, value in before.items():
            jax.config.update(flag, value)
        jax_cache.reset_cache()  # otherwise JAX would go on using the folder it has opened


# Keeps the programs that are compiled inside this context, so that later processes find them.
compilation_cache = _Shared(_cache)


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Use one BLAS thread: on matrices of our size more threads only wait for each other."""
    limits = threadpool_limits(1, user_api="blas")  # not a `with` block: it must end in the thread it began in
    try:
        yield
    finally:
        limits.restore_original_limits()


_one_thread = _Shared(_one_blas_thread)


class _Programs:
    """Compiled programs hold memory maps, hundreds for a fit of a new shape. Linux gives a process 65530, by default.

    The first program without any left would end the process, without an exception. So JAX forgets its programs, those
    of the user among them, when they and all else have taken half of the maps. What took long to compile for us is
    read from the compilation cache when it is wanted again. Programs that run are held by those who run them.
    """

    MAPS, MAX_MAPS = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
    # Where a process may have more maps, it would have too little memory first. Counting 30,000 takes some 10 ms.
    MOST, SHARE, SECONDS = 65_530, 0.5, 1.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted, self._kept = -np.inf, -np.inf  # when maps were counted, and how many the last clearing left

    def count(self) -> int:
        """The maps of this process."""
        return self.MAPS.read_bytes().count(b"\n")

    def make_room(self) -> None:
        """Forget programs if there are too many; does nothing where the system does not tell, or while another does."""
        if not self.MAX_MAPS.exists() or not self._lock.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._counted > self.SECONDS:
                self._counted, most = time.monotonic(), min(int(self.MAX_MAPS.read_text()), self.MOST)
                # What the last clearing left is not of programs, mostly; clearing it again would only cost time.
                limit = min(max(self.SHARE * most, self._kept + 0.2 * most), 0.9 * most)
                if self.count() > limit:
                    jax.clear_caches()
                    gc.collect()
                    self._kept = self.count()
        finally:
            self._lock.release()


_programs = _Programs()
_first_process: int | None = None


@contextlib.contextmanager
def computing() -> Iterator[None]:
    """The context for everything that estimators compute."""
    _refuse_forks()
    try:
        _programs.make_room()
        with compilation_cache(), _one_thread():
            yield
    except (jax.errors.JaxRuntimeError, MemoryError) as error:
        told = str(error)
        if CHUNK_VARIABLE in told or not (isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in told):
            raise
        raise MemoryError(
            f"There is not enough memory for this ({told.partition(chr(10))[0]}). Set {CHUNK_VARIABLE}="
            f"{chunk_size() // 8} before Python starts, to hold fewer numbers at once; now it is {chunk_size()}. "
            "Fewer inducing points help too, and StreamingGPRegressor holds only one batch in memory."
        ) from error


def _refuse_forks() -> None:
    """Raise RuntimeError in a forked process: the threads of JAX do not exist there, and it would wait forever."""
    global _first_process
    if _first_process is None:
        _first_process = os.getpid()
    if os.getpid() != _first_process:
        raise RuntimeError(
            "This process was forked from one that had computed with JAX already, which cannot work. Start processes "
            'with multiprocessing.get_context("spawn"), or with joblib, whose default is fine.'
        )
