"""The fit: with linear functions that are certain, a search from elsewhere ends at the Kalman smoother's answer."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from semigp.core.dynamics import fit as fitting
from semigp.core.dynamics.chain import ChainMoves
from semigp.core.dynamics.linear import LinearModel
from semigp.core.dynamics.start import make_data, start
from semigp.core.inputs.beliefs import InputBelief
from semigp.core.numerics.precision import in_float64
from semigp.core.sparse.targets import Targets
from tests import oracles
from tests.core.dynamics.systems import A, B, C, Q, R, certain_model, series


def test_new_series_get_the_states_of_the_kalman_smoother(random):
    values, inputs = series(random)
    is_first = np.arange(len(values)) == 0
    # The reference is the answer of another model.
    wrong = LinearModel(0.5 * A, np.zeros((2, 2)), np.column_stack([0.7 * C, np.zeros(2)]), 3.0 * Q, 2.0 * R)
    data = make_data(values, inputs, is_first, wrong.smoothed(values, inputs, is_first))
    data = replace(data, hyperpriors={}, jitter=np.asarray(1e-10))
    moves = ChainMoves.none(len(data.inputs), 2)
    model, extra = in_float64(lambda: certain_model(moves, np.random.default_rng(1), 10**4))()
    found = fitting.infer(model, data, extra)
    mean, covariance, _ = oracles.linear_states(A, B, C, Q, R, values, inputs)
    # The search ends where the bound gains less than 1e-7 of its size, some 1e-3 nats: .03 of a standard deviation.
    np.testing.assert_allclose(found.chain.mean[: len(values)], mean, atol=0.02)
    for t in range(len(values)):
        np.testing.assert_allclose(found.covariances[t], covariance[t, :, t], atol=0.01)


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    values = np.sin(np.arange(60) / 3)[:, None] + 0.1 * random.normal(size=(60, 1))
    begin = start(values, values, np.zeros((60, 0)), np.arange(60) == 0, 2, 8, 1e-2, 0)
    return begin, fitting.fit(*begin, 30)


def test_rebasing_changes_nothing(fitted):
    """The bound is the same at the new reference, to rounding."""
    (model, data), _ = fitted
    moved = replace(model, states=replace(model.states, mean=0.1 + model.states.mean))
    values = []
    for some, known in ((moved, data), fitting.rebased(moved, data)):
        values.append(float(in_float64(fitting.objective)(some, known)))
    np.testing.assert_allclose(values[0], values[1], rtol=1e-9)


def test_rounds(fitted):
    (begin, _), (found, report) = fitted
    (held, _), (model, _) = found
    assert [name for name, *_ in report.stages] == [
        "held signal-to-noise", "held process noise", "held process noise, again", "all",
    ]  # fmt: skip
    np.testing.assert_allclose(held.transition.noise_variance, begin.transition.noise_variance, rtol=1e-12)
    assert (np.abs(model.transition.noise_variance / begin.transition.noise_variance - 1.0) > 1e-3).all()
    assert (np.diff(report.trace) > -1e-6).all()
    # The noise that was added has a variance of .01, in units of a series of variance .5.
    assert 0.004 < model.observation.noise_variance[0] < 0.025


def test_hidden_steps_are_as_if_they_were_not_there(fitted):
    """The oracle is the same chain, cut off: its bound, and the functions that it gives."""
    _, ((_, (model, data)), _) = fitted
    hidden = data.without(np.arange(60) >= 40)

    def first(part):
        return jax.tree.map(lambda rows: rows[:40], part)

    targets = Targets(data.targets.values[:40], data.targets.weights[:40], data.targets.group)
    names = ("inputs", "is_first", "is_real", "reference")
    short = replace(data, targets=targets, **{name: first(getattr(data, name)) for name in names})
    shorter = replace(model, states=first(model.states))
    values = [float(in_float64(fitting.objective)(*each)) for each in ((model, hidden), (shorter, short))]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-10)
    points = InputBelief(np.array([[0.5, -1.0], [0.0, 0.3]]), np.zeros((2, 2)))
    seen = [fitting.answer(*each).observation.predict(points) for each in ((model, hidden), (shorter, short))]
    np.testing.assert_allclose(seen[0], seen[1], rtol=1e-6)


def _exchanged(model, data):
    """The two outputs in the other order."""
    some, targets = model.observation, data.targets
    some = replace(some, noise_variance=some.noise_variance[::-1], output_scale=some.output_scale[::-1])
    other = Targets(targets.values[:, ::-1], targets.weights, targets.group[::-1])
    return replace(model, observation=some), replace(data, targets=other)


def test_an_old_series_counts_for_the_outputs_that_it_has(random):
    """A new one has both outputs everywhere, so that these are one group there: their order must not matter. 2e-3, as
    the search amplifies rounding; with statistics of one group for both it is 4."""
    steps = np.arange(40)
    values = np.column_stack([np.sin(steps / 3), np.cos(steps / 3) ** 2]) + 0.1 * random.normal(size=(40, 2))
    holes = np.where((steps < 30)[:, None] & [False, True], np.nan, values)
    more = values, np.zeros((40, 0)), steps == 0, 2, 8, 1e-2, 0
    (model, old), (_, new) = start(holes, *more), start(values[::-1].copy(), *more)
    means = []
    for exchanged in (lambda *pair: pair, _exchanged):
        extra = fitting.statistics(*exchanged(model, old))
        means.append(fitting.infer(*exchanged(model, new), extra).chain.mean)
    np.testing.assert_allclose(means[1], means[0], atol=2e-3)
