"""Benchmarks: that they time what they say, on problems small enough for every run of the tests."""

import json
from dataclasses import replace

import jax
import numpy as np
import pytest

from semigp.benchmarks import answers, endtoend, engine, limit, measuring, scaling
from semigp.benchmarks.answers import figure, jobs, records, report, work
from semigp.benchmarks.peers.problems import make_series, make_table
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


# ---- The time to an answer.


@pytest.fixture
def small_jobs(monkeypatch):
    """One job with a competitor and one scaling of three sizes, in place of the real ones."""
    scaling = jobs.Scaling("rows", (10, 20, 40), (None, 3), {jobs.FORESTS: 20, jobs.GPLVM: 10},
                           {jobs.FORESTS: "exact", jobs.GPLVM: "small"})  # fmt: skip
    ours, other = jobs.table(jobs.OURS, 7, 3, 0.2), jobs.table(jobs.FORESTS, 7, 3, 0.2)
    job = jobs.Job("small", "7 × 3", ours, 5.0, 100.0, {jobs.FORESTS: other}, 2.0)
    for module in (report, records, figure):
        monkeypatch.setattr(module, "SCALINGS", [scaling])
    for module in (report, records):
        monkeypatch.setattr(module, "JOBS", [job])
    return job, scaling


@pytest.fixture
def measured(monkeypatch):
    """The names of what is measured. Every size takes a second for every hundred rows, and forests stop at 20 rows."""
    names = []

    def run(self):
        names.append(self.name)
        *_, n, _, _ = self.arguments
        if jobs.FORESTS in self.arguments and n == 20:
            raise measuring.Unmeasured("more than 9 s")
        return {"first": n / 50, "seconds": n / 100, "peak_mib": 90.0, "versions": {"tool": "1.0"}}

    monkeypatch.setattr(jobs.Measurement, "run", run)
    monkeypatch.setattr(measuring.Peer, "python", lambda self: "python")
    return names


def test_slopes_of_powers():
    """Seconds that are a power of the size have its exponent as their slope, and one size has none."""
    sizes = np.array([100, 300, 1000])
    assert report.slope(sizes, 0.3 * sizes**1.5) == pytest.approx(1.5, rel=1e-12)
    assert np.isnan(report.slope([100], [1.0]))


def test_a_table_and_series_of_the_benchmark():
    """The share of holes is that of independent draws, within four standard errors; a seed gives the same numbers."""
    X, y, X_new = make_table(2000, 8, 0.3)
    assert X.shape == (2000, 8)
    assert X_new.shape == (100, 8)
    assert np.isfinite(y).all()
    assert abs(np.isnan(X).mean() - 0.3) < 4 * np.sqrt(0.21 / X.size)
    assert np.array_equal(X, make_table(2000, 8, 0.3)[0], equal_nan=True)
    correlations = np.corrcoef(np.nan_to_num(X), rowvar=False)
    assert np.abs(correlations[np.triu_indices(8, 1)]).max() > 0.3
    season = np.array([make_series(2400, seed)[step::12].mean() for seed in (0, 1) for step in range(12)])
    assert season.std() > 0.5  # a sine of size 1 has .71


def test_a_run_of_answers_that_was_stopped_goes_on(small_jobs, measured, monkeypatch, tmp_path):
    """What was measured before the stop is not measured again. After the end, all is."""
    run = jobs.Measurement.run

    def stopped(self):
        if len(measured) == 3:
            raise KeyboardInterrupt
        return run(self)

    with monkeypatch.context() as patch:
        patch.setattr(jobs.Measurement, "run", stopped)
        with pytest.raises(KeyboardInterrupt):
            answers.main(tmp_path)
    before = list(measured)
    assert len(before) == 3
    answers.main(tmp_path)
    assert len(measured) == len(set(measured)) == 2 + 3 + 2 + 3 + 1  # the job, then semigp, forests, boosting, GPy
    assert measured[:3] == before
    answers.main(tmp_path)
    assert len(measured) == 2 * 11
    answers.main(tmp_path, ["small"])
    assert measured[22:] == [one.name for one in small_jobs[0].measurements]


def test_larger_sizes_are_not_tried_after_a_limit(small_jobs, measured, monkeypatch, tmp_path):
    scaling = replace(small_jobs[1], most={})
    for module in (report, records, figure):
        monkeypatch.setattr(module, "SCALINGS", [scaling])
    answers.main(tmp_path, ["rows"])
    assert f"regression {jobs.FORESTS} 40 3 0.3" not in measured
    page = (tmp_path / report.TABLE).read_text()
    assert "| 20 | 0.20 | 90 | more than 9 s |  | 0.20 |" in page
    assert "| 40 | 0.40 | 90 | not tried: a smaller one needed more than 9 s |  | 0.40 |" in page


def test_the_page_of_answers(small_jobs, measured, tmp_path):
    """Every cell is that of a record: seconds and MiB as above, and slopes of exactly one."""
    answers.main(tmp_path)
    page = (tmp_path / report.TABLE).read_text()
    assert "| 7 × 3 | 5, and 2 × missForest + GP | 0.07 | 0.14 | 90 | 100 | missForest + GP: 0.07 | yes |" in page
    assert "| 10 | 0.10 | 90 | 0.10 | 90 | 0.10 | 90 | 0.10 | 90 |" in page
    assert "| 40 | 0.40 | 90 | - |  | 0.40 | 90 | - |  |" in page
    assert "| slope | **1.00** |  |  |  | **1.00** |  |  |  |" in page
    assert "Competitors: tool 1.0." in page
    assert all((tmp_path / name).stat().st_size > 5000 for name in ("answers.png", "answers.svg"))


@pytest.mark.parametrize(
    ("ours", "other", "told"),
    [
        ((5.0, 100.0), 2.6, "yes"),
        ((5.1, 100.0), 9.0, "no"),  # too slow
        ((5.0, 101.0), 9.0, "no"),  # too much memory
        ((5.0, 100.0), 2.5, "no"),  # not less than twice the competitor
        ((5.0, 100.0), None, ""),
        ((5.1, 100.0), None, "no"),
        (None, 1.0, ""),
    ],
)
def test_what_was_asked(small_jobs, tmp_path, ours, other, told):
    job, kept = small_jobs[0], records.Records(tmp_path)
    if ours is not None:
        kept.put(job.ours.name, {"first": 9.0, "seconds": ours[0], "peak_mib": ours[1]})
    if other is not None:
        kept.put(job.beside[jobs.FORESTS].name, {"first": other, "seconds": other, "peak_mib": 1.0})
    assert report.verdict(job, kept) == told


def test_records_of_another_machine(small_jobs, measured, tmp_path):
    """Their times are taken over, and a reason here does not replace them."""
    answers.main(tmp_path)
    here, elsewhere = records.Records(tmp_path), tmp_path / "elsewhere.json"
    name = small_jobs[0].ours.name
    about = {"origin": "On 2026-01-02: a card", "blas_threads": "1", "device": "H200"}
    theirs = {name: {"first": 3.0, "seconds": 2.0, "peak_mib": 5.0, "device_mib": 7.0} | about, "x": {"reason": "no"}}
    elsewhere.write_text(json.dumps({"done": [], "records": theirs}))
    assert here.add(elsewhere) == [name]
    here.put(name, {"reason": "no GPU"})
    page = report.report(records.Records(tmp_path))
    assert f"{name}: On 2026-01-02: a card BLAS threads: 1. GPU: H200." in page
    assert "| 2.00 | 3.00 | 5, on the GPU 7 |" in page
    here.put(name, {"reason": "more than 9 s", "is_final": True})
    assert here.get(small_jobs[0].ours)["reason"] == "more than 9 s"


def test_what_cannot_be_measured_says_why(monkeypatch):
    about = records.measure(jobs.Measurement("nothing", (), None, peer=measuring.Peer("Nothing", "no_such_library")))
    assert "not installed" in about["reason"]
    assert "is_final" not in about
    monkeypatch.setattr(jobs, "run_module", lambda *_, **__: {"reason": "no data"})
    assert records.measure(jobs.Measurement("mocap", ()))["reason"] == "no data"

    def fail(*_, **__):
        raise RuntimeError("command failed:\nTraceback\nValueError: a | b")

    monkeypatch.setattr(jobs, "run_module", fail)
    assert records.measure(jobs.Measurement("mocap", ()))["reason"] == "failed: ValueError: a / b"


def test_a_process_without_data_or_gpu(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMIGP_DATA", str(tmp_path))
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert "no data: SEMIGP_DATA is" in work.main("classification", "0")["reason"]
    assert "no data: SEMIGP_DATA is" in work.main("mocap", "0")["reason"]
    assert work.main("gpu", "10", "2", "0.1", "0")["reason"] == "no GPU here that JAX can use"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # processes are run without warnings
@pytest.mark.parametrize("way", [jobs.FORESTS, jobs.BOOSTING])
def test_competitors_answer(way, monkeypatch):
    """Twice if the first time was short, and once if there is no patience."""
    calls = []
    original = work._REGRESSIONS[way]
    monkeypatch.setitem(work._REGRESSIONS, way, lambda *problem: calls.append(original(*problem)))
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    found = work.main("regression", way, "30", "3", "0.2", "0")
    assert len(calls) == 1
    assert found["seconds"] == found["first"]
    assert found["peak_mib"] > 0
    work.main("regression", way, "30", "3", "0.2", "1000")
    assert len(calls) == 3
    answer = calls[0][0] if isinstance(calls[0], tuple) else calls[0]
    assert np.isfinite(answer).all()
    assert len(answer) == 100


def test_names_of_jobs_and_measurements():
    """A name says one measurement: where it occurs twice, its process is the same but for patience and limit."""
    assert len(jobs.NAMES) == len(set(jobs.NAMES))
    every = [one for job in jobs.JOBS for one in job.measurements]
    every += [one for scaling in jobs.SCALINGS for way in jobs.WAYS for one in scaling.measurements(way).values()]
    kinds = {(one.name, one.task, one.arguments, one.peer) for one in every}
    assert len(kinds) == len({one.name for one in every})
    assert all(one.peer is not None or one.task in work.TASKS for one in every)
