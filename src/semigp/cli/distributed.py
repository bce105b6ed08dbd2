"""`--distributed`: one process of several, each with its own part of a Parquet data set.

JAX's own runtime connects the processes (it detects SLURM, Open MPI and Kubernetes). Only the first process prints and
writes files. If a process fails or is killed, all processes end: at once if they wait for its sums, otherwise when its
heartbeat is missed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .parquet_files import read_part
from .problems import WRONG_USE, Problem, report
from .session import Session

# A process counts as gone after this many seconds without a heartbeat.
_HEARTBEAT = 15
_VARIABLES = {"num_processes": "JAX_NUM_PROCESSES", "process_id": "JAX_PROCESS_ID"}
# If another process is gone, JAX ends this one without giving us a chance to print a message. So a second process, the
# watcher, prints the message if the pipe between them closes before the watcher was told that all is well.
_WATCH = "import sys; sys.stdin.buffer.read() or print(sys.argv[1], file=sys.stderr)"


class Alone:
    """A single process with all rows."""

    rank, count, mesh = 0, 1, None

    @staticmethod
    def read(session: Session, path: Path) -> pl.DataFrame:
        """All rows of the table."""
        return session.read(path)

    @staticmethod
    def total(*numbers: float) -> list[float]:
        """The sums of the numbers over all processes."""
        return list(numbers)


class Team(Alone):
    """One process of several."""

    def __init__(self) -> None:
        from ..core.devices.processes import Processes
        from ..core.devices.row_mesh import row_mesh

        self.mesh: Any = row_mesh()
        self._processes = Processes(self.mesh)
        self.rank, self.count = self._processes.rank, self._processes.count
        self.wait()

    def read(self, session: Session, path: Path) -> pl.DataFrame:  # type: ignore[override]
        """The rows of this process."""
        return read_part(path, self.rank, self.count)

    def total(self, *numbers: float) -> list[float]:  # type: ignore[override]
        """The sums of the numbers over all processes."""
        return self._processes.total(np.array(numbers, float)).tolist()

    def wait(self) -> None:
        """Wait until all processes have reached this point."""
        self._processes.any(False)


@contextlib.contextmanager
def together(is_distributed: bool, checkpoint: Path | None) -> Iterator[Alone]:
    """The context of a run: either all processes end well, or none does."""
    if not is_distributed:
        yield Alone()
        return
    with _stdout_for_us():
        _join()
        team = Team()
    watcher = _watch(team, checkpoint)
    code: Any = 0
    try:
        yield team
        team.wait()
    except SystemExit as leave:
        code = leave.code
        team.wait()
    except BaseException as error:
        # Exit without a shutdown: the others notice at once, whereas an orderly end would wait for them.
        code = report(error, f"process {team.rank} of {team.count}: ")
        _dismiss(watcher)
        sys.stdout.flush()
        os._exit(code)
    import jax

    jax.distributed.shutdown()
    _dismiss(watcher)
    if code:
        sys.exit(code)


def _join() -> None:
    """Connect to the other processes. This must happen before any device is used."""
    import jax

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    # This service would catch SIGTERM, with which clusters end a job, and go on.
    jax.config.update("jax_enable_preemption_service", False)
    told = {name: os.environ[variable] for name, variable in _VARIABLES.items() if variable in os.environ}
    try:
        numbers: Any = {name: int(text) for name, text in told.items()}
        jax.distributed.initialize(**numbers, heartbeat_timeout_seconds=_HEARTBEAT)
    except ValueError as error:
        raise Problem(
            f"--distributed: the other processes cannot be found ({error}) Start the command with srun or mpirun, or "
            "set JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID for each process.",
            WRONG_USE,
        ) from error


@contextlib.contextmanager
def _stdout_for_us() -> Iterator[None]:
    """Send what JAX's libraries print on the standard output to the standard error, so that results stay clean."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _watch(team: Team, checkpoint: Path | None) -> subprocess.Popen:
    goes_on = f"; the fit goes on from {checkpoint}" if checkpoint else " (with --checkpoint, the fit can be resumed)"
    words = (
        f"semigp: process {team.rank} of {team.count} was ended from outside: another process is gone, or this one was "
        f"killed. Run the same command again{goes_on}."
    )
    command = [sys.executable, "-I", "-S", "-c", _WATCH, words]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)


def _dismiss(watcher: subprocess.Popen) -> None:
    watcher.communicate(b"all is well")
