"""One process of a run over several devices or processes: fits a small problem and prints what it found.

Called as: spread_worker.py DEVICES [PROCESS OF_PROCESSES PORT].
"""

import copy
import json
import os
import sys

devices, *rest = sys.argv[1:]
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"

import jax  # noqa: E402  # the number of devices must be known before
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from semigp.core import RBF, InputBelief  # noqa: E402
from semigp.core.devices.lbfgs import fit_spread  # noqa: E402
from semigp.core.devices.row_mesh import row_mesh, spread, spread_objective, spread_posterior, take_back  # noqa: E402
from semigp.core.search.stages import Stage  # noqa: E402
from semigp.core.sparse.fit import SIGNAL_AND_NOISE, constrain, unconstrain  # noqa: E402
from semigp.core.sparse.model import make_data, objective, start  # noqa: E402
from semigp.runtime import computing  # noqa: E402

STAGES = (Stage("held", 5, SIGNAL_AND_NOISE), Stage("all", 10))


def make_problem(process=None):
    """93 rows, holes in inputs and outputs; neither kind of rows is a multiple of the number of devices.

    Of two processes the first has the incomplete rows only, the second the complete ones: numbers of rows, kinds of
    rows and patterns of missing outputs differ.
    """
    random = np.random.default_rng(0)
    truth = random.normal(size=(93, 3))
    y = np.column_stack([np.sin(2 * truth[:, 0]) + truth[:, 1], truth[:, 2] * truth[:, 0]])
    y += 0.05 * random.normal(size=y.shape)
    X = truth.copy()
    X[:41][random.random((41, 3)) < 0.3] = np.nan
    y[5:9, 1] = np.nan
    rows = np.arange(93) if process is None else np.flatnonzero(np.isnan(X).any(axis=1) == (process == 0))
    data = make_data(X[rows], y[rows])
    return start(data, RBF(1.0, np.ones(3)), truth[::6], np.full(2, 0.1), np.ones(2)), data, truth


class Kept:
    """Every state of a search."""

    def __init__(self, state=None):
        self.states, self.state = [], state

    def load(self):
        return self.state

    def is_due(self):
        return True

    def store(self, state, is_finished):
        self.states.append(copy.deepcopy(state))


def is_resumed_exactly(model, data, mesh, kept):
    """Whether searches that are taken up in either stage end with the same digits."""
    ends = []
    for state in (kept.states[2], kept.states[9]):
        again = Kept(copy.deepcopy(state))
        fit_spread(model, data, mesh, STAGES, keeper=again)
        ends.append(again.states[-1])
    last = kept.states[-1]
    return all(
        end["results"] == last["results"]
        and np.array_equal(end["trace"], last["trace"])
        and all(np.array_equal(a, b) for a, b in zip(end["free"], last["free"], strict=True))
        for end in ends
    )


def main():
    process = None
    if rest:
        process, count, port = map(int, rest)
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{port}", count, process)
    model, data, truth = make_problem(process)
    mesh = row_mesh()
    with jax.enable_x64(True):
        free, known = spread(unconstrain(model), data, mesh)
        bound = spread_objective(mesh, free, known)
        value, gradient = jax.jit(jax.value_and_grad(lambda f, d: bound(constrain(f), d)))(free, known)
        norms = [float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(gradient)]
    kept = Kept()
    fitted, on_devices, report = fit_spread(model, data, mesh, STAGES, keeper=kept)
    q_u = spread_posterior(mesh, fitted, on_devices)
    mean, _ = q_u.predict(InputBelief.observed(truth[:3]))
    own = take_back(fitted, len(data.values))
    told = {
        "devices": len(jax.devices()), "bound": float(value), "norms": norms, "fit": report.bound,
        "own_rows": np.asarray(own.mean)[np.asarray(data.rows) >= 0].tolist(),
        "resumed": is_resumed_exactly(model, data, mesh, kept),
    }  # fmt: skip
    if not rest:
        alone = jax.jit(jax.value_and_grad(lambda f, d: objective(constrain(f), d)))
        with jax.enable_x64(True):
            value, gradient = alone(*jax.tree.map(jnp.asarray, (unconstrain(model), data)))
            told["alone"] = {"bound": float(value), "norms": [float(jnp.sum(g**2)) for g in jax.tree.leaves(gradient)]}
        told["rows"] = str(fitted.mean.sharding.spec)
    print(json.dumps(told | {"mean": np.asarray(mean).tolist(), "iterations": len(report.trace)}))


with computing():
    main()
