"""The regressor over devices and processes. The oracle is the regressor without a mesh, or with one device."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import semigp
from semigp.core.devices.processes import Processes
from semigp.estimators.common.table import Table
from semigp.estimators.regression import across_processes as spreading

WORKER = Path(__file__).with_name("spread_worker.py")
GAUSSIAN = {"posterior": "gaussian", "max_iter": 15}
MIXTURE = {"posterior": "mixture", "n_draws": 2, "max_iter": 15}


def start(out, **told):
    command = [sys.executable, "-W", "ignore", WORKER, json.dumps(told | {"out": str(out)})]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, out):
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(Path(out).read_text())


def _same(found, expected):
    """Sums in another order, amplified by 15 iterations a stage."""
    assert found["form"] == expected["form"]
    assert found["bound"] == pytest.approx(expected["bound"], rel=1e-5)
    np.testing.assert_allclose(found["mean"], expected["mean"], atol=1e-4)
    np.testing.assert_allclose(found["std"], expected["std"], atol=1e-4)


@pytest.fixture(
    scope="module", params=[GAUSSIAN, pytest.param(MIXTURE, marks=pytest.mark.slow)], ids=["gaussian", "mixture"]
)
def one_device(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("one") / "found.json"
    return request.param, finish(start(out, devices=1, options=request.param), out)


def test_four_devices(one_device, tmp_path):
    options, expected = one_device
    found = finish(start(tmp_path / "found.json", devices=4, options=options), tmp_path / "found.json")
    assert found["devices"] == 4
    _same(found, expected)
    np.testing.assert_allclose(found["imputed"], expected["imputed"], atol=1e-3)


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_processes_with_rows_of_their_own(one_device, tmp_path, count):
    """All processes have the same model to the last digit; it is that of one process as far as `_same` says."""
    options, expected = one_device
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    outs = [tmp_path / f"{rank}.json" for rank in range(count)]
    runs = [start(out, process=rank, count=count, port=port, options=options) for rank, out in enumerate(outs)]
    found = [finish(run, out) for run, out in zip(runs, outs, strict=True)]
    assert all(each["mean"] == found[0]["mean"] and each["bound"] == found[0]["bound"] for each in found)
    _same(found[0], expected)
    together = [row for each in found for row in each["imputed"]]
    np.testing.assert_allclose(together, expected["imputed"], atol=1e-3)
    loaded = semigp.load(outs[-1].with_suffix(f".{count - 1}.semigp"))
    assert loaded.mesh is None
    np.testing.assert_allclose(loaded.impute(), found[-1]["imputed"], rtol=1e-12)


def _problem(n=60):
    random = np.random.default_rng(1)
    X = random.normal(size=(n, 2))
    X[:, 1] += X[:, 0]
    y = np.sin(X[:, 0]) + 0.2 * random.normal(size=n)
    X[::4, 1] = np.nan
    return X, y


@pytest.mark.parametrize(
    "options",
    [
        {"posterior": "mixture", "n_draws": 2},
        pytest.param({"posterior": "gaussian"}, marks=pytest.mark.slow),
        pytest.param({"input_prior": "standard"}, marks=pytest.mark.slow),
    ],
)
def test_a_mesh_of_one_device_is_close_to_no_mesh(options):
    X, y = _problem()
    plain = semigp.SemiDescribedGPRegressor(10, random_state=0, **options).fit(X, y)
    on_mesh = clone(plain).set_params(mesh=semigp.row_mesh()).fit(X, y)
    assert on_mesh.posterior_ == plain.posterior_
    # Two optimisers, one optimum or one nearby.
    assert on_mesh.bound_ == pytest.approx(plain.bound_, abs=0.3)
    mean, std = plain.predict(X[:20], return_std=True)
    assert np.max(np.abs(on_mesh.predict(X[:20]) - mean) / std) < 0.2


@pytest.mark.parametrize(
    "options",
    [{"posterior": "mixture", "n_draws": 2}, pytest.param({"posterior": "gaussian"}, marks=pytest.mark.slow)],
)
def test_more_rows_than_the_sample(options, monkeypatch):
    """Inducing points and chained GPs come from 60 of 160 rows; draws and moments of the others from the chain."""
    X, y = _problem(160)
    whole = semigp.SemiDescribedGPRegressor(10, random_state=0, mesh=semigp.row_mesh(), **options).fit(X, y)
    monkeypatch.setattr(spreading, "MAX_SAMPLE", 60)
    some = clone(whole).fit(X, y)
    assert len(some._inputs.table.inputs) < 160
    assert some.impute().shape == X.shape
    mean, std = whole.predict(X[1:40], return_std=True)
    assert np.mean(np.abs(some.predict(X[1:40]) - mean) / std) < 0.3


def test_draws_of_training_rows_have_noise_of_their_own():
    random = np.random.default_rng(0)
    table = Table(random.normal(size=(300, 2)), random.normal(size=(300, 1)), np.zeros((300, 2)))
    table.inputs[100:, 1] = np.nan
    own = spreading.OwnRows(table, 0, places=None)
    inputs = spreading_inputs(table.take(np.arange(200)), own)
    draws = [drawn.inputs[100:, 1] for drawn in inputs.drawn(table)]
    assert np.std(draws[0]) > 0.7  # were it shared, nothing but the small differences of the means would be left


def spreading_inputs(sample, own):
    from semigp.estimators.regression.missing_inputs import CorrelatedInputs

    return CorrelatedInputs(sample, 0, 2, own=own)


class _Pretended(Processes):
    """Two processes, the other one having what `other` says."""

    count, rank, other = 2, 0, []

    def gather(self, values):
        return np.stack([np.asarray(values), np.asarray(self.other.pop(0))])


def test_scaler_is_that_of_all_rows(random):
    rows = random.normal(3.0, 2.0, size=(50, 2))
    rows[::3, 0] = np.nan
    here, there = rows[:20], rows[20:]
    everyone = spreading.RowsAcross(semigp.row_mesh(), None)
    everyone.processes = pretended = _Pretended(semigp.row_mesh())
    mean = np.nanmean(rows, axis=0)
    sums = [np.sum(~np.isnan(there), axis=0), np.nansum(there, axis=0), np.nansum((there - mean) ** 2, axis=0)]
    pretended.other = [part.astype(float) for part in sums]
    found, expected = everyone.units(here), StandardScaler().fit(rows)
    np.testing.assert_allclose(found.standard(here), expected.transform(here), rtol=1e-12)


def test_sample_has_some_of_every_kind(random):
    inputs = random.normal(size=(1000, 3))
    inputs[:, 1] = np.nan
    inputs[[7, 500], 1] = 1.0  # a column that two rows know
    inputs[3, 0] = np.nan
    rows = spreading._some_rows(Table(inputs, np.ones((1000, 1)), np.zeros(inputs.shape)), 20, 0)
    assert {7, 500} <= set(rows)
    assert len(rows) < 80


def test_mesh_is_no_part_of_copies_and_files(tmp_path):
    X, y = _problem()
    mesh = jax.make_mesh((1,), ("any",))
    model = semigp.SemiDescribedGPRegressor(5, max_iter=3, posterior="gaussian", mesh=mesh, random_state=0)
    assert clone(model).mesh == mesh
    with pytest.warns(UserWarning, match="iteration limit"):
        model.fit(X, y)
    model.save(tmp_path / "model.semigp")
    loaded = semigp.load(tmp_path / "model.semigp")
    assert loaded.mesh is None
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
