"""Where a result comes from: commit, date, versions and machine. Tables of experiments and of benchmarks name them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from .version import __version__

_HERE = Path(__file__).parent
_PROCESSORS = Path("/proc/cpuinfo")


def commit() -> str:
    """The commit of the running code, and whether that has changed since; "unknown" where no repository has it.

    A copy without its repository, as on another machine, is told by the variable SEMIGP_COMMIT what it is a copy of.
    """
    named = os.environ.get("SEMIGP_COMMIT")
    if named:
        return named
    try:
        found = _git("rev-parse", "--short=12", "HEAD")
        return f"{found}, changed since" if _git("status", "--porcelain", "--", str(_HERE)) else found
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=_HERE, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _installed(name: str) -> str | None:
    """The version of a package, or None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions(*packages: str) -> dict[str, str | None]:
    """Those of semigp and of some packages."""
    return {"semigp": __version__} | {name: _installed(name) for name in packages}


def machine() -> dict[str, str | int | None]:
    """The Python, the system, the processor and how many cores of it this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": cores,
    }


def _processor() -> str:
    if _PROCESSORS.exists():
        for line in _PROCESSORS.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def today() -> str:
    """The date, as in 2026-11-18."""
    return time.strftime("%Y-%m-%d")


def sentence(
    command: str,
    commit: str,
    date: str,
    versions: Mapping[str, str | None],
    machine: Mapping[str, str | int | None],
) -> str:
    """All of it in a sentence, to stand below a table."""
    packages = ", ".join(f"{name} {number}" for name, number in versions.items() if number)
    where = f"Python {machine['python']}, {machine['cores']} cores ({machine['processor']}), {machine['system']}"
    return f"`{command}` on {date}, commit {commit}: {packages}; {where}."
