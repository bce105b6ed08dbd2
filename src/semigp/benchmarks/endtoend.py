"""Whole fits, from one start to one bound: `semigp bench endtoend`.

Bayesian GP-LVMs of problems of the paper's size. semigp and GPy read the same start from one file: principal components
of unit variance, q(x) of variance 0.1, inducing inputs at cluster centres, lengthscales √q, noise variance 0.05. They
maximise the same bound, without hyperpriors and with the same jitter; the benchmark checks that they agree on it at the
start and where GPy ends.

GPy runs until its optimiser ends, or for 5000 evaluations. The result is the time at which semigp first exceeds the
bound of GPy, with all parameters free from the beginning, as in GPy. If the optimiser of semigp ends below that bound,
semigp starts again until it exceeds the bound or has used as much time as GPy: with noise and signal held fixed for 50
iterations, as in our estimators, and then with other inducing inputs.

Each fit runs in its own process: semigp on all cores, and GPy with one BLAS thread, which is more than three times as
fast as two. Imports are measured separately. Compilation is included: a first process compiles everything, a second one
loads the compiled code.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .measuring import GPY, Unmeasured, origin, run, run_module, table
from .peers.common import peak_mib

TABLE = "end-to-end.md"
MODULE = "semigp.benchmarks.endtoend"
JITTER = 1e-6  # relative to the kernel's variance
MOST_EVALUATIONS = 5000  # by GPy; semigp stops when it has used as much time as GPy
MANY = 100_000
TOLERANCE = 1e7 * np.finfo(float).eps  # relative gain per iteration: the default of SciPy, which GPy uses
STARTS = 2  # starts differ in the inducing inputs
AGREE = 1e-6  # largest relative difference of the bounds at the start
OTHER_STARTS = 1000  # seeds of further starts are larger than this
MOST_OF_IT = 0.99  # share of the rise of GPy's bound; the rest is the slow end of its convergence


def load_digits() -> np.ndarray:
    """Digits 0, 2, 4, 6 of scikit-learn: grey values divided by 16, centred, divided by their standard deviation."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    rows = images[np.isin(labels, [0, 2, 4, 6])] / 16.0
    rows = rows - rows.mean(axis=0)
    return rows / rows.std()


def _standardised(rows: np.ndarray) -> np.ndarray:
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def load_mocap() -> np.ndarray:
    from semigp.datasets import load_mocap

    return _standardised(load_mocap()[0][:330])


def load_simulated() -> np.ndarray:
    from semigp.datasets import make_semi_described

    return _standardised(np.column_stack(make_semi_described(random_state=0)))


def load_oil() -> np.ndarray:
    from semigp.datasets import load_oil

    return _standardised(load_oil()[0])


@dataclass(frozen=True)
class Problem:
    """Rows to embed, and the size of the model."""

    load: Callable[[], np.ndarray]
    n_latent: int
    n_inducing: int


PROBLEMS = {
    "digits": Problem(load_digits, 10, 50),
    "mocap": Problem(load_mocap, 10, 35),
    "oil": Problem(load_oil, 8, 25),
    "simulated": Problem(load_simulated, 5, 30),
}


def write_start(problem: Problem, path: Path, seed: int) -> tuple[int, ...]:
    """Write the rows and the start of q(x) and of the inducing inputs to a file, and return the shape of the rows."""
    from semigp.estimators.common.starts import centres, principal_components

    rows = problem.load()
    mean = principal_components(rows, problem.n_latent)
    np.savez(path, rows=rows, mean=mean, inducing=centres(mean, problem.n_inducing, seed))
    return rows.shape


class Trace:
    """The best bound so far, and when it was reached."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.times: list[float] = []
        self.bounds: list[float] = []

    def add(self, bound: float) -> None:
        self.times.append(time.perf_counter() - self.began)
        self.bounds.append(max(bound, self.bounds[-1]) if self.bounds else bound)

    def reached(self, target: float) -> float:
        """Seconds to the target; NaN if it was not reached."""
        return next((t for t, bound in zip(self.times, self.bounds, strict=True) if bound >= target), float("nan"))


def fit_gpy(path: str) -> dict:
    began = time.perf_counter()
    import GPy
    from GPy.inference.latent_function_inference import VarDTC

    imported = time.perf_counter() - began

    class RBF(GPy.kern.RBF):
        """K_uu + jitter · variance · I, as in semigp. The gradients stay right: GPy computes dL/dvariance from K."""

        def K(self, X, X2=None):
            return super().K(X, X2) + (JITTER * float(self.variance[0]) * np.eye(len(X)) if X2 is None else 0.0)

    VarDTC.const_jitter = 0.0  # GPy's own jitter would not grow with the variance
    start = np.load(path)
    rows, mean, inducing = start["rows"], start["mean"], start["inducing"]
    q = mean.shape[1]
    trace = Trace()
    model = GPy.models.BayesianGPLVM(
        rows, q, X=mean, X_variance=np.full(mean.shape, 0.1), Z=inducing,
        kernel=RBF(q, ARD=True, lengthscale=np.sqrt(q) * np.ones(q)),
        likelihood=GPy.likelihoods.Gaussian(variance=0.05),
    )  # fmt: skip
    evaluate = model._objective_grads

    def watched(parameters):
        loss, gradient = evaluate(parameters)
        trace.add(-float(np.squeeze(loss)))
        return loss, gradient

    trace.add(float(np.squeeze(model.log_likelihood())))
    model._objective_grads = watched
    model.optimize(max_iters=MOST_EVALUATIONS)
    seconds, final = time.perf_counter() - trace.began, float(np.squeeze(model.log_likelihood()))
    np.savez(
        Path(path).with_name("end.npz"), mean=model.X.mean.values, variance=model.X.variance.values,
        inducing=model.Z.values, lengthscale=model.kern.lengthscale.values, signal=model.kern.variance.values,
        noise=model.likelihood.variance.values,
    )  # fmt: skip
    most = trace.bounds[0] + MOST_OF_IT * (final - trace.bounds[0])
    return {
        "import": imported, "seconds": seconds, "start": trace.bounds[0], "bound": final, "most": most,
        "to most": trace.reached(most), "evaluations": len(trace.times) - 1,
        "status": model.optimization_runs[-1].status, "peak_mib": peak_mib(), "version": GPy.__version__,
    }  # fmt: skip


def fit_semigp(path: str, target: float, most: float, limit: float) -> dict:
    began = time.perf_counter()
    import jax

    from semigp.core.search.stages import Stage
    from semigp.core.sparse.defaults import idle_parameters
    from semigp.core.sparse.fit import SIGNAL_AND_NOISE, _loss_and_gradient, fit, unconstrain
    from semigp.estimators.common.starts import centres
    from semigp.runtime import computing

    imported = time.perf_counter() - began
    arrays, trace = np.load(path), Trace()
    rows, mean, inducing = arrays["rows"], arrays["mean"], arrays["inducing"]
    n_starts = 1

    def watch(progress):
        trace.add(progress.bound)
        return trace.times[-1] > limit or (n_starts > 1 and progress.bound >= target)

    idle = idle_parameters(linear=False)
    at_once = Stage("all", MANY, idle)
    held = Stage("held signal-to-noise", 50, (*SIGNAL_AND_NOISE, *idle))
    model, data = make_model(rows, mean, 0.1, inducing)
    with computing():
        _, report = fit(model, data, [at_once], TOLERANCE, watch)
        seconds = time.perf_counter() - trace.began
        while trace.bounds[-1] < target and trace.times[-1] < limit:
            n_starts += 1
            if n_starts % 2:
                inducing = centres(mean, len(inducing), OTHER_STARTS + n_starts)
            stages = [at_once] if n_starts % 2 else [held, at_once]
            fit(make_model(rows, mean, 0.1, inducing)[0], data, stages, TOLERANCE, watch)
        end = np.load(Path(path).with_name("end.npz"))
        signal, noise = np.squeeze(end["signal"]), np.squeeze(end["noise"])
        model_of_gpy = make_model(
            rows, end["mean"], end["variance"], end["inducing"], end["lengthscale"], signal, noise
        )
        with jax.enable_x64(True):
            both = (model, data), model_of_gpy
            at_start, at_end = (-float(_loss_and_gradient(unconstrain(m), d)[0]) for m, d in both)
    return {
        "import": imported, "seconds": seconds, "bound": report.bound, "to bound": trace.reached(target),
        "to most": trace.reached(most), "evaluations": report.evaluations, "status": report.status,
        "start": at_start, "where GPy ends": at_end, "peak_mib": peak_mib(), "starts": n_starts,
    }  # fmt: skip


def make_model(rows, mean, variance, inducing, lengthscale=None, signal_variance=1.0, noise_variance=0.05):
    """The model and the data of a GP-LVM without hyperpriors."""
    from semigp.core import RBF
    from semigp.core.sparse.model import make_data, start

    q = mean.shape[1]
    data = make_data(np.full(mean.shape, np.nan), rows, jitter=JITTER)
    kernel = RBF(1.0, np.full(q, np.sqrt(q)) if lengthscale is None else lengthscale)
    model = start(data, kernel, inducing, noise_variance, np.sqrt(signal_variance))
    filled = np.asarray(data.rows)  # -1 for rows of padding, which have weight 0
    return replace(model, mean=mean[filled], variance=np.broadcast_to(variance, mean.shape)[filled]), data


def race(problem: Problem, seed: int) -> dict:
    """Fits of both libraries from one start; semigp in a process that compiles, and in one that does not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "start.npz"
        shape = write_start(problem, path, seed)
        gpy = run([GPY.python(), "-W", "ignore", "-m", MODULE, "gpy", str(path)], blas_threads=1, seconds=3600.0)
        goals = gpy["bound"], gpy["most"], gpy["seconds"]

        def ours():
            return run_module("endtoend", "semigp", path, *goals, cache=Path(folder) / "cache")

        fits = {"cold": ours(), "warm": ours()}
    gap = abs(fits["cold"]["start"] / gpy["start"] - 1.0)
    if not gap < AGREE:
        raise RuntimeError(
            f"semigp and GPy start from different bounds, {fits['cold']['start']} and {gpy['start']}, so their times "
            "cannot be compared."
        )
    at_end = abs(fits["cold"]["where GPy ends"] / gpy["bound"] - 1.0)
    return {"shape": shape, "gpy": gpy, "gap": gap, "gap at end": at_end, **fits}


HEADER = [
    "problem", "start", "GPy, s", "semigp, first process", "times as fast", "later process", "times as fast",
    f"to {MOST_OF_IT:.0%}: GPy", "semigp", "final bound: GPy", "semigp",
]  # fmt: skip


def line(name, seed, row):
    gpy, cold, warm = (row[key] for key in ("gpy", "cold", "warm"))

    def seconds(value, starts=1):
        return f"{value:.1f}{'' if starts == 1 else f' ({starts} starts)'}" if np.isfinite(value) else "not reached"

    def ratio(value):
        return f"**{gpy['seconds'] / value:.1f}**" if np.isfinite(value) else ""

    return [
        name, str(seed), seconds(gpy["seconds"]), seconds(cold["to bound"], cold["starts"]), ratio(cold["to bound"]),
        seconds(warm["to bound"], warm["starts"]), ratio(warm["to bound"]), seconds(gpy["to most"]),
        seconds(warm["to most"]), f"{gpy['bound']:.0f}", f"{warm['bound']:.0f}",
    ]  # fmt: skip


DETAILS = [
    "problem", "start", "rows × outputs, latent inputs, inducing points", "GPy: evaluations", "ms each",
    "semigp: evaluations", "ms each", "ended", "import, s: GPy", "semigp", "peak MiB: GPy", "semigp",
    "bounds differ by, at the start", "where GPy ends",
]  # fmt: skip


def detail(name, seed, row):
    gpy, warm, problem = row["gpy"], row["warm"], PROBLEMS[name]

    def each(fit):
        return f"{1e3 * fit['seconds'] / fit['evaluations']:.1f}"

    return [
        name, str(seed), f"{row['shape'][0]} × {row['shape'][1]}, {problem.n_latent}, {problem.n_inducing}",
        str(gpy["evaluations"]), each(gpy), str(warm["evaluations"]), each(warm), warm["status"],
        f"{gpy['import']:.1f}", f"{warm['import']:.1f}", f"{gpy['peak_mib']:.0f}", f"{warm['peak_mib']:.0f}",
        f"{row['gap']:.0e}", f"{row['gap at end']:.0e}",
    ]  # fmt: skip


NOTES = f"""\
Bayesian GP-LVMs, semigp and GPy from the same start with the same bound. Seconds to the bound at which GPy's optimiser
ends, with compilation but without imports. *First process*: nothing is compiled yet; *later process*: compiled code is
loaded. The bound has many optima. If semigp ends in a lower one than GPy, it uses the rest of GPy's time for further
starts, with noise and signal held fixed at first or with other inducing inputs; the number of starts is in brackets,
and their time is included. Final bounds are those of the first start. *To {MOST_OF_IT:.0%}*: seconds to this share of
the rise of GPy's bound; the rest is the slow end of its convergence. GPy ends by itself or after {MOST_EVALUATIONS}
evaluations. Starts differ in the inducing inputs."""


def report(rows, missing):
    """The whole page in Markdown."""
    versions = {"GPy": next(row["gpy"]["version"] for *_, row in rows)} if rows else {}
    first, second = table(HEADER, [line(*row) for row in rows]), table(DETAILS, [detail(*row) for row in rows])
    parts = [f"# {__doc__.splitlines()[0]}", origin("endtoend", versions), NOTES, first, second, *missing]
    return "\n\n".join(parts) + "\n"


def main(folder: Path) -> None:
    try:
        GPY.python()
    except Unmeasured as error:
        raise ValueError(f"This benchmark compares with bounds of GPy, which is {error}.") from None
    print(f"{NOTES}\n\n{table(HEADER, [])}", flush=True)
    rows, missing = [], []
    for name, problem in PROBLEMS.items():
        try:
            problem.load()
        except (ImportError, OSError) as error:
            missing.append(f"No {name}: {error}")
            print(missing[-1])
            continue
        for seed in range(STARTS):
            rows.append((name, seed, race(problem, seed)))
            print("| " + " | ".join(line(*rows[-1])) + " |", flush=True)
            (folder / TABLE).write_text(report(rows, missing), "utf-8")
    print("\n" + table(DETAILS, [detail(*row) for row in rows]))


if __name__ == "__main__":
    which, path, *arguments = sys.argv[1:]
    if which == "gpy":
        print(json.dumps(fit_gpy(path)))
    else:
        print(json.dumps(fit_semigp(path, *map(float, arguments))))
