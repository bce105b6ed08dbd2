"""Run the tests on every mutant of a file that `tests.mutation.draw` has written.

python -m tests.mutation.run FILE OUT WORKERS SECONDS

First those of the module that was changed, then, if none of them notices, all of tests/core. Tests that fail without a
mutant, on this machine, do not count. A line of JSON goes to OUT for every mutant, until the time is over.
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
# Beside tests/core/test_NAME.py: where what a module does is tested.
_ALSO = {
    "chunks": ["core/test_bound", "core/test_posterior"],
    "factors": ["core/test_bound", "core/test_posterior"],
    "fused": ["core/test_kernels"],
    "functions": ["core/test_posterior", "estimators/test_semi_described"],
    "joint_gaussian": ["core/test_priors", "estimators/test_semi_described"],
    "label_gp": ["estimators/test_label_gp", "estimators/test_semi_supervised"],
    "local_step": ["core/test_stochastic", "estimators/test_streaming"],
    "passes": ["core/test_stochastic", "estimators/test_streaming"],
    "processes": ["core/test_sharding", "estimators/test_spreading"],
    "recognition": ["estimators/test_gplvm"],
    "rolling": ["estimators/test_forecaster"],
    "sharding": ["core/test_sharding", "estimators/test_spreading"],
    "spread_search": ["core/test_sharding", "estimators/test_spreading", "estimators/test_checkpoint"],
    "stream": ["core/test_stochastic", "estimators/test_streaming"],
}
_KERNELS = ["core/test_kernels", "core/test_gaussian", "core/test_fused", "core/test_bound"]
_WAIT = 600.0


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

    def measure(self, pool):
        """Every file once."""
        files = {f"core/{path.stem}" for path in (ROOT / "tests/core").glob("test_*.py")}
        files = sorted(files.union(*_ALSO.values()))
        found = list(pool.map(self.time, files))
        self.failing = [test for *_, tests, _ in found for test in tests]
        self.seconds = {file: seconds for file, seconds, *_ in found}
        for file, seconds, tests, told in found:
            print(f"{file}: {seconds:.0f} s", f"fails here: {tests} {told}" if told else "", flush=True)

    def judge(self, mutant):
        """The mutant with what became of it: noticed by its own tests, by others, or by none; None without time."""
        if time.monotonic() > self.end:
            return None
        name = Path(mutant["module"]).stem
        own = [f"core/test_{name}", *_ALSO.get(name, _KERNELS if "kernels/" in mutant["module"] else [])]
        own = [file for file in own if file in self.seconds]
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
    workers, end = int(sys.argv[3]), time.monotonic() + float(sys.argv[4])
    bench = Bench(workers, end)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool, target.open("w") as file:
        bench.measure(pool)
        for done in concurrent.futures.as_completed([pool.submit(bench.judge, mutant) for mutant in mutants]):
            if done.result() is not None:
                file.write(json.dumps(done.result()) + "\n")
                file.flush()
    shutil.rmtree(bench.folder)


if __name__ == "__main__":
    main()
