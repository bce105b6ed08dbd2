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


_TABLE = """
import os, sys
os.sched_setaffinity(0, {int(core) for core in sys.argv[1].split(",")})
import warnings; warnings.simplefilter("ignore")
import numpy as np
import semigp
random, n = np.random.default_rng(0), int(sys.argv[2])
X = random.normal(size=(n, 3))
y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=n)
X[random.random(X.shape) < 0.2] = np.nan
"""
_TELL = """
for value in np.concatenate([np.ravel(each) for each in found]):
    print(float(value).hex())
"""
_PARTICLES = f"""{_TABLE}
model = semigp.SemiDescribedGPRegressor(n_draws=2, max_iter=20, random_state=0).fit(X, y)
assert model.posterior_ == "particles"
found = [*model.predict(X[:20], return_std=True), *model.impute(return_std=True)]
{_TELL}"""
_IMPUTATION = f"""{_TABLE}
model = semigp.GPImputer(n_draws=2, max_iter=2, random_state=0).fit(X)
found = [*model.impute(return_std=True), *model.impute(X[:20], return_std=True), model.sample()]
{_TELL}"""
_CLASSES = f"""{_TABLE}
labels = np.where(random.random(n) < 0.2, (y > 0).astype(int), -1)
model = semigp.SemiSupervisedGPClassifier(random_state=0).fit(X, labels)
found = [model.predict_proba(X[:20])]
{_TELL}"""


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


@_two_cores
@pytest.mark.parametrize("n", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("program", [_PARTICLES, _IMPUTATION], ids=["particles", "imputer"])
def test_drawn_tables_on_one_core_and_two(program, n):
    """Chains run in NumPy, with one thread for products: the very same numbers, and nothing needs to be set."""
    two = sorted(os.sched_getaffinity(0))[:2]
    np.testing.assert_array_equal(_numbers(two[:1], n, program), _numbers(two, n, program))


@_two_cores
@pytest.mark.parametrize("n", [pytest.param(200, marks=pytest.mark.slow), pytest.param(2000, marks=pytest.mark.slow)])
def test_classes_on_one_core_and_two(n):
    """With as many threads of XLA on both: its latent space is fitted by L-BFGS, which amplifies the rounding."""
    two, threads = sorted(os.sched_getaffinity(0))[:2], {"PJRT_NPROC": "2"}
    found = [_numbers(cores, n, _CLASSES, **threads) for cores in (two[:1], two)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8, atol=1e-8)
