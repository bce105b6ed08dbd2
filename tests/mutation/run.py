"""Run the tests on every mutant of a file that `tests.mutation.draw` has written.

python -m tests.mutation.run FILE OUT WORKERS SECONDS [FOLDER ...]

First those of the module that was changed, then, if none of them notices, all of tests/core, or of some folders there.
Tests that fail without a mutant, on this machine, do not count. A line of JSON goes to OUT for every mutant, until the
time is over.
"""

import concurrent.futures
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Beside the mirrored file, such as core/sparse/test_bound for sparse/bound.py: where what a module does is tested too.
_KERNELS = ["test_separable", "test_sums", "test_linear", "test_gaussian", "test_fused"]
_ALSO = {
    "chained/": ["core/chained/test_imputation"],
    "devices/": ["core/devices/test_row_mesh", "estimators/regression/test_across_processes"],
    "devices/lbfgs.py": ["estimators/regression/test_checkpoint"],
    "devices/programs.py": ["estimators/regression/test_checkpoint"],
    "exact/gaps.py": ["estimators/forecasting/test_forecaster"],
    "exact/rollout.py": ["estimators/forecasting/test_forecaster"],
    "inputs/joint_gaussian.py": ["core/inputs/test_priors", "estimators/regression/test_regressor"],
    "kernels/": [*(f"core/kernels/{name}" for name in _KERNELS), "core/sparse/test_bound"],
    "class_gp.py": ["core/numerics/test_laplace", "estimators/few_labels/test_classifier"],
    "label_gp.py": ["estimators/few_labels/test_row_graph", "estimators/few_labels/test_classifier"],
    "numerics/chunks.py": ["core/sparse/test_bound", "core/sparse/test_posterior"],
    "numerics/compiler.py": ["core/sparse/test_fit"],
    "rows/": ["core/stream/test_objective", "estimators/latent/test_gplvm", "estimators/streaming/test_regressor"],
    "search/": ["core/sparse/test_fit"],
    "sparse/expected_likelihood.py": ["core/sparse/test_model", "core/stream/test_objective"],
    "sparse/factors.py": ["core/sparse/test_bound", "core/sparse/test_posterior"],
    "sparse/function_draws.py": ["core/sparse/test_posterior", "estimators/regression/test_regressor"],
    "sparse/statistics.py": ["core/sparse/test_bound"],
    "stream/": ["core/stream/test_objective", "estimators/streaming/test_regressor"],
}
_WAIT = 600.0


def own_tests(module):
    """The files of tests of a module such as sparse/bound.py, its mirror first."""
    path = Path("core", module)
    mirror = path.with_name(f"test_{path.stem}").as_posix()
    more = [file for place, files in _ALSO.items() if module == place or module.startswith(place) for file in files]
    return list(dict.fromkeys([mirror, *more]))


class Bench:
    """Copies of the project, one for each worker, and how long each file of tests takes there."""

    def __init__(self, workers, end):
        self.end, self.failing, self.seconds = end, [], {}
        self.folder = Path(tempfile.mkdtemp())
        if (ROOT.parent / "shared").is_dir():
            (self.folder / "shared").symlink_to(ROOT.parent / "shared")
        self.copies = queue.Queue()
        for i in range(workers):
            copy = self.folder / str(i)
            for part in ("src", "tests"):
                shutil.copytree(ROOT / part, copy / part)
            shutil.copy(ROOT / "pyproject.toml", copy)
            self.copies.put(copy)

    def pytest(self, copy, files, wait):
        """Whether the tests pass, and what they say; False if they take too long."""
        paths = [f"tests/{file}.py" for file in files]
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *paths]
        command += [f"--deselect={test}" for test in self.failing] + (["-x"] if self.seconds else [])
        more = {"PYTHONPATH": f"{copy}/src:{os.environ.get('PYTHONPATH', '')}", "PJRT_NPROC": "1"}
        more |= {"OMP_NUM_THREADS": "1", "JAX_COMPILATION_CACHE_DIR": str(self.folder / "cache")}
        more |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1", "SEMIGP_CACHE": str(self.folder / "cache")}
        try:
            done = subprocess.run(
                command, cwd=copy, env=os.environ | more, capture_output=True, text=True, timeout=wait
            )
        except subprocess.TimeoutExpired:
            return False, "too long"
        return done.returncode in (0, 5), done.stdout[-3000:]

    def time(self, file):
        """Without a mutant. What fails is left out from then on."""
        copy, start = self.copies.get(), time.monotonic()
        passes, told = self.pytest(copy, [file], _WAIT)
        self.copies.put(copy)
        failing = re.findall(r"^(?:FAILED|ERROR) (\S+)", told, re.M)
        return file, time.monotonic() - start, failing, "" if passes else told[-600:]

    def measure(self, pool, mutants, folders):
        """Every file once that may be needed."""
        tests = ROOT / "tests"
        paths = [path for folder in folders or [""] for path in (tests / "core" / folder).rglob("test_*.py")]
        own = [file for mutant in mutants for file in own_tests(mutant["module"]) if (tests / f"{file}.py").exists()]
        files = sorted({str(path.relative_to(tests).with_suffix("")) for path in paths} | set(own))
        found = list(pool.map(self.time, files))
        self.failing = [test for *_, tests, _ in found for test in tests]
        self.seconds = {file: seconds for file, seconds, *_ in found}
        for file, seconds, tests, told in found:
            print(f"{file}: {seconds:.0f} s", f"fails here: {tests} {told}" if told else "", flush=True)

    def judge(self, mutant):
        """The mutant with what became of it: noticed by its own tests, by others, or by none; None without time."""
        if time.monotonic() > self.end:
            return None
        own = [file for file in own_tests(mutant["module"]) if file in self.seconds]
        wide = sorted((file for file in self.seconds if file not in own and "core/" in file), key=self.seconds.get)
        copy = self.copies.get()
        place = copy / "src/semigp/core" / mutant["module"]
        before = place.read_text()
        place.write_text(mutant["source"])
        try:
            fate = "survived"
            for stage, files in (("own", own), ("others", wide)):
                wait = 3.0 * sum(self.seconds[file] for file in files) + 60.0
                if files and not self.pytest(copy, files, wait)[0]:
                    fate = stage
                    break
        finally:
            place.write_text(before)
            self.copies.put(copy)
        return {key: value for key, value in mutant.items() if key != "source"} | {"noticed_by": fate}


def main():
    mutants, target = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    workers, end, folders = int(sys.argv[3]), time.monotonic() + float(sys.argv[4]), sys.argv[5:]
    bench = Bench(workers, end)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool, target.open("w") as file:
        bench.measure(pool, mutants, folders)
        for done in concurrent.futures.as_completed([pool.submit(bench.judge, mutant) for mutant in mutants]):
            if done.result() is not None:
                file.write(json.dumps(done.result()) + "\n")
                file.flush()
    shutil.rmtree(bench.folder)


if __name__ == "__main__":
    main()
