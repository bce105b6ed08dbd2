"""One bound with its full gradient on a GPU: `semigp bench gpu`.

Every measurement runs in its own process, in float64, with all inputs uncertain. It is the median of ten evaluations at
slightly different parameters, after a warm-up, from the call until the result is available. "Plain" means the same
formulas compiled by XLA without our GPU kernel. The speed of the card in products and copies is measured as well.
"""

import dataclasses
import json
import statistics
import sys
from pathlib import Path

import numpy as np

from .measuring import Unmeasured, origin, run_module, table
from .peers.common import make_problem, timed

SIZES = [
    (10_000, 10, 5, 100),
    (100_000, 10, 5, 100),
    (1_000_000, 10, 5, 100),
    (1_000_000, 5, 5, 100),
    (1_000_000, 20, 5, 100),
    (100_000, 10, 5, 300),
]
TABLE = "gpu.md"
HEADER = ["n, q, p, m", "plain XLA, ms", "semigp, ms", "times as fast", "first call, s", "peak MiB: plain", "semigp"]
HEADER += ["bounds differ by", "gradients differ by"]


def median_ms(evaluate):
    """The median time in milliseconds of ten calls of `evaluate(i)`, with the number i of the call."""
    times = [timed(lambda i=i: evaluate(i)) for i in range(12)]
    return 1e3 * statistics.median(times[2:])


def measure(way, n, q, p, m):
    """Time, memory, the bound and the norms of its gradient."""
    import jax

    from semigp.core import RBF
    from semigp.core.kernels import fused
    from semigp.core.sparse.fit import _loss_and_gradient, unconstrain
    from semigp.core.sparse.model import make_data, start

    if way == "plain":
        fused.is_available = lambda: False
    y, mean, variance, inducing = make_problem(n, q, p, m)
    data = make_data(np.full((n, q), np.nan), y)
    model = start(data, RBF(1.0, np.sqrt(q) * np.ones(q)), inducing, 1.0)
    rows = np.asarray(data.rows)
    model = dataclasses.replace(model, mean=mean[rows], variance=variance[rows])
    with jax.enable_x64(True):
        free, data = jax.tree.map(jax.numpy.asarray, (unconstrain(model), data))
        moved = [jax.tree.map(lambda leaf, i=i: leaf + 1e-6 * i, free) for i in range(3)]

        def evaluate(i):
            jax.block_until_ready(_loss_and_gradient(moved[i % 3], data))

        first = timed(lambda: evaluate(0))
        loss, gradient = _loss_and_gradient(free, data)
        norms = [float(np.linalg.norm(leaf)) for leaf in jax.tree.leaves(gradient)]
        peak = jax.devices()[0].memory_stats()["peak_bytes_in_use"] / 2**20
        return {"ms": median_ms(evaluate), "first": first, "bound": -float(loss), "norms": norms, "peak": peak}


def measure_rates():
    """The speed of the card in double-precision matrix products and in copies; empty without a GPU."""
    import jax
    import jax.numpy as jnp

    if jax.default_backend() != "gpu":
        return {}
    with jax.enable_x64(True):
        square, line = jax.random.normal(jax.random.key(0), (8192, 8192), jnp.float64), jnp.ones(2**29)
        multiply, copy = jax.jit(lambda a: a @ a), jax.jit(lambda a: a + 1.0)
        product = median_ms(lambda i: jax.block_until_ready(multiply(square)))
        moved = median_ms(lambda i: jax.block_until_ready(copy(line)))
    return {
        "card": jax.devices()[0].device_kind,
        "teraflops": 2 * 8192**3 / product / 1e9,
        "terabytes": 2 * line.nbytes / moved / 1e9,
    }


def line(size, plain, ours):
    differ = abs(plain["bound"] - ours["bound"]) / abs(plain["bound"])
    gradients = max(abs(a - b) / b for a, b in zip(ours["norms"], plain["norms"], strict=True))
    return [
        ", ".join(f"{number:,}" for number in size), f"{plain['ms']:.1f}", f"{ours['ms']:.1f}",
        f"**{plain['ms'] / ours['ms']:.1f}**", f"{ours['first']:.1f}", f"{plain['peak']:.0f}", f"{ours['peak']:.0f}",
        f"{differ:.0e}", f"{gradients:.0e}",
    ]  # fmt: skip


def main(folder: Path) -> None:
    rates = run_module("gpu", "rates")  # in its own process, because a process that has used the card keeps its memory
    if not rates:
        raise Unmeasured("There is no GPU here that JAX can use.")
    note = (
        f"{rates['card']}: {rates['teraflops']:.0f} TFLOP/s in double-precision matrix products and "
        f"{rates['terabytes']:.1f} TB/s in copies (bytes read plus written), as measured here."
    )
    rows = []
    for size in SIZES:
        plain, ours = (run_module("gpu", way, *size) for way in ("plain", "fused"))
        rows.append(line(size, plain, ours))
        print(" | ".join(rows[-1]), flush=True)
    parts = [f"# {__doc__.splitlines()[0]}", origin("gpu"), note, table(HEADER, rows)]
    (folder / TABLE).write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    what, *size = sys.argv[1:]
    print(json.dumps(measure_rates() if what == "rates" else measure(what, *map(int, size))))
