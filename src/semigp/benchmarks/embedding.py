"""Bayesian GP-LVMs of images: `semigp bench embedding`.

Each fit runs in its own process: semigp on all cores, and GPy with one BLAS thread, which is more than three times as
fast here as two threads.

Digits 0, 2, 4, 6 of scikit-learn (717 × 64, 10 latent inputs, 50 inducing points), with grey values divided by 16,
centred, and divided by their standard deviation. GPy runs 300 iterations from its own start; we measure how long semigp
takes to reach the bound at which GPy ends, with 1000 iterations at most. (The bound of semigp includes its hyperpriors,
so it has to rise a little higher.) USPS: 2000 × 256, 10 latent inputs, 60 inducing points, fitted with default
settings; then new rows are embedded, with and without back constraints.
"""

import importlib.util
import json
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from .endtoend import load_digits
from .measuring import origin, run_module

GPY_ITERATIONS, MOST_ITERATIONS = 300, 1000
TABLE = "embedding-speed.md"


def time_gpy() -> dict:
    """Time and bound of GPy from its own start: means by PCA, random variances, inducing points among the rows."""
    import GPy

    np.random.seed(0)  # noqa: NPY002 - GPy uses this generator
    rows = load_digits()
    started = time.perf_counter()
    kernel = GPy.kern.RBF(10, ARD=True)
    model = GPy.models.BayesianGPLVM(rows, 10, num_inducing=50, kernel=kernel)
    model.optimize(max_iters=GPY_ITERATIONS)
    return {"seconds": time.perf_counter() - started, "bound": float(np.squeeze(model.log_likelihood()))}


def time_semigp(target: float) -> dict:
    """Time of semigp until its bound reaches the target, and until it converges, with compilation."""
    from semigp import BayesianGPLVM

    rows, reached = load_digits(), {}
    started = time.perf_counter()

    def callback(progress):
        if progress.bound >= target and not reached:
            reached["to that bound"] = time.perf_counter() - started

    options = {"n_inducing": 50, "scaling": "common", "max_iter": MOST_ITERATIONS, "random_state": 0}
    model = BayesianGPLVM(10, callback=callback, **options).fit(rows)
    return {**reached, "seconds": time.perf_counter() - started, "bound": model.bound_, "n": model.n_iter_}


def time_usps(back_constrained: bool) -> dict:
    from semigp import BayesianGPLVM
    from semigp.datasets import load_usps

    rows, _ = load_usps((0, 2, 4, 6))
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    train, new = rows[:2000], rows[2000:]
    started = time.perf_counter()
    model = BayesianGPLVM(10, n_inducing=60, back_constrained=back_constrained, random_state=0).fit(train)
    fitted = time.perf_counter()
    count = 100_000 if back_constrained else 800
    model.transform(np.resize(new, (count, new.shape[1])))
    return {
        "seconds": fitted - started,
        "bound": model.bound_,
        "rows": count,
        "transform": time.perf_counter() - fitted,
    }


def measure(which: str, *arguments: object, cache: str = "off") -> dict:
    """The result of one measurement in its own process, whose compiled code is kept in the folder `cache`."""
    return run_module("embedding", which, *arguments, cache=cache, blas_threads=1 if which == "gpy" else None)


def _reached(result: dict) -> str:
    """When semigp reached the bound of GPy."""
    return f"{result['to that bound']:.1f}" if "to that bound" in result else "not reached"


def main(folder: Path) -> None:
    if importlib.util.find_spec("GPy") is None:
        raise ValueError("This benchmark compares with the bound of GPy, which is not installed: pip install GPy.")
    gpy = measure("gpy")
    cache = tempfile.mkdtemp()
    cold, warm = (measure("semigp", str(gpy["bound"]), cache=cache) for _ in range(2))
    free, constrained = measure("usps", ""), measure("usps", "back")
    lines = [
        "# Speed of embeddings\n",
        "Seconds, compilation included; in a later process, compiled code is loaded from the cache.\n",
        "| digits, 717 × 64, 10 latent inputs, 50 inducing points | seconds | bound |",
        "|---|---|---|",
        f"| GPy, {GPY_ITERATIONS} iterations | {gpy['seconds']:.1f} | {gpy['bound']:.0f} |",
        f"| semigp, to GPy's bound, first process | {_reached(cold)} | {gpy['bound']:.0f} |",
        f"| semigp, to GPy's bound, later process | {_reached(warm)} | {gpy['bound']:.0f} |",
        f"| semigp, to the end ({warm['n']} iterations), later process | {warm['seconds']:.1f} | {warm['bound']:.0f} |",
        "",
        "| USPS, 2000 × 256, 10 latent inputs, 60 inducing points | fit | bound | new rows | embedded in |",
        "|---|---|---|---|---|",
    ]
    for name, result in (("q(x) free", free), ("back-constrained", constrained)):
        numbers = f"{result['seconds']:.1f} | {result['bound']:.0f} | {result['rows']} | {result['transform']:.1f}"
        lines.append(f"| {name} | {numbers} |")
    lines.append(f"\n{origin('embedding', {'GPy': version('GPy')})}")
    (folder / TABLE).write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    which, *arguments = sys.argv[1:]
    run = {"gpy": time_gpy, "semigp": lambda: time_semigp(float(arguments[0]))}
    print(json.dumps(run[which]() if which in run else time_usps(arguments[0] == "back")))
