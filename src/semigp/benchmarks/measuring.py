"""Measurements in separate processes, and a description of the machine on which they ran."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import provenance

_SCRIPTS = Path(__file__).parent / "peers"
_OUT_OF_MEMORY_WORDS = ("MemoryError", "bad_alloc", "ResourceExhausted", "not enough memory", "allocate memory", "OOM")
_OUT_OF_MEMORY_SIGNALS = (-6, -9)  # an abort, often after a failed allocation; a kill by the system


class Unmeasured(Exception):
    """A measurement that could not be made. The message says why."""


@dataclass(frozen=True)
class Peer:
    """Another library, in this environment or in its own."""

    name: str
    module: str
    environment: str = ""  # the folder .venv-… that `make peers` makes; by default named like the module

    @property
    def variable(self) -> str:
        """The environment variable that can name a Python with the library."""
        return f"SEMIGP_BENCH_{self.module.upper()}"

    def python(self) -> str:
        """A Python with the library: the one named by the variable, the one made by `make peers`, or this one."""
        named = os.environ.get(self.variable)
        if named:
            return named
        made = Path(f".venv-{self.environment or self.module.lower()}") / "bin" / "python"
        if made.exists():
            return str(made)
        if importlib.util.find_spec(self.module) is None:
            raise Unmeasured(f"not installed: run `make peers`, or set ${self.variable} to a Python that has it")
        return sys.executable

    def measure(self, size: tuple[int, ...], **how: Any) -> dict:
        """The result of one measurement at this size."""
        return self.run(f"time_{self.module.lower()}.py", *size, **how)

    def run(self, script: str, *arguments: Any, **how: Any) -> dict:
        """The result of a script of the folder `peers`."""
        return run([self.python(), "-W", "ignore", str(_SCRIPTS / script), *map(str, arguments)], **how)


GPY, GPYTORCH, GPFLOW = Peer("GPy", "GPy"), Peer("GPyTorch", "gpytorch"), Peer("GPflow", "gpflow")
STATSFORECAST = Peer("statsforecast", "statsforecast", "series")


def run(
    command: list[str],
    cores: str | None = None,
    blas_threads: int | None = None,
    cache: Any = "off",
    seconds: float = 900.0,
) -> dict:
    """Run a command, and return the last line that it prints, read as JSON.

    The process is pinned to `cores`, with one BLAS thread for each. Its compiled code is kept in `cache`.
    """
    environment = os.environ | {"SEMIGP_CACHE": str(cache)}
    if cores is not None:
        blas_threads = len(cores.split(","))
        command = [*(["taskset", "-c", cores] if shutil.which("taskset") else []), *command]
    if blas_threads is not None:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment |= dict.fromkeys(names, str(blas_threads))
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Unmeasured(f"more than {seconds:.0f} s") from None
    if done.returncode:
        if done.returncode in _OUT_OF_MEMORY_SIGNALS or any(sign in done.stderr for sign in _OUT_OF_MEMORY_WORDS):
            raise Unmeasured("out of memory")
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def run_module(module: str, *arguments: Any, **how: Any) -> dict:
    """Run a module of this folder as a process, `python -m semigp.benchmarks.module …`, and return its result."""
    command = [sys.executable, "-W", "ignore", "-m", f"semigp.benchmarks.{module}", *map(str, arguments)]
    return run(command, **how)


def origin(benchmark: str, versions: dict[str, str] | None = None) -> str:
    """A sentence that says which benchmark made a table, from which commit, when, and where."""
    known = provenance.versions("jax", "numpy") | (versions or {})
    return provenance.sentence(
        f"semigp bench {benchmark}", provenance.commit(), provenance.today(), known, provenance.machine()
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cells) + " |" if cells[0] != "---" else "|---" * len(cells) + "|" for cells in lines
    )
