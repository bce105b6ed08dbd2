"""`semigp regress --distributed`: two processes on loopback, one of which may be killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from semigp.cli.parquet_files import read_part
from semigp.cli.problems import LOST, Problem

COMMAND = Path(__file__).with_name("fast_checkpoints.py")
FIT = ("regress", "data.parquet", "--target", "y", "--inducing", "10", "--predict", "new.parquet", "--distributed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Holes in the first part of the file only, so that the processes' parts differ."""
    folder = tmp_path_factory.mktemp("distributed")
    random = np.random.default_rng(0)
    truth = random.normal(size=(120, 2))
    y = np.sin(2 * truth[:, 0]) + truth[:, 1] + 0.3 * random.normal(size=120)
    X = truth.copy()
    X[:12, 0][random.random(12) < 0.5] = np.nan
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).fill_nan(None)
    table.write_parquet(folder / "data.parquet", row_group_size=25)
    pl.DataFrame({"a": truth[:9, 0], "b": truth[:9, 1]}).write_parquet(folder / "new.parquet")
    return folder


def _start(folder, *options):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    together = {"JAX_COORDINATOR_ADDRESS": f"127.0.0.1:{port}", "JAX_NUM_PROCESSES": "2"}
    return [
        subprocess.Popen(
            [sys.executable, COMMAND, *FIT, *options], cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=os.environ | together | {"JAX_PROCESS_ID": str(rank)},
        )
        for rank in range(2)
    ]  # fmt: skip


def _finish(processes):
    told = [process.communicate(timeout=240) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    assert told[1][0] == ""  # the first speaks for both
    return json.loads(told[0][0])


@pytest.fixture(scope="module")
def whole(folder):
    """A run that nothing happens to."""
    return _finish(_start(folder, "--json", "--save", "model.semigp"))


@pytest.mark.slow
def test_two_processes_see_all_rows(whole):
    assert whole["rows_learned_from"] == 120
    assert whole["status"] == "converged"
    assert len(whole["rows"]) == 9


def _kill_and_resume(folder, whole, victim, checkpoint):
    processes = _start(folder, "--json", "--checkpoint", checkpoint)
    until = time.monotonic() + 200
    while not list((folder / checkpoint).glob("part-*")) and time.monotonic() < until:
        time.sleep(0.02)
    processes[victim].send_signal(signal.SIGKILL)
    killed = time.monotonic()
    _, told = processes[1 - victim].communicate(timeout=60)
    seconds = time.monotonic() - killed
    processes[victim].communicate(timeout=60)
    print(f"The survivor ended after {seconds:.2f} s:\n{told}")
    assert processes[1 - victim].returncode != 0
    assert seconds < 30
    assert "is gone" in told
    assert f"Run the same command again; the fit goes on from {checkpoint}." in told
    resumed = _finish(_start(folder, "--json", "--checkpoint", checkpoint))
    assert not list((folder / checkpoint).iterdir())
    assert resumed["bound"] == whole["bound"]
    assert resumed["rows"] == whole["rows"]
    return processes[1 - victim].returncode


@pytest.mark.slow
def test_a_killed_process_ends_the_other_and_the_fit_goes_on(folder, whole):
    assert _kill_and_resume(folder, whole, 1, "one") == LOST


@pytest.mark.slow
def test_a_killed_coordinator_ends_the_other_and_the_fit_goes_on(folder, whole):
    # JAX may end the survivor (SIGABRT) before it has seen the error.
    assert _kill_and_resume(folder, whole, 0, "two") in (LOST, -signal.SIGABRT)


def test_a_process_that_fails_ends_the_other(folder):
    processes = _start(folder, "--ignore", "nothing")
    told = [process.communicate(timeout=100)[1] for process in processes]
    assert all(process.returncode for process in processes)
    assert "--ignore nothing: data.parquet has no such column" in told[0] + told[1]


def test_parts_of_a_file_are_all_of_it(folder):
    parts = [read_part(folder / "data.parquet", rank, 7) for rank in range(7)]
    assert pl.concat(parts).equals(pl.read_parquet(folder / "data.parquet"))


def test_files_of_a_folder_are_dealt_out(folder, tmp_path):
    table = pl.read_parquet(folder / "data.parquet")
    for number in range(5):
        table[24 * number : 24 * (number + 1)].write_parquet(tmp_path / f"{number}.parquet")
    for path in (tmp_path, tmp_path / "*.parquet"):
        parts = [read_part(path, rank, 2) for rank in range(2)]
        assert parts[0].equals(pl.concat([table[0:24], table[48:72], table[96:]]))
        assert len(parts[1]) == 48
    with pytest.raises(Problem, match="5 Parquet files, too few for 6 processes"):
        read_part(tmp_path, 0, 6)


def test_other_files_are_refused(folder, tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    with pytest.raises(Problem, match="--distributed needs Parquet"):
        read_part(tmp_path / "data.csv", 0, 2)
    with pytest.raises(FileNotFoundError):
        read_part(tmp_path / "none.parquet", 0, 2)
    with pytest.raises(Problem, match="120 rows: too few for 100 processes"):
        read_part(folder / "data.parquet", 0, 100)


def test_without_other_processes():
    """In a process of its own: here JAX has begun long ago."""
    command = [sys.executable, COMMAND, "regress", "none.parquet", "--target", "y", "--distributed"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 2, result.stderr
    assert "set JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID" in result.stderr


def test_last_words_of_a_process_that_is_aborted():
    """JAX aborts a process whose neighbours' heartbeats are missed; another one speaks for it."""
    code = (
        "import os, types; from semigp.cli.distributed import _watch;"
        "_watch(types.SimpleNamespace(rank=1, count=2), 'folder'); os.abort()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == -signal.SIGABRT
    assert "process 1 of 2 was ended from outside" in result.stderr
    assert "Run the same command again; the fit goes on from folder." in result.stderr
