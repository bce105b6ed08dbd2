"""One bound with its full gradient, compared with other libraries and with the machine's limit: `semigp bench engine`.

Every measurement runs in its own process, pinned to one core, in float64, on the same problem. It is the median of at
least five evaluations at slightly different parameters, after a warm-up. semigp and GPy take turns, so that a slow
phase of the machine affects both. The other libraries cannot treat rows as observed, so their times are the same in
both halves of the table; GPyTorch and GPflow are timed once. `limit.py` computes the limit.
"""

import dataclasses
import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from .measuring import GPFLOW, GPY, GPYTORCH, Unmeasured, origin, run_module, table
from .peers.common import make_problem, peak_mib, repeat, timed

SIZES = [
    (100, 15, 5, 40),
    (130, 39, 20, 60),
    (1000, 5, 12, 50),
    (1200, 10, 256, 60),
    (5000, 5, 12, 100),
    (20000, 5, 12, 100),
]
# How many times as fast as GPy we want to be: with all rows uncertain, and with 70 % of them observed.
GOALS = {
    (100, 15, 5, 40): (5, 10),
    (130, 39, 20, 60): (5, 10),
    (1000, 5, 12, 50): (8, 16),
    (1200, 10, 256, 60): (8, 16),
    (5000, 5, 12, 100): (12, 24),
    (20000, 5, 12, 100): (20, 30),
}
OBSERVED = (0.0, 0.7)
TABLE = "engine.md"
NOTES = """\
Milliseconds on one core, and in brackets how many times as long as semigp.

- limit: the exponentials and matrix products of the method alone, each as fast as this core computes them in its cache.
  The goal is 2.5 times the limit at n = 20000.
- GPyTorch: a step of its stochastic `BayesianGPLVM` over all rows. This is another quantity: one Monte Carlo draw of a
  looser bound, with q(u) as free parameters and no ψ2; bound and gradient are noisy.
- GPy, GPflow: `BayesianGPLVM`, with the same bound as semigp"""


def time_semigp(n, q, p, m, observed):
    import jax

    from semigp.core import RBF
    from semigp.core.sparse.fit import _loss_and_gradient, unconstrain
    from semigp.core.sparse.model import make_data, start
    from semigp.runtime import compilation_cache

    y, mean, variance, inducing = make_problem(n, q, p, m)
    inputs = mean.copy()
    inputs[round(observed * n) :] = np.nan
    data = make_data(inputs, y)
    model = start(data, RBF(1.0, np.sqrt(q) * np.ones(q)), inducing, 1.0)
    rows = np.asarray(data.rows)  # -1 for rows of padding
    model = dataclasses.replace(model, mean=mean[rows], variance=variance[rows])
    with jax.enable_x64(True), compilation_cache():
        free, data = jax.tree.map(jax.numpy.asarray, (unconstrain(model), data))

        def evaluate(i):
            moved = jax.tree.map(lambda leaf: leaf + 1e-6 * i, free)
            jax.block_until_ready(moved)
            return timed(lambda: jax.block_until_ready(_loss_and_gradient(moved, data)))

        first_call = evaluate(0)
        bound = -float(_loss_and_gradient(free, data)[0])
        times = repeat(evaluate)
    return {"times": times, "first_call": first_call, "bound": bound, "peak_mib": peak_mib()}


@dataclasses.dataclass(frozen=True)
class Step:
    """Time and memory of one step of a library, or the reason why they could not be measured."""

    seconds: float = float("nan")
    peak_mib: float = float("nan")
    bound: float = float("nan")
    versions: dict = dataclasses.field(default_factory=dict)
    reason: str = ""


def measure_peer(peer, size, **how):
    """A step of another library. If it fails, the result holds the reason, and the run goes on."""
    try:
        result = peer.measure(size, cores="0", **how)
    except Unmeasured as error:
        return Step(reason=str(error))
    except RuntimeError as error:
        return Step(reason="failed: " + str(error).strip().splitlines()[-1])
    bound = result.get("bound", float("nan"))
    return Step(statistics.median(result["times"]), result["peak_mib"], bound, result["versions"])


def measure(sizes):
    """A row of figures for each size and share of observed rows."""
    once = {}
    for observed in OBSERVED:
        for size in sizes:
            with tempfile.TemporaryDirectory() as cache:

                def ours(cores, folder, size=size, observed=observed):
                    return run_module("engine", *size, observed, cores=cores, cache=folder)

                gpy = [measure_peer(GPY, size)]
                cold = ours("0", cache)
                limit = run_module("limit", *size, observed, cores="0")
                warm = ours("0", cache)
                gpy.append(gpy[0] if gpy[0].reason else measure_peer(GPY, size))
                both = ours("0,1", Path(cache) / "both")
            if size not in once:
                once[size] = {peer.name: measure_peer(peer, size) for peer in (GPYTORCH, GPFLOW)}
            gpy_seconds = statistics.median(each.seconds for each in gpy)
            goal = GOALS.get(size, ("", ""))[bool(observed)]
            yield {
                "size": size, "observed": observed, "goal": goal, "limit": limit["seconds"],
                "ours": statistics.median(cold["times"] + warm["times"]), "bound": warm["bound"],
                "peers": {"GPy": dataclasses.replace(gpy[0], seconds=gpy_seconds), **once[size]},
                "both": statistics.median(both["times"]), "first": both["first_call"], "second": warm["first_call"],
                "peak": warm["peak_mib"],
            }  # fmt: skip


SPEED = ["n, q, p, m", "rows observed", "semigp", "limit", "semigp / limit", "GPy", "goal", "GPyTorch", "GPflow"]
REST = [
    "n, q, p, m", "rows observed", "first call, s", "in a second process, s", "gain from both cores",
    "peak MiB: semigp", "GPy", "GPyTorch", "GPflow",
]  # fmt: skip


def _name(row):
    return [", ".join(map(str, row["size"])), f"{row['observed']:.0%}"]


def speed_line(row):
    """A line of the table of times in milliseconds and ratios."""
    ours = row["ours"]

    def cell(step):
        return "-" if step.reason else f"{1e3 * step.seconds:.1f} (**{step.seconds / ours:.1f}**)"

    peers = row["peers"]
    return [
        *_name(row), f"{1e3 * ours:.2f}", f"{1e3 * row['limit']:.2f}", f"**{ours / row['limit']:.1f}**",
        cell(peers["GPy"]), str(row["goal"]), cell(peers["GPyTorch"]), cell(peers["GPflow"]),
    ]  # fmt: skip


def rest_line(row):
    """A line of the table of compilation, cores and memory."""
    peaks = ["-" if step.reason else f"{step.peak_mib:.0f}" for step in row["peers"].values()]
    return [
        *_name(row), f"{row['first']:.1f}", f"{row['second']:.1f}", f"{row['ours'] / row['both']:.2f}",
        f"{row['peak']:.0f}", *peaks,
    ]  # fmt: skip


def agreement(rows):
    """The largest relative difference of the bounds of GPy and GPflow from ours, with all rows uncertain."""
    bounds = [(step.bound, row["bound"]) for row in rows if not row["observed"] for step in row["peers"].values()]
    gaps = [abs(theirs - ours) / abs(ours) for theirs, ours in bounds if np.isfinite(theirs)]
    return f" (it agrees to {max(gaps):.0e} in all of these problems; their jitters differ)." if gaps else "."


def reasons(rows):
    """The reasons for gaps in the table, each one once."""
    gaps = {}
    for row in rows:
        for name, step in row["peers"].items():
            if step.reason:
                gaps.setdefault(f"- No {name}: {step.reason}", set()).add(str(row["size"]))
    return [f"{reason}, at {', '.join(sorted(sizes))}." for reason, sizes in gaps.items()]


def report(rows):
    """The whole page in Markdown."""
    versions = {}
    for row in rows:
        for step in row["peers"].values():
            versions |= step.versions
    title = f"# {__doc__.splitlines()[0]}"
    notes = "\n".join([NOTES + agreement(rows), *reasons(rows)])
    speed, rest = table(SPEED, [speed_line(row) for row in rows]), table(REST, [rest_line(row) for row in rows])
    memory = "Memory is the peak of the process, including libraries. The first call is on both cores."
    return "\n\n".join([title, origin("engine", versions), notes, speed, memory, rest]) + "\n"


def main(folder: Path) -> None:
    print(f"{NOTES}.\n\n{table(SPEED, [])}", flush=True)
    rows = []
    for row in measure(SIZES):
        rows.append(row)
        print("| " + " | ".join(speed_line(row)) + " |", flush=True)
        (folder / TABLE).write_text(report(rows), "utf-8")
    print("\n" + table(REST, [rest_line(row) for row in rows]))


if __name__ == "__main__":
    *size, observed = sys.argv[1:]
    print(json.dumps(time_semigp(*map(int, size), float(observed))))
