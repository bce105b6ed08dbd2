"""Fits: what they find, why they stop, and what they cost to compile."""

import dataclasses

import jax
import numpy as np
import pytest
import scipy.optimize

from semigp.core import RBF, InputBelief, collapsed_bound
from semigp.core.numerics.precision import in_float64
from semigp.core.search.report import FitReport
from semigp.core.search.stages import Stage
from semigp.core.sparse.fit import SIGNAL_AND_NOISE, constrain, fit, fit_restarts, unconstrain
from semigp.core.sparse.model import input_belief, make_data, objective, posterior, start
from tests import oracles

STATUSES = {"converged", "iteration limit", "stalled", "interrupted", "failed"}


def rows(n, seed=0, missing=0.3):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 2))
    y = np.stack([np.sin(1.5 * x[:, 0]) + x[:, 1], np.cos(1.5 * x[:, 0]), x[:, 1]], axis=1)
    holes = np.where(random.random(x.shape) < missing, np.nan, x)
    return x, holes, y + 0.05 * random.normal(size=y.shape)


def problem(n=40, seed=0, missing=0.3):
    x, holes, y = rows(n, seed, missing)
    data = make_data(holes, y)
    return start(data, RBF(1.0, np.ones(2)), x[:8], np.full(3, 0.1), np.ones(3)), data


def test_finds_the_exact_gp_optimum(random):
    """Oracle: SciPy's Nelder-Mead on the exact GP's likelihood, which the bound is with Z held at X."""
    x = random.uniform(-2, 2, (15, 1))
    y = np.sin(2 * x) + 0.1 * random.normal(size=x.shape)

    def loss(log_parameters):
        variance, lengthscale, noise = np.exp(log_parameters)
        k = oracles.gram(oracles.rbf(variance, np.array([lengthscale])), x, x)
        return -oracles.exact_gp(k, k, np.diagonal(k), y[:, 0], noise)[2]

    options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000, "maxfev": 5000}
    best = scipy.optimize.minimize(loss, np.log([1.0, 1.0, 0.1]), method="Nelder-Mead", options=options)
    data = make_data(x, y, jitter=1e-8)
    model = start(data, RBF(1.0, np.ones(1)), x, 0.1)
    fitted, report = fit(model, data, [Stage("all", 500, ("inducing_inputs", "output_scale"))], tolerance=1e-9)
    assert report.status == "converged"
    np.testing.assert_allclose(report.bound, -best.fun, rtol=1e-5)  # the jitter costs 4e-6
    found = [fitted.kernel.variance, fitted.kernel.lengthscale[0], fitted.noise_variance]
    np.testing.assert_allclose(found, np.exp(best.x), rtol=1e-2)


def test_recovers_missing_inputs():
    """Oracle: the values that were taken out. Smooth outputs determine them to about the noise over the slope."""
    x, holes, y = rows(80)
    data = make_data(holes, y)
    model, report = fit(start(data, RBF(1.0, np.ones(2)), x[:15], np.full(3, 0.1), np.ones(3)), data)
    belief, missing = input_belief(model, data), np.isnan(holes).any(axis=1)
    error = (belief.mean - x[missing])[np.isnan(holes[missing])]
    assert np.median(np.abs(error)) < 0.1
    assert report.bound > 0


def test_report():
    model, data = problem()
    seen = []
    _, report = fit(model, data, [Stage("one", 3), Stage("two", 4)], callback=seen.append)
    assert isinstance(report, FitReport)
    assert report.status == "iteration limit"
    assert "allow more iterations" in report.message
    assert report.stages == (("one", "iteration limit", 3), ("two", "iteration limit", 4))
    assert [p.stage for p in seen] == ["one"] * 3 + ["two"] * 4
    assert [p.iteration for p in seen] == [1, 2, 3, 1, 2, 3, 4]
    np.testing.assert_array_equal(report.trace, [p.bound for p in seen])
    assert np.all(np.diff(report.trace) >= 0)
    assert report.evaluations >= 7
    assert report.seconds > 0
    np.testing.assert_allclose(report.trace[-1], report.bound)


def test_held_parameters_do_not_move():
    model, data = problem()
    fitted, _ = fit(model, data, [Stage("held", 5, SIGNAL_AND_NOISE)])
    np.testing.assert_allclose(fitted.noise_variance, model.noise_variance, rtol=1e-14)
    np.testing.assert_allclose(fitted.output_scale, model.output_scale, rtol=1e-14)
    np.testing.assert_allclose(fitted.kernel.variance, model.kernel.variance, rtol=1e-14)
    assert not np.allclose(fitted.kernel.lengthscale, model.kernel.lengthscale)
    assert not np.allclose(fitted.mean, model.mean)


@pytest.mark.parametrize("how", ["callback", "keyboard"])
def test_interruption_keeps_the_best_so_far(how):
    model, data = problem()

    def stop(progress):
        if progress.iteration == 5:
            if how == "keyboard":
                raise KeyboardInterrupt
            return True
        return None

    fitted, report = fit(model, data, callback=stop)
    assert report.status == "interrupted"
    assert len(report.trace) == 5
    np.testing.assert_allclose(in_float64(jax.jit(objective))(fitted, data), report.bound, rtol=1e-9)
    assert report.bound == report.trace.max()


def test_deterministic_and_restarts_chosen_by_the_bound():
    model, data = problem()
    stages = [Stage("all", 15)]
    first, second = fit(model, data, stages), fit(model, data, stages)
    jax.tree.map(np.testing.assert_array_equal, first[0], second[0])
    worse = dataclasses.replace(model, noise_variance=np.full(3, 50.0))
    _, report = fit_restarts([worse, model], data, stages)
    assert report.restart_bounds[1] == first[1].bound
    assert report.bound == max(report.restart_bounds)


def test_failure_at_the_start_is_a_status_not_a_crash():
    model, data = problem()
    broken = dataclasses.replace(model, inducing_inputs=np.full_like(model.inducing_inputs, np.nan))
    _, report = fit(broken, data)
    assert report.status == "failed"
    assert "not a number at the start: the jitter or the noise variance is too small for float64" in report.message


def test_too_little_jitter_is_a_failure_not_a_triumph(random):
    """Rounding in an ill-conditioned K_uu can add millions of nats to the bound; then there is none."""
    x = random.uniform(-2, 2, (30, 1))
    data = make_data(x, np.sin(x), jitter=1e-12)
    assert fit(start(data, RBF(1.0, np.ones(1)), x[:20], 1e-4), data)[1].status == "failed"


def test_steps_into_nothing_are_survived(random):
    """Noise-free data drive the noise to where float64 ends: the fit stays on this side of it."""
    x = random.uniform(-2, 2, (30, 1))
    data = make_data(x, np.sin(x))
    fitted, report = fit(start(data, RBF(1.0, np.ones(1)), x[:20], 1e-4), data)
    # 30 values of noise variance σ² cannot have more than the density at a perfect fit
    assert report.bound < -15 * np.log(2 * np.pi * fitted.noise_variance) + 0.1
    assert report.status in STATUSES - {"failed"}
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(fitted))
    mean, variance = posterior(fitted, data).predict(InputBelief.observed(x))
    np.testing.assert_allclose(mean, np.sin(x), atol=1e-3)
    assert np.all(variance >= 0)


def test_unconstrained_parameters_are_logarithms():
    model, _ = problem()
    free = unconstrain(model)
    np.testing.assert_allclose(free.noise_variance, np.log(0.1), rtol=1e-6)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), constrain(free), model)


def test_one_compilation_for_nearly_one_shape():
    """Other data with holes in other rows, a few more of them, compile nothing: filled up to 32 and 16 rows."""

    def with_holes(seed):
        x, _, y = rows(40, seed)
        random, n_holes = np.random.default_rng(seed), 12 + 3 * seed
        x[random.permutation(40)[:n_holes], random.integers(0, 2, n_holes)] = np.nan
        data = make_data(x, y)
        return start(data, RBF(1.0, np.ones(2)), np.eye(2), 0.1), data

    compiled = []
    listener = lambda name, duration, **_: compiled.append(name) if "backend_compile" in name else None  # noqa: E731
    fit(*with_holes(0), [Stage("all", 2)])
    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        fit(*with_holes(1), [Stage("all", 2)])
        assert compiled == []
        fit(*problem(41, missing=0.0), [Stage("all", 1)])
        assert len(compiled) >= 1  # the listener does listen
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)


def test_fitted_bound_is_the_public_bound():
    x, _, y = rows(30, missing=0.0)
    data = make_data(x, y)
    model, report = fit(start(data, RBF(1.0, np.ones(2)), x[:8], 0.1), data, [Stage("all", 20)])
    bound = collapsed_bound(
        model.kernel, InputBelief.observed(x), model.inducing_inputs, y, model.noise_variance,
        output_scale=model.output_scale,
    )  # fmt: skip
    # exp(log θ) is not quite θ, and K_uu's condition of 1e6 amplifies what is left
    np.testing.assert_allclose(report.bound, bound, rtol=1e-7)


def test_stages_are_checked():
    model, data = problem()
    for stages, sentence in [
        ([], "stages is empty"),
        ([Stage("x", 0)], "max_iterations of stage 'x' is 0; it must be a whole number, 1 or more"),
        ([Stage("x", 1, ("noise",))], "Stage 'x' holds 'noise', which matches no parameter; there are kernel.variance"),
        ([Stage("x", 1, ("*",))], "Stage 'x' holds everything"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            fit(model, data, stages)
    with pytest.raises(ValueError, match="models is empty"):
        fit_restarts([], data)


def test_an_interrupt_ends_all_restarts():
    model, data = problem()
    _, report = fit_restarts([model] * 3, data, callback=lambda progress: True)
    assert report.status == "interrupted"
    assert len(report.restart_bounds) == 1


def test_a_fit_that_finds_only_noise_says_so(random):
    data = make_data(random.normal(size=(40, 1)), random.normal(size=(40, 2)))
    model = start(data, RBF(0.01, np.ones(1)), np.zeros((1, 1)), np.ones(2))
    _, report = fit(model, data, [Stage("noise", 3, SIGNAL_AND_NOISE)])
    np.testing.assert_allclose(report.signal_to_noise, [0.01, 0.01], rtol=1e-12)
    assert "Nearly everything is explained as noise" in report.message
    assert "noise" not in fit(*problem(), [Stage("all", 2)])[1].message
