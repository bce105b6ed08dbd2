"""The experiments on series and systems: generators, true models, scores, ranks, simulations, and small runs."""

import json

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from semigp.experiments import systems
from semigp.experiments.reporting import read_rows
from semigp.experiments.series import __main__, figures, peer, peers, plan, problems, simulated, summary
from semigp.experiments.series.run import scored


@pytest.fixture
def _data(shared, monkeypatch):
    monkeypatch.setenv("SEMIGP_DATA", str(shared / "data"))
    problems._m4.cache_clear()


@pytest.mark.parametrize("make", [simulated.random_walk, simulated.trend_and_season])
def test_true_models_hold_what_they_promise(make):
    """Errors in units of the true standard deviation have variance 1 at the first step, within five standard errors."""
    first = []
    for seed in range(400):
        values, (mean, std) = make(seed)
        first.append((values[-len(mean)] - mean[0]) / std[0])
    assert abs(np.mean(first)) < 5 / np.sqrt(400)
    assert abs(np.var(first) - 1) < 5 * np.sqrt(2 / 400)


def test_the_regression_is_bayes_rule():
    """Oracle: a Gaussian process with the same columns under a prior that is nearly flat."""
    values, (mean, std) = simulated.trend_and_season(3)
    time = np.arange(len(values))
    columns = np.column_stack([time / simulated.MONTHS, np.eye(12)[time % 12]])
    noise_variance = _noise_of(3) ** 2
    covariance = 1e8 * columns @ columns.T + noise_variance * np.eye(len(values))
    n = simulated.MONTHS
    gain = np.linalg.solve(covariance[:n, :n], covariance[:n, n:]).T
    np.testing.assert_allclose(gain @ values[:n], mean, rtol=1e-4)
    exact = np.sqrt(np.diag(covariance[n:, n:] - gain @ covariance[:n, n:]))
    np.testing.assert_allclose(exact, std, rtol=1e-3)


def _noise_of(seed):
    random = np.random.default_rng(seed)
    random.normal()
    random.uniform()
    return random.uniform(0.5, 3.0)


@pytest.mark.parametrize("system", list(simulated.SYSTEMS))
def test_chaotic_systems_stay_bounded_and_forget_their_start(system):
    """After the transient two starts are as far apart as two draws of the series."""
    one, other = (simulated.chaotic(system, seed) for seed in (0, 1))
    assert len(one) == simulated.CHAOS_LENGTH + simulated.CHAOS_STEPS
    assert np.abs(one).max() < 30
    assert np.std(one - other) > 0.5 * one.std()
    np.testing.assert_array_equal(one, simulated.chaotic(system, 0))


def test_scores_of_known_quantiles():
    """Past 0, 2, 0, 2, …: scale 2. Quantiles from -1 to 1 around the truth: all errors are those of a symmetric fan."""
    past, truth = np.tile([0.0, 2.0], 20), np.array([1.0, 5.0, np.nan])
    offsets = np.linspace(-1.0, 1.0, len(plan.LEVELS))[:, None]
    quantiles = np.array([1.0, 4.0, 0.0]) + offsets
    row = scored(problems.Problem(problems.WALK, "0", past, truth), quantiles)
    assert row["MASE"] == pytest.approx((0 + 1) / 2 / 2)
    assert (row["coverage"], row["coverage, first tenth"]) == (1.0, 1.0)
    shifted = scored(problems.Problem(problems.WALK, "0", past, truth), quantiles + 1.5)
    assert shifted["coverage"] == 0.5
    assert shifted["coverage, first tenth"] == 0.0


def test_ranks_and_differences():
    """Two series: places 1 and 2, then 2 and 1; a way without a score on one has no rank, nor has the true model."""
    found = {plan.OURS: {"a": 1.0, "b": 5.0}, plan.ARIMA: {"a": 2.0, "b": 4.0}, plan.MSTL: {"a": 0.0}}
    found[plan.TRUTH] = {"a": 0.0, "b": 0.0}
    assert summary.mean_ranks(found) == {plan.OURS: 1.5, plan.ARIMA: 1.5}
    assert summary.less(found, plan.ARIMA).mean == 0.0
    assert summary.less(found, plan.ARIMA, plan.TRUTH).mean == 3.0
    assert summary.less(found, plan.OURS) is None


def test_a_run_is_continued_beside_the_records_of_peers(tmp_path, monkeypatch, capsys):
    """The peers' forecasts come from a file here; the second run makes only what is missing, and the page has all."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / peers.PYTHON).parent.mkdir(parents=True)
    (tmp_path / peers.PYTHON).touch()
    monkeypatch.setattr(peers, "_run", _forecasts_in_place_of_a_process)
    line = ["--jobs", "1", "--out", str(tmp_path), "--parts", "random walk", "--count", "2", "--first-seed", "7"]
    __main__.main([*line, "--ways", "AutoARIMA; MSTL"])
    __main__.main([*line, "--ways", "AutoARIMA; true model"])
    assert "2 records are there, 2 are to be made." in capsys.readouterr().out
    rows = read_rows(tmp_path / "series.csv")
    assert {(str(row["series"]), row["way"]) for row in rows} == {
        (seed, way) for seed in ("7", "8") for way in ("AutoARIMA", "true model")
    }
    page = (tmp_path / "series.md").read_text(encoding="utf-8")
    assert "| true model |" in page
    assert "AutoARIMA on random walk, 8: TimeoutError: more than 60 s" in page
    assert "AutoARIMA * (1 of 2)" in page
    __main__.main([*line, "--ways", "true model", "--again"])
    assert "0 records are there, 2 are to be made." in capsys.readouterr().out
    assert len(read_rows(tmp_path / "series.csv")) == 4
    assert (tmp_path / "series.png").stat().st_size > 5000


def _forecasts_in_place_of_a_process(source, target):
    """One forecast, a fan of straight lines, and one that took too long."""
    told = json.loads(source.read_text())
    lines = []
    for number, way in told["tasks"]:
        series = told["series"][number]
        line = {"part": series["part"], "series": series["series"], "way": way, "seconds": 1.0}
        line["versions"] = {"statsforecast": "2"}
        if series["series"] == "8":
            line["error"] = "TimeoutError: more than 60 s"
        else:
            line["quantiles"] = [[series["values"][-1] + level] * series["steps"] for level in told["levels"]]
        lines.append(json.dumps(line))
    target.write_text("\n".join(lines) + "\n")


def test_unknown_ways_and_parts_are_named(capsys):
    with pytest.raises(SystemExit):
        __main__.main(["--ways", "ARIMAX"])
    assert "there is no ARIMAX; there are GPForecaster" in capsys.readouterr().err


def test_a_way_that_takes_too_long_is_an_error(monkeypatch):
    monkeypatch.setitem(peer.WAYS, "slow", lambda task, levels: __import__("time").sleep(5))
    found = peer.forecast({}, "slow", np.array(plan.LEVELS), 1)
    assert found["error"] == "TimeoutError: more than 1 s"
    assert found["seconds"] < 2


def test_every_peer_that_is_planned_exists():
    assert set(plan.PEERS) == set(peer.WAYS)
    assert {way for ways in plan.WAYS.values() for way in ways} == {*plan.HERE, *plan.PEERS}


def test_losses_of_the_figure_are_relative():
    rows = [{"part": problems.WALK, "way": way, "quantile loss": loss, "coverage": 0.9, "series": "1"}
            for way, loss in ((plan.OURS, 3.0), (plan.ARIMA, 2.0))]  # fmt: skip
    parts, ways, found = figures.drawn(rows)
    assert (parts, ways) == ([problems.WALK], [plan.OURS, plan.ARIMA])
    np.testing.assert_array_equal(found["quantile loss"], [[1.5], [1.0]])


@pytest.mark.usefixtures("_data")
def test_series_of_m4_are_cut_and_classics_are_whole():
    assert len(problems.names(problems.WEEKLY, 60, 0)) == 60
    assert max(len(problems.make(problems.WEEKLY, name).past) for name in problems.names(problems.WEEKLY, 60, 0)) == 600
    passengers = problems.make(problems.AIRLINE, "")
    assert (passengers.past[0], passengers.past[-1], passengers.future[-1]) == (112, 337, 432)
    assert len(passengers.future) == 24


# ---- Systems


def test_a_linear_system_is_simulated_exactly():
    """y(t) = .8 y(t-1) - .3 y(t-2) + u(t) without noise: ARX finds it, and its paths are the truth."""
    inputs = np.random.default_rng(0).normal(size=400)
    outputs = np.zeros(400)
    for t in range(2, 400):
        outputs[t] = 0.8 * outputs[t - 1] - 0.3 * outputs[t - 2] + inputs[t]
    lags = systems.lagged(inputs)
    np.testing.assert_array_equal(lags[0], inputs[9::-1])
    past, future = outputs[9:200], outputs[200:]
    paths = systems.WAYS[systems.ARX](lags, past, len(future), 0)
    np.testing.assert_allclose(paths, np.tile(future, (len(paths), 1)), atol=1e-6)


def test_simulations_beyond_all_bounds_are_held():
    """An unstable recursion, y(t) = 2 y(t-1), stops at ten standard deviations."""
    past = np.array([0.0, 1.0])
    paths = systems._rolled(lambda x: 2 * x[:, 0], np.zeros((30, 1)), past, np.zeros((1, 30)), 1)
    np.testing.assert_allclose(paths[0, :2], [2.0, 4.0])
    assert paths.max() == past.mean() + 10 * past.std()


@pytest.mark.usefixtures("_data")
def test_ways_simulate_a_dryer(tmp_path, monkeypatch):
    """All but the constant have less than a third of its error; the published figures stand in the table."""
    monkeypatch.setattr(systems, "N_PATHS", 50)
    with threadpool_limits(1):
        rows = systems.run_cell("dryer", 0)
    errors = {row["way"]: row["RMSE"] for row in rows}
    assert all(error < errors[systems.CONSTANT] / 3 for way, error in errors.items() if way != systems.CONSTANT)
    text = systems.table(rows)
    assert "| *PR-SSM* | *0.140* |" in text
    monkeypatch.setitem(systems.WAYS, systems.OURS, systems.WAYS[systems.ARX])
    for path in systems.figure(("dryer",), tmp_path):
        assert path.stat().st_size > 5000
