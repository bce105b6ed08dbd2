"""One core and two: the same digits.

XLA splits long sums by the number of its threads, which is that of cores unless PJRT_NPROC says otherwise; L-BFGS
amplifies the rounding. Short sums are not split.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

_FIT = """
import os, sys
os.sched_setaffinity(0, {int(core) for core in sys.argv[1].split(",")})
import warnings; warnings.simplefilter("ignore")
import numpy as np
from semigp import SemiDescribedGPRegressor
random = np.random.default_rng(0)
X = random.normal(size=(int(sys.argv[2]), 3))
y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=len(X))
X[random.random(X.shape) < 0.2] = np.nan
for form in ("gaussian", "mixture"):
    options = {"n_draws": 2, "max_iter": 20, "random_state": 0, "posterior": form}
    model = SemiDescribedGPRegressor(30, **options).fit(X, y)
    for value in np.concatenate([*model.predict(X[:20], return_std=True), [model.bound_]]):
        print(value.hex())
"""


_FORECAST = """
import os, sys
os.sched_setaffinity(0, {int(core) for core in sys.argv[1].split(",")})
import numpy as np
from semigp import GPForecaster
series = np.sin(np.arange(int(sys.argv[2])) / 3) + 0.1 * np.random.default_rng(0).normal(size=int(sys.argv[2]))
series[60:63] = np.nan
model = GPForecaster(random_state=0).fit(series)
for value in [*model.forecast(20).paths[:3].ravel(), model.bound_]:
    print(value.hex())
"""


def _numbers(cores, n, program=_FIT, **variables):
    command = [sys.executable, "-c", program, ",".join(map(str, cores)), str(n)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=300, check=True)
    return np.array([float.fromhex(line) for line in done.stdout.split()])


_two_cores = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="this machine has one core"
)


@_two_cores
@pytest.mark.parametrize(("n", "variables"), [(200, {}), (2000, {"PJRT_NPROC": "2"})])
def test_one_core_and_two(n, variables):
    two = sorted(os.sched_getaffinity(0))[:2]
    np.testing.assert_allclose(_numbers(two[:1], n, **variables), _numbers(two, n, **variables), rtol=1e-8, atol=1e-8)


@_two_cores
def test_forecasts_on_one_core_and_two():
    """NumPy with one thread for products: the very same numbers."""
    two = sorted(os.sched_getaffinity(0))[:2]
    np.testing.assert_array_equal(_numbers(two[:1], 300, _FORECAST), _numbers(two, 300, _FORECAST))
