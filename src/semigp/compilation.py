"""JAX's persistent compilation cache, for as long as it is needed and no longer.

Compiling the objective costs seconds; loading it back in another process costs a fraction of one. JAX keeps the
settings of its cache in global flags, so they are set on entering and put back on leaving.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache as jax_cache
from threadpoolctl import threadpool_limits

_FLAGS = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
_MIN_COMPILE_SECONDS = 0.2
_lock = threading.Lock()
_users = 0
_saved: dict[str, object] = {}


def cache_folder() -> Path | None:
    """Where compiled code is kept: $SEMIGP_CACHE, or the user's cache folder; None if $SEMIGP_CACHE is "off"."""
    chosen = os.environ.get("SEMIGP_CACHE")
    if chosen == "off":
        return None
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else base / "semigp"


@contextlib.contextmanager
def compilation_cache() -> Iterator[None]:
    """Keep what is compiled inside, and find it again in later processes. A cache the user has set up is left alone."""
    folder = cache_folder()
    if folder is None or (_users == 0 and jax.config.jax_compilation_cache_dir is not None):
        yield
        return
    _enter(folder)
    try:
        yield
    finally:
        _leave()


@contextlib.contextmanager
def computing() -> Iterator[None]:
    """Compiled code is kept, and LAPACK has one thread: on matrices of our size more only wait for each other."""
    with compilation_cache(), threadpool_limits(1, user_api="blas"):
        yield


def _enter(folder: Path) -> None:
    global _users
    with _lock:
        if _users == 0:
            _saved.update({flag: getattr(jax.config, flag) for flag in _FLAGS})
            jax.config.update("jax_compilation_cache_dir", str(folder / "jax"))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", _MIN_COMPILE_SECONDS)
        _users += 1


def _leave() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            for flag, value in _saved.items():
                jax.config.update(flag, value)
            jax_cache.reset_cache()  # else JAX would go on using the folder it has opened
