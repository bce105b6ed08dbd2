"""What estimators say of their fits: whole seconds, all or nothing, noise as a field. Oracles: clocks and counters."""

import time
from dataclasses import replace

import numpy as np
import pytest

from semigp import GPForecaster, GPImputer, SemiDescribedGPRegressor, SemiSupervisedGPClassifier
from semigp.core.search.report import FitReport, Progress, with_signal_to_noise
from semigp.estimators.common.reports import Stopwatch, joint_report, warn_of, worst
from semigp.estimators.few_labels import classifier as few_labels
from semigp.estimators.forecasting import series_model


def _report(status="converged", **changes):
    report = FitReport(status, "Told.", 1.0, np.array([0.0, 1.0]), 3, 0.5, (("all", status, 2),), np.array([2.0]))
    return replace(report, **changes)


def test_joint_report_has_the_stages_of_its_parts_and_no_others():
    both = joint_report([_report(), _report("stalled", bound=3.0)])
    assert both.status == "stalled"
    assert both.stages == (("all, draw 1", "converged", 2), ("all, draw 2", "stalled", 2))
    assert (both.bound, both.evaluations) == (2.0, 6)
    assert not both.is_all_noise


def test_the_worst_status_counts():
    assert worst([_report(), _report("failed"), _report("iteration limit")]).status == "failed"


@pytest.mark.parametrize(("ratio", "is_all_noise"), [([0.05, 0.01], True), ([0.05, 5.0], False)])
def test_all_noise_is_a_field(ratio, is_all_noise):
    report = with_signal_to_noise(_report(), np.array(ratio))
    assert report.is_all_noise == is_all_noise
    assert ("explained as noise" in report.message) == is_all_noise
    if is_all_noise:
        with pytest.warns(UserWarning, match="explained as noise"):
            warn_of(report)
        warn_of(report, is_noise_wrong=False)  # warnings are errors here
    else:
        warn_of(report)


def test_stopwatch_counts_from_the_beginning_of_the_fit():
    watch, told = Stopwatch(), []
    time.sleep(0.02)
    watch.told_to(told.append)(Progress("all", 1, 2, 0.0, seconds=0.0))
    assert told[0].seconds >= 0.02
    assert watch.noted_in(_report()).seconds >= told[0].seconds
    assert watch.told_to(None) is None


@pytest.mark.filterwarnings("ignore:The iteration limit")
@pytest.mark.parametrize("form", ["particles", "mixture"])
def test_seconds_of_a_fit_and_of_its_progress_are_those_of_the_whole(form):
    """The callback's clock never runs backwards, over draws and stages; the report has the time of `fit`."""
    random, told = np.random.default_rng(0), []
    X = random.normal(size=(30, 2))
    y = np.sin(X[:, 0]) + X[:, 1]
    X[::4, 0] = np.nan

    def callback(progress):
        told.append(progress)

    model = SemiDescribedGPRegressor(posterior=form, n_draws=2, max_iter=3, callback=callback, random_state=0)
    started = time.perf_counter()
    model.fit(X, y)
    elapsed = time.perf_counter() - started
    seconds = [progress.seconds for progress in told]
    assert seconds == sorted(seconds)
    assert 0.8 * elapsed < model.fit_report_.seconds <= elapsed
    assert seconds[-1] <= model.fit_report_.seconds


def test_imputer_reports(random):
    table = random.normal(size=(30, 3))
    table[:5, 0] = np.nan
    told = []
    model = GPImputer(4, max_iter=4, callback=told.append, random_state=0).fit(table)
    assert [(now.iteration, now.max_iterations) for now in told] == [(i + 1, 8) for i in range(8)]  # two chains
    assert model.fit_report_.status == "converged"
    assert model.bound_ == model.fit_report_.bound
    assert model.bound_ in [now.bound for now in told]
    assert model.sample().shape == (4, 30, 3)


def _break(*_, **__):
    raise RuntimeError("broken in the middle")


def test_relabel_is_all_or_nothing(monkeypatch):
    random = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [3.0, 3.0]], 10, axis=0) + 0.1 * random.normal(size=(20, 2))
    y = np.full(20, -1)
    y[[0, 10]] = 0, 1
    model = SemiSupervisedGPClassifier(1, max_iter=3, random_state=0).fit(X, y)
    expected = model.predict(X)
    others = np.full(20, None, object)
    others[[0, 10]] = "left", "right"
    monkeypatch.setattr(few_labels, "LabelMixture", _break)
    with pytest.raises(RuntimeError, match="broken in the middle"):
        model.relabel(others)
    assert model.classes_.tolist() == [0, 1]
    monkeypatch.undo()
    np.testing.assert_array_equal(model.predict(X), expected)
    assert set(model.relabel(others).predict(X)) == {"left", "right"}


def test_update_is_all_or_nothing(monkeypatch):
    series = np.sin(np.arange(40) / 3)
    model = GPForecaster(window=3, random_state=0).fit(series)
    expected = model.forecast(3, n_paths=20).mean
    monkeypatch.setattr(series_model, "features", _break)
    with pytest.raises(RuntimeError, match="broken in the middle"):
        model.update([0.1, 0.2])
    monkeypatch.undo()
    np.testing.assert_array_equal(model.forecast(3, n_paths=20).mean, expected)
