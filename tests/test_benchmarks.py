"""Benchmarks: that they time what they say, on problems small enough for every run of the tests."""

import jax
import numpy as np
import pytest

from semigp.benchmarks import endtoend, engine, limit, measuring, scaling
from semigp.core import RBF, InputBelief
from semigp.core.sparse.bound import collapsed_bound

SIZE = (24, 2, 3, 5)


@pytest.fixture
def quick(monkeypatch):
    """Few repeats, small blocks."""
    repeat = engine.repeat
    monkeypatch.setattr(engine, "repeat", lambda evaluate: repeat(evaluate, 0.0, 1, 1))
    monkeypatch.setattr(limit, "_SIZES", (64,))
    monkeypatch.setattr(limit, "_ROWS", (8,))


def _kl(mean, variance):
    return 0.5 * np.sum(mean**2 + variance - 1.0 - np.log(variance))


def test_the_engine_is_timed_on_the_bound_it_says(quick):
    """The oracle is the bound, from its own function, less the divergence from N(0, I) written out."""
    y, mean, variance, inducing = engine.make_problem(*SIZE)
    timed = engine.time_semigp(*SIZE, 0.0)
    kernel = RBF(1.0, np.sqrt(2.0) * np.ones(2))
    evidence = collapsed_bound(kernel, InputBelief(mean, variance), inducing, y, 1.0)
    assert timed["bound"] == pytest.approx(evidence - _kl(mean, variance), rel=1e-9)
    assert len(timed["times"]) == 1
    assert min(timed["times"]) < timed["first_call"]


def test_the_limit_counts_exponentials_and_products(quick, monkeypatch):
    """With a second for every exponential and for every product of one pair and row, it is a matter of counting."""
    monkeypatch.setattr(limit, "seconds_per_exponential", lambda: 1.0)
    monkeypatch.setattr(limit, "seconds_per_product", lambda shape, n, pairs, inner: 1.0)
    assert limit.limit(10, 3, 4, 0.0) == 10 * 10 * (1 + 3)
    assert limit.limit(10, 3, 4, 0.7) == 3 * 10 * (1 + 3) + 7 * 4 * (1 + 3 + 2)


def test_the_limit_is_a_time(quick):
    with jax.enable_x64(True):
        seconds = limit.limit(*SIZE[:2], SIZE[3], 0.5)
    assert 0.0 < seconds < 1.0


def test_what_is_not_there_is_told(monkeypatch):
    peer = measuring.Peer("Nothing", "no_such_library")
    with pytest.raises(measuring.Unmeasured, match=r"not installed.*SEMIGP_BENCH_NO_SUCH_LIBRARY"):
        peer.python()
    assert "not installed" in engine.measure_peer(peer, SIZE).reason
    monkeypatch.setenv(peer.variable, "/its/own/python")
    assert peer.python() == "/its/own/python"


def test_processes_that_fail():
    fail = ["python3", "-c"]
    with pytest.raises(measuring.Unmeasured, match="out of memory"):
        measuring.run([*fail, "raise MemoryError"])
    with pytest.raises(measuring.Unmeasured, match="more than 0 s"):
        measuring.run([*fail, "import time; time.sleep(5)"], seconds=0.2)
    with pytest.raises(RuntimeError, match="no such thing"):
        measuring.run([*fail, "raise KeyError('no such thing')"])
    assert measuring.run([*fail, "print('words'); print('{\"a\": 1}')"]) == {"a": 1}


def _engine_row(**peers):
    return {
        "size": SIZE, "observed": 0.0, "goal": 5, "limit": 0.001, "ours": 0.002, "bound": -100.0, "both": 0.004,
        "first": 1.0, "second": 0.5, "peak": 300.0, "peers": peers,
    }  # fmt: skip


def test_the_table_of_the_engine():
    gpy = engine.Step(0.02, 400.0, -100.001, {"GPy": "1.15"})
    row = _engine_row(GPy=gpy, GPyTorch=engine.Step(reason="out of memory"), GPflow=engine.Step(0.006, 700.0))
    page = engine.report([row])
    assert "| 24, 2, 3, 5 | 0% | 2.00 | 1.00 | **2.0** | 20.0 (**10.0**) | 5 | - | 6.0 (**3.0**) |" in page
    assert "| 1.0 | 0.5 | 0.50 | 300 | 400 | - | 700 |" in page
    assert "agrees to 1e-05" in page
    assert "No GPyTorch: out of memory, at (24, 2, 3, 5)." in page
    assert "GPy 1.15" in page


def test_a_trace_tells_when():
    trace = endtoend.Trace()
    for value in (1.0, 3.0, 2.0, 4.0):
        trace.add(value)
    assert trace.bounds == [1.0, 3.0, 3.0, 4.0]
    assert trace.reached(2.5) == trace.times[1]
    assert np.isnan(trace.reached(5.0))


@pytest.fixture
def problem(monkeypatch, random):
    latent = random.normal(size=(24, 1))
    rows = np.column_stack([np.sin(latent), np.cos(latent), latent]) + 0.05 * random.normal(size=(24, 3))
    monkeypatch.setattr(endtoend, "MANY", 20)
    small = endtoend.Problem(lambda: rows, 2, 5)
    monkeypatch.setattr(endtoend, "PROBLEMS", {"small": small})
    return small


def test_a_fit_from_a_start_to_a_target(problem, tmp_path):
    """The bound at the start and at another end are those of the bound's own function."""
    path = tmp_path / "start.npz"
    endtoend.write_start(problem, path, 0)
    start = np.load(path)
    signal, noise, lengthscale = 4.0, 0.2, np.array([1.0, 2.0])
    np.savez(tmp_path / "end.npz", mean=start["mean"], variance=np.full((24, 2), 0.3), inducing=start["inducing"],
             lengthscale=lengthscale, signal=[signal], noise=[noise])  # fmt: skip
    found = endtoend.fit_semigp(str(path), -np.inf, np.inf, np.inf)
    for key, scale, kernel, noise_variance, variance in (
        ("start", 1.0, RBF(1.0, np.sqrt(2.0) * np.ones(2)), 0.05, 0.1),
        ("where GPy ends", 2.0, RBF(1.0, lengthscale), noise, 0.3),
    ):
        belief = InputBelief(start["mean"], np.full((24, 2), variance))
        evidence = collapsed_bound(kernel, belief, start["inducing"], start["rows"], noise_variance, output_scale=scale)
        assert found[key] == pytest.approx(evidence - _kl(belief.mean, belief.variance), rel=1e-9)
    assert found["bound"] > found["start"]
    assert 0.0 < found["to bound"] < found["seconds"]  # any bound will do
    assert np.isnan(found["to most"])
    assert found["starts"] == 1
    again = endtoend.fit_semigp(str(path), found["bound"] + 0.1, np.inf, 5.0)  # further starts until time is up
    assert again["starts"] > 1


@pytest.mark.slow
def test_a_race(problem, monkeypatch, tmp_path):
    """GPy has the same bound at the start and at its end, to rounding: its jitter is ours."""
    pytest.importorskip("GPy", exc_type=ImportError)
    results = []
    race = endtoend.race
    monkeypatch.setattr(endtoend, "race", lambda *one: results.append(race(*one)) or results[-1])
    monkeypatch.setattr(endtoend, "STARTS", 1)
    endtoend.main(tmp_path)
    assert results[0]["gap"] < 1e-9
    assert results[0]["gap at end"] < 1e-6
    assert (tmp_path / endtoend.TABLE).read_text().count("| small |") == 2


def test_memory_grows_with_the_data_and_not_with_their_products(monkeypatch):
    """From 4096 to 8192 rows, in chunks of 1000: XLA sets aside twice what the rows take, a tenth of their ψ2."""
    monkeypatch.setattr(scaling, "M", 45)
    small, large = (scaling.measure(n) for n in (4096, 8192))
    pairs = 4096 * (45 * 46 // 2) * 8 / scaling.MIB
    growth = large["planned"] - small["planned"]
    assert growth < 2.0 * (large["own"] - small["own"])
    assert growth < 0.1 * pairs


def test_the_figure_of_the_scaling(tmp_path):
    rows = [{"n": n, "seconds": n / 1e4, "own": n / 1e3, "added": 9.0, "planned": 8.0, "peak": 500.0} for n in (10, 20)]
    for path in scaling.figure(rows, tmp_path):
        assert path.stat().st_size > 5000
    assert "| 20 | 0.002 | 100.0 | 0.0 | 9 | 8 | 500 |" in scaling.report(rows)
