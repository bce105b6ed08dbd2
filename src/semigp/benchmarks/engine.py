"""One bound with its full gradient, beside GPy's BayesianGPLVM: `semigp bench engine`.

Every measurement is a process of its own, pinned to one core, on the same problem: the median of at least five
evaluations at slightly different parameters, after a warm-up. The two libraries take turns, so that a slow spell of
the machine hits both. GPy has no notion of an observed row, so that its time is the same in both halves of the table.
"""

import dataclasses
import importlib.util
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

SIZES = [
    (100, 15, 5, 40),
    (130, 39, 20, 60),
    (1000, 5, 12, 50),
    (1200, 10, 256, 60),
    (5000, 5, 12, 100),
    (20000, 5, 12, 100),
]
GOALS = [5, 5, 8, 8, 12, 15]  # times GPy's speed with all rows uncertain; twice that with 70 % observed
TABLE = "engine.md"
HAS_GPY = importlib.util.find_spec("GPy") is not None


def make_problem(n, q, p, m):
    random = np.random.default_rng(0)
    y, mean = random.normal(size=(n, p)), random.normal(size=(n, q))
    return y, mean, random.uniform(0.1, 1.0, (n, q)), random.normal(size=(m, q))


def repeat(evaluate, seconds=4.0, at_least=5, at_most=60):
    """Seconds of each evaluation, which says itself how long it took, after a warm-up of two."""
    times = []
    for i in range(at_most + 2):
        times.append(evaluate(i))
        if len(times) >= at_least + 2 and sum(times[2:]) > seconds:
            break
    return times[2:]


def time_gpy(n, q, p, m, observed):
    import GPy

    y, mean, variance, inducing = make_problem(n, q, p, m)
    kernel = GPy.kern.RBF(q, ARD=True, lengthscale=np.sqrt(q) * np.ones(q))
    model = GPy.models.BayesianGPLVM(y, q, X=mean, X_variance=variance, Z=inducing, kernel=kernel)
    start = model.optimizer_array.copy()

    def evaluate(i):
        moved = start + 1e-6 * i
        began = time.perf_counter()
        model._objective_grads(moved)
        return time.perf_counter() - began

    return {"times": repeat(evaluate)}


def time_semigp(n, q, p, m, observed):
    import jax

    from semigp.compilation import compilation_cache
    from semigp.core import RBF
    from semigp.core.model import describe, start
    from semigp.core.optimise import _loss_and_gradient, unconstrain

    y, mean, variance, inducing = make_problem(n, q, p, m)
    inputs = mean.copy()
    inputs[round(observed * n) :] = np.nan
    data = describe(inputs, y)
    model = start(data, RBF(1.0, np.sqrt(q) * np.ones(q)), inducing, 1.0)
    rows = np.asarray(data.rows)  # -1 for rows that only fill up
    model = dataclasses.replace(model, mean=mean[rows], variance=variance[rows])
    with jax.enable_x64(True), compilation_cache():
        free, data = jax.tree.map(jax.numpy.asarray, (unconstrain(model), data))

        def evaluate(i):
            moved = jax.tree.map(lambda leaf: leaf + 1e-6 * i, free)
            jax.block_until_ready(moved)
            began = time.perf_counter()
            jax.block_until_ready(_loss_and_gradient(moved, data))
            return time.perf_counter() - began

        first_call = evaluate(0)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        times = repeat(evaluate)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"times": times, "first_call": first_call, "peak_mib": max(before, peak) / 1024}


def in_own_process(name, size, observed, cores, cache):
    """Run one measurement pinned to `cores`, and read what it prints."""
    threads = str(len(cores.split(",")))
    environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "SEMIGP_CACHE": str(cache)}
    pinned = ["taskset", "-c", cores] if shutil.which("taskset") else []
    command = [*pinned, sys.executable, "-W", "ignore", "-m", "semigp.benchmarks.engine", name]
    command += [*map(str, size), str(observed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} {size} failed:\n{done.stderr}")
    result = json.loads(done.stdout.splitlines()[-1])
    return result | {"median": statistics.median(result["times"])}


def measure(sizes):
    """A row of figures for each size and share of observed rows."""
    for observed in (0.0, 0.7):
        for size, goal in zip(SIZES, GOALS, strict=True):
            if size not in sizes:
                continue
            with tempfile.TemporaryDirectory() as cache:
                gpy = [in_own_process("gpy", size, observed, "0", cache)] if HAS_GPY else []
                cold = in_own_process("semigp", size, observed, "0", cache)
                warm = in_own_process("semigp", size, observed, "0", cache)
                gpy += [in_own_process("gpy", size, observed, "0", cache)] if HAS_GPY else []
                both_cold = in_own_process("semigp", size, observed, "0,1", Path(cache) / "both")
            gpy_median = statistics.median(t for each in gpy for t in each["times"]) if gpy else float("nan")
            ours = statistics.median(cold["times"] + warm["times"])
            yield {
                "size": size, "observed": observed, "gpy": gpy_median, "ours": ours, "ratio": gpy_median / ours,
                "goal": goal * (2 if observed else 1), "both": ours / both_cold["median"],
                "first": both_cold["first_call"], "second": warm["first_call"], "peak": warm["peak_mib"],
            }  # fmt: skip


HEADER = (
    "| n, q, p, m | rows observed | GPy, ms | semigp, ms | times as fast | goal | gain from both cores "
    "| first call, s | in a second process, s | peak memory, MiB |\n|---|---|---|---|---|---|---|---|---|---|"
)


def line(row):
    size = ", ".join(map(str, row["size"]))
    return (
        f"| {size} | {row['observed']:.0%} | {row['gpy'] * 1e3:.1f} | {row['ours'] * 1e3:.2f} | {row['ratio']:.1f} "
        f"| {row['goal']} | {row['both']:.2f} | {row['first']:.1f} | {row['second']:.1f} | {row['peak']:.0f} |"
    )


def main(folder: Path) -> None:
    packages = ("semigp", "jax", "numpy", *(["GPy"] if HAS_GPY else []))
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    print(f"One bound + gradient, float64, one core each. {versions}; {platform.processor() or platform.machine()}\n")
    print(HEADER, flush=True)
    lines = []
    for row in measure(SIZES):
        lines.append(line(row))
        print(lines[-1], flush=True)
    when, where = time.strftime("%Y-%m-%d"), f"{os.cpu_count()} cores, {platform.platform()}"
    note = f"`semigp bench engine` on {when}: {versions}; {where}."
    (folder / TABLE).write_text("\n".join([f"# {__doc__.splitlines()[0]}", "", note, "", HEADER, *lines, ""]), "utf-8")


if __name__ == "__main__":
    name, *size, observed = sys.argv[1:]
    run = {"gpy": time_gpy, "semigp": time_semigp}[name]
    print(json.dumps(run(*map(int, size), float(observed))))
