"""One bound with its full gradient, from a thousand to a million rows: `semigp bench scaling`.

Every number of rows is measured in its own process, on one core. Time is the fastest of a few evaluations after a
warm-up. Memory is measured in two ways: what an evaluation adds to the memory of the process, according to the system
and without the gradient that it returns; and what XLA reports to set aside for the program. Data and parameters
necessarily grow with the rows.
"""

import contextlib
import dataclasses
import json
import sys
from pathlib import Path

import numpy as np

from .measuring import origin, run_module, table
from .peers.common import make_problem, peak_mib, timed

ROWS = (1_000, 10_000, 100_000, 1_000_000)
Q, P, M = 10, 5, 100
TABLE = "scaling.md"
MIB = 2**20


def resident(name):
    """The current (VmRSS) or peak (VmHWM) memory in MiB; NaN if the system does not report it."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    except OSError:
        return float("nan")
    return int(lines[name].split()[0]) / 1024


def forget_peak():
    """Reset the peak memory (VmHWM), if the system allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def measure(n):
    """Time and memory of one bound and gradient of n rows, all uncertain."""
    import jax

    from semigp.core import RBF
    from semigp.core.sparse.fit import _loss_and_gradient, unconstrain
    from semigp.core.sparse.model import make_data, start
    from semigp.runtime import compilation_cache

    y, mean, variance, inducing = make_problem(n, Q, P, M)
    data = make_data(np.full((n, Q), np.nan), y)
    model = start(data, RBF(1.0, np.sqrt(Q) * np.ones(Q)), inducing, 1.0)
    rows = np.asarray(data.rows)
    model = dataclasses.replace(model, mean=mean[rows], variance=variance[rows])
    with jax.enable_x64(True), compilation_cache():
        free, data = jax.tree.map(jax.numpy.asarray, (unconstrain(model), data))
        del y, mean, variance, model
        program = _loss_and_gradient.lower(free, data).compile()
        own = sum(leaf.nbytes for leaf in jax.tree.leaves((free, data))) / MIB
        gradient = sum(leaf.nbytes for leaf in jax.tree.leaves(free)) / MIB
        before = resident("VmRSS")
        forget_peak()
        jax.block_until_ready(program(free, data))
        added = resident("VmHWM") - before - gradient
        times = [timed(lambda: jax.block_until_ready(program(free, data))) for _ in range(2 if n > 100_000 else 5)]
    planned = program.memory_analysis().temp_size_in_bytes / MIB
    return {"n": n, "seconds": min(times), "own": own, "added": added, "planned": planned, "peak": peak_mib()}


HEADER = [
    "rows", "seconds", "µs per row", "data and parameters, MiB", "an evaluation adds, MiB", "set aside by XLA, MiB",
    "peak of the process, MiB",
]  # fmt: skip


def line(row):
    return [
        f"{row['n']:,}", f"{row['seconds']:.3g}", f"{1e6 * row['seconds'] / row['n']:.1f}", f"{row['own']:.1f}",
        f"{row['added']:.0f}", f"{row['planned']:.0f}", f"{row['peak']:.0f}",
    ]  # fmt: skip


def report(rows):
    """The whole page in Markdown."""
    settings = (
        f"{Q} uncertain inputs, {P} outputs, {M} inducing points, float64, one core. The peak of the process includes "
        "libraries, compilation and the simulation of the data."
    )
    parts = [f"# {__doc__.splitlines()[0]}", origin("scaling"), settings, table(HEADER, [line(row) for row in rows])]
    return "\n\n".join(parts) + "\n"


def figure(rows, folder: Path) -> list[Path]:
    """Time and memory against the number of rows."""
    import matplotlib.pyplot as plt

    from semigp.plotting.style import ABOVE, COLOURS, STYLE

    n, seconds, own, added = (np.array([row[key] for row in rows]) for key in ("n", "seconds", "own", "added"))
    at_once = n * (M * (M + 1) // 2) * 8 / MIB
    grey = {"color": "#777777", "linestyle": "--", "linewidth": 1}
    with plt.rc_context(STYLE):
        canvas, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.5), layout="constrained")
        left.plot(n, seconds[-1] * n / n[-1], **grey, label="proportional to n")
        left.plot(n, seconds, color="black", marker="o", label="one bound and its gradient")
        left.set_ylabel("seconds, one core")
        right.plot(n, at_once, **grey, label="all exponentials of ψ2, if they were kept")
        right.plot(n, added, color="black", marker="o", label="what an evaluation adds")
        right.plot(n, own, color=COLOURS[0], marker="s", label="data and parameters")
        right.set_ylabel("memory, MiB")
        for axes in (left, right):
            axes.set(xscale="log", yscale="log", xlabel="rows")
            axes.set_xticks(n, [f"{count:,}" for count in n])
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
            axes.minorticks_off()
            axes.legend(**ABOVE)
        paths = [folder / f"scaling{suffix}" for suffix in (".png", ".svg")]
        for path in paths:
            canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(canvas)
    return paths


def main(folder: Path) -> None:
    print(table(HEADER, []), flush=True)
    rows = []
    for n in ROWS:
        rows.append(run_module("scaling", n, cores="0"))
        print("| " + " | ".join(line(rows[-1])) + " |", flush=True)
    (folder / TABLE).write_text(report(rows), "utf-8")
    figure(rows, folder)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
