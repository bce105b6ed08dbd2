"""One bound with its full gradient for two views, beside GPy's MRD: `semigp bench views`.

Every measurement runs in its own process, pinned to one core, in float64. It is the median of several evaluations at
slightly different parameters, after a warm-up. semigp and GPy take turns, so that a slow phase of the machine affects
both.
"""

import json
import statistics
import sys
from pathlib import Path

import numpy as np

from .measuring import GPY, origin, run_module, table
from .peers.common import make_problem, repeat, timed

# Rows, latent inputs, columns of each of the two views, inducing points.
SIZES = [(200, 8, 10, 25), (500, 8, 20, 50), (2000, 8, 20, 50)]
_TURNS = 2
TABLE = "views.md"


def time_semigp(n: int, q: int, p: int, m: int) -> dict:
    """Seconds of several evaluations."""
    import jax

    from semigp.core import RBF
    from semigp.core.views.fit import loss_and_gradient, unconstrain
    from semigp.core.views.model import View, ViewsModel, make_views_data
    from semigp.runtime import compilation_cache

    y, mean, variance, inducing = make_problem(n, q, p, m)
    data = make_views_data([y, y], q)
    rows = np.asarray(data[0].rows)  # -1 for rows of padding
    view = View(RBF(1.0, np.sqrt(q) * np.ones(q)), inducing, np.array(1.0), np.array(1.0))
    model = ViewsModel((view, view), mean[rows], variance[rows])
    with jax.enable_x64(True), compilation_cache():
        free, known = jax.tree.map(jax.numpy.asarray, (unconstrain(model), data))

        def evaluate(i):
            moved = jax.tree.map(lambda leaf: leaf + 1e-6 * i, free)
            jax.block_until_ready(moved)
            return timed(lambda: jax.block_until_ready(loss_and_gradient(moved, known)))

        return {"times": repeat(evaluate)}


def main(folder: Path) -> None:
    """Measure all sizes, and write the table."""
    lines, versions = [], {}
    for size in SIZES:
        ours, gpy = [], []
        for _ in range(_TURNS):
            ours += run_module("views", *size, cores="0")["times"]
            found = GPY.run("time_gpy_views.py", *size, cores="0")
            gpy, versions = gpy + found["times"], found["versions"]
        seconds = statistics.median(ours), statistics.median(gpy)
        n, q, p, m = size
        lines.append([
            f"{n} rows, 2 × {p} columns, {q} latent inputs, {m} inducing points", f"{1e3 * seconds[0]:.1f}",
            f"{1e3 * seconds[1]:.1f}", f"{seconds[1] / seconds[0]:.1f}",
        ])  # fmt: skip
    text = "# One bound with its gradient: two views\n\nMilliseconds on one core.\n\n"
    text += table(["problem", "semigp", "GPy's MRD", "times as fast"], lines) + f"\n\n{origin('views', versions)}\n"
    (folder / TABLE).write_text(text)
    print(text)


if __name__ == "__main__":
    print(json.dumps(time_semigp(*map(int, sys.argv[1:5]))))
