"""Functions for all measurements. They need only NumPy, because the environments of other libraries import them too."""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

_SHARE_OF_MEMORY = 0.9


def make_problem(n, q, p, m):
    """Random outputs, means and variances of q(x), and inducing inputs."""
    random = np.random.default_rng(0)
    y, mean = random.normal(size=(n, p)), random.normal(size=(n, q))
    return y, mean, random.uniform(0.1, 1.0, (n, q)), random.normal(size=(m, q))


def repeat(evaluate, seconds=4.0, at_least=5, at_most=60):
    """The times of several evaluations, after two for warm-up. `evaluate(i)` returns its own time in seconds."""
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


def timed_again(step, patience):
    """Seconds of `step()`: the first time, and the time that counts, which is the second if the first was short."""
    first = timed(step)
    return {"first": first, "seconds": timed(step) if first < patience else first}


def peak_mib():
    """The peak memory of this process in MiB, including its libraries."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def spare_the_machine():
    """Limit this process to nine tenths of the free memory, so that the system does not end another process."""
    if sys.platform == "linux":
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        most = int(_SHARE_OF_MEMORY * int(lines["MemAvailable"].split()[0]) * 1024)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main(measure):
    """Measure the size given on the command line, and print the result and the peak memory as JSON."""
    spare_the_machine()
    result = measure(*map(int, sys.argv[1:5]))
    print(json.dumps(result | {"peak_mib": peak_mib()}))
