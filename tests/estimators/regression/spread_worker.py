"""One process of a fit over devices or processes, or one that will be killed. Its only argument is JSON:

devices, process, count, port, checkpoint, pause (seconds after every iteration), options (of the regressor), out (a
file for what was found).
"""

import json
import os
import sys
import time
from pathlib import Path

told = json.loads(sys.argv[1])
os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={told.get('devices', 1)}"
)

import jax  # noqa: E402  # the number of devices must be known before
import numpy as np  # noqa: E402

import semigp  # noqa: E402
from semigp.estimators.regression import checkpoint  # noqa: E402

# Where the rows of one process end and those of the next begin. Holes are in the first forty rows.
CUTS = {2: (0, 60, 90), 4: (0, 15, 45, 60, 90)}
checkpoint.EVERY_SECONDS = 0.0
clear = checkpoint.Checkpoint.clear


def clear_aloud(kept):
    """A fit that has ended removes its files, which whoever kills it must know."""
    print("clearing", flush=True)
    clear(kept)


checkpoint.Checkpoint.clear = clear_aloud


def make_problem():
    """Two outputs of three inputs, holes in all of them; the first two inputs tell about each other."""
    random = np.random.default_rng(0)
    truth = random.normal(size=(90, 3))
    truth[:, 1] = 0.5 * truth[:, 0] ** 2 + 0.3 * truth[:, 1]
    y = np.column_stack([np.sin(2 * truth[:, 0]) + truth[:, 1], truth[:, 2] * truth[:, 0]])
    y += 0.2 * random.normal(size=y.shape)
    X = truth.copy()
    X[:40][random.random((40, 3)) < 0.3] = np.nan
    y[5:9, 1] = np.nan
    return X, y, truth


def main():
    X, y, truth = make_problem()
    mesh, rows = None, slice(None)
    if "port" in told:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{told['port']}", told["count"], told["process"])
        rows = slice(*CUTS[told["count"]][told["process"] :][:2])
    if "port" in told or told.get("devices"):
        mesh = semigp.row_mesh()
    folder = told.get("checkpoint")
    model = semigp.SemiDescribedGPRegressor(
        12, random_state=0, mesh=mesh, checkpoint=folder, callback=lambda _: time.sleep(told.get("pause", 0)),
        **told["options"],
    )  # fmt: skip
    print("fitting", flush=True)
    model.fit(X[rows], y[rows])
    mean, std = model.predict(truth[:5], return_std=True)
    found = {
        "bound": model.bound_, "iterations": model.n_iter_, "form": model.posterior_, "devices": len(jax.devices()),
        "mean": mean.tolist(), "std": std.tolist(), "trace": model.fit_report_.trace.tolist(),
        "imputed": np.asarray(model.impute()).tolist(), "relevance": model.relevance_.tolist(),
    }  # fmt: skip
    model.save(Path(told["out"]).with_suffix(f".{told.get('process', 0)}.semigp"))
    Path(told["out"]).write_text(json.dumps(found))


main()
