"""L-BFGS on a tree of parameters. Oracle: quadratic functions, whose optimum is known; nothing is compiled."""

import numpy as np

from semigp.core.search.lbfgs import maximise
from semigp.core.search.stages import Stage

BEST = {"a": np.array([1.0, -2.0]), "b": np.array([[0.5]])}
SCALE = {"a": np.array([1.0, 30.0]), "b": np.array([[4.0]])}
START = {name: np.zeros_like(value) for name, value in BEST.items()}


def loss(free):
    """½ Σ s (x - best)² and its gradient."""
    apart = {name: free[name] - BEST[name] for name in BEST}
    value = sum(0.5 * np.sum(SCALE[name] * apart[name] ** 2) for name in BEST)
    return value, {name: SCALE[name] * apart[name] for name in BEST}


def test_the_optimum_and_its_report():
    """The gradient ends below 1e-6, so that x is good to 1e-6."""
    found, report = maximise(loss, START, [Stage("all", 100)], 0.0)
    for name, value in BEST.items():
        np.testing.assert_allclose(found[name], value, atol=1e-6)
        assert found[name].shape == value.shape
    assert report.status == "converged"
    assert report.bound == report.trace[-1] == max(report.trace)
    assert report.stages == (("all", "converged", len(report.trace)),)


def test_held_parameters_stay_and_the_next_stage_moves_them():
    held, _ = maximise(loss, START, [Stage("a", 100, ("b",))], 0.0)
    np.testing.assert_array_equal(held["b"], START["b"])
    np.testing.assert_allclose(held["a"], BEST["a"], atol=1e-6)
    found, report = maximise(loss, START, [Stage("a", 100, ("b",)), Stage("all", 100)], 0.0)
    np.testing.assert_allclose(found["b"], BEST["b"], atol=1e-6)
    assert [name for name, *_ in report.stages] == ["a", "all"]


def test_where_the_loss_is_no_number_there_is_a_wall():
    """-log x + x, which is no number below 0, from where the first step would go there; its optimum is 1."""

    def guarded(free):
        x = free[0]
        return (x - np.log(x), np.array([1 - 1 / x])) if x > 0 else (np.nan, np.array([np.nan]))

    found, report = maximise(guarded, np.array([6.0]), [Stage("all", 100)], 0.0)
    np.testing.assert_allclose(found, 1.0, atol=1e-5)
    assert report.status == "converged"
    assert maximise(guarded, np.array([-1.0]), [Stage("all", 100)], 0.0)[1].status == "failed"


def test_a_callback_ends_it_with_the_best_so_far():
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == 2

    found, report = maximise(loss, START, [Stage("one", 100), Stage("two", 100)], 0.0, stop)
    assert report.status == "interrupted"
    assert report.stages == (("one", "interrupted", 2),)
    assert [(p.stage, p.iteration, p.max_iterations) for p in seen] == [("one", 1, 100), ("one", 2, 100)]
    assert -loss(found)[0] == report.bound == seen[-1].bound
