"""What every measurement shares. Nothing but NumPy: it is imported in the environments of other libraries, too."""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

_SHARE_OF_MEMORY = 0.9


def make_problem(n, q, p, m):
    """Outputs, mean and variance of q(x), inducing inputs."""
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


def timed(step):
    """Seconds that `step()` takes."""
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def peak_mib():
    """The most memory this process has held, its libraries included."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def spare_the_machine():
    """Fail when nine tenths of the free memory are taken, before the system ends some other process."""
    if sys.platform == "linux":
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        most = int(_SHARE_OF_MEMORY * int(lines["MemAvailable"].split()[0]) * 1024)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main(measure):
    """Measure the size on the command line and print what `repeat` says of it, with memory, as JSON."""
    spare_the_machine()
    result = measure(*map(int, sys.argv[1:5]))
    print(json.dumps(result | {"peak_mib": peak_mib()}))
