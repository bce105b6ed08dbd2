"""Ten million rows through `StreamingGPRegressor`, from memory-mapped arrays: `semigp bench streaming`.

There are 10 inputs and 100 inducing points, and a fifth of the rows is incomplete. The fit runs in its own process,
which reports its peak memory. $SEMIGP_STREAMING_ROWS sets another number of rows, and $SEMIGP_STREAMING_FOLDER the
folder for their file (0.9 GB for ten million rows).
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .measuring import origin

ROWS, INPUTS, INCOMPLETE, NOISE_STD = 10_000_000, 10, 0.2, 0.3
PIECE, HELD_OUT = 100_000, 10_000
TABLE = "streaming.md"


def make_piece(count: int, seed: int) -> np.ndarray:
    """Rows of ten correlated inputs, with NaN where missing, and an output that depends on five of them."""
    random, mixing = np.random.default_rng(seed), np.random.default_rng(2**32).normal(size=(INPUTS, INPUTS))
    x = random.normal(size=(count, INPUTS)) @ (0.7 * np.eye(INPUTS) + 0.5 * mixing / np.sqrt(INPUTS))
    y = np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * x[:, 3] ** 2 + 0.3 * x[:, 4]
    y += NOISE_STD * random.normal(size=count)
    incomplete = np.flatnonzero(random.random(count) < INCOMPLETE)
    x[incomplete, random.integers(INPUTS, size=len(incomplete))] = np.nan
    x[incomplete[::2], random.integers(INPUTS, size=len(incomplete[::2]))] = np.nan
    return np.column_stack([x, y])


def write_rows(path: Path, count: int) -> None:
    """Write the rows to a file of float64, piece by piece."""
    table = np.lib.format.open_memmap(path, "w+", np.float64, (count, INPUTS + 1))
    for start in range(0, count, PIECE):
        table[start : start + PIECE] = make_piece(min(PIECE, count - start), start // PIECE)
    table.flush()


def measure(path: str) -> dict:
    """Fit the model, and score its predictions of held-out rows."""
    from semigp import StreamingGPRegressor, scores

    table = np.load(path, mmap_mode="r")
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    model = StreamingGPRegressor(100, random_state=0, callback=show).fit(table[:, :INPUTS], table[:, INPUTS])
    seconds = time.perf_counter() - started
    test = make_piece(HELD_OUT, 2**31)
    truth, found = test[:, INPUTS:], {}
    mean, std = model.predict(test[:, :INPUTS], return_std=True)
    for name in ("MSE", "NLPD", "coverage"):
        found[name] = float(scores.ALL[name](truth, mean[:, None], std[:, None]))
    report = model.fit_report_
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {
        "rows": len(table), "seconds": seconds, "bound": model.bound_, "status": report.status,
        "steps": report.stages[0][2], "before_mib": before / 1024, "peak_mib": peak / 1024,
    }  # fmt: skip


def show(progress) -> None:
    if progress.stage != "stream":
        return
    line = f"{progress.stage}: {progress.iteration} of {progress.max_iterations}, {progress.bound:.0f}"
    print(f"{line}, {progress.seconds:.0f} s", file=sys.stderr, flush=True)


def main(folder: Path) -> None:
    rows = int(os.environ.get("SEMIGP_STREAMING_ROWS", ROWS))
    with tempfile.TemporaryDirectory(dir=os.environ.get("SEMIGP_STREAMING_FOLDER")) as place:
        path = Path(place) / "rows.npy"
        write_rows(path, rows)
        command = [sys.executable, "-m", "semigp.benchmarks.streaming", str(path)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(output.splitlines()[-1])
    lines = [
        "# Rows that do not fit in memory\n",
        f"{INPUTS} inputs, {INCOMPLETE:.0%} of the rows incomplete, 100 inducing points, from a memory-mapped file. "
        f"Scores are of {HELD_OUT} held-out rows, a fifth of them incomplete; the noise alone has RMSE {NOISE_STD}.\n",
        "| rows | steps | fit, s | rows/s | peak memory, MiB | before the fit | RMSE | NLPD | in 95 % | status |",
        "|---|---|---|---|---|---|---|---|---|---|",
        f"| {found['rows']} | {found['steps']} | {found['seconds']:.0f} | {found['rows'] / found['seconds']:.0f} "
        f"| {found['peak_mib']:.0f} | {found['before_mib']:.0f} | {found['MSE'] ** 0.5:.4f} | {found['NLPD']:.4f} "
        f"| {found['coverage']:.1%} | {found['status']} |",
        "\nPages of the file that the system keeps in memory count as peak memory too.\n",
        origin("streaming"),
    ]
    (folder / TABLE).write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
