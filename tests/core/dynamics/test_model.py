"""The bound of a state-space model.

Oracles: quadrature over the joint Gaussian of two steps for the statistics, and, with linear kernels of which the
weights are certain, the Kalman smoother: the bound at its answer is the exact log evidence, and nothing is higher.
"""

from dataclasses import replace

import jax
import numpy as np
import pytest

from semigp.core.dynamics.chain import Chain, ChainMoves, reference_of
from semigp.core.dynamics.fit import in_own_groups
from semigp.core.dynamics.linear import LinearModel
from semigp.core.dynamics.model import StateData, StateFunction, objective, transition_statistics
from semigp.core.dynamics.start import make_data
from semigp.core.kernels import RBF, Linear
from semigp.core.sparse.targets import Targets
from tests import oracles
from tests.core.dynamics.systems import A, B, C, Q, R, certain_model, series


def test_statistics_of_uncertain_increments(x64, random):
    """Σ E[k(z, x_{t-1}) d_t] and Σ E[d_t²] by Gauss-Hermite quadrature over (x_{t-1}, x_t), to rounding."""
    kernel, inducing = RBF(1.3, np.array([0.9, 1.2])) + Linear(np.array([0.4, 0.7])), random.normal(size=(4, 2))
    chain = Chain(random.normal(size=(3, 1)), np.array([0.0, 0.7, -0.4])[:, None, None], np.full((3, 1, 1), 0.5))
    covariances, inputs = np.asarray(chain.covariances()), random.normal(size=(3, 1))
    is_first = np.array([True, False, False])
    data = StateData(inputs, None, is_first, ~is_first, None, {}, 0.0)
    function = StateFunction(kernel, inducing, np.ones(1), np.ones(1))
    found = transition_statistics(function, chain, covariances, data)
    plain = oracles.add(oracles.rbf(1.3, np.array([0.9, 1.2])), oracles.linear(np.array([0.4, 0.7])))
    cross, square = np.zeros(4), 0.0
    for t in (1, 2):
        before, slope = covariances[t - 1, 0, 0], chain.transition[t, 0, 0]
        joint = np.array([[before, slope * before], [slope * before, covariances[t, 0, 0]]])
        points, weights = oracles.hermite_grid(chain.mean[t - 1 : t + 1, 0], joint)
        rows = np.column_stack([points[:, 0], np.full(len(points), inputs[t, 0])])
        increments = points[:, 1] - points[:, 0]
        cross += oracles.gram(plain, rows, inducing).T @ (weights * increments)
        square += weights @ increments**2
    np.testing.assert_allclose(found.psi1_y[:, 0], cross, rtol=1e-9)
    np.testing.assert_allclose(found.y_square, square, rtol=1e-9)
    np.testing.assert_array_equal(found.counts, [2.0])


@pytest.fixture
def kalman(random):
    """Model, data at the Kalman smoother's answer, statistics that make the model certain, and log p(y)."""
    values, inputs = series(random)
    is_first = np.arange(len(values)) == 0
    linear = LinearModel(A, np.column_stack([B, np.zeros(2)]), np.column_stack([C, np.zeros(2)]), Q, R)
    data = make_data(values, inputs, is_first, linear.smoothed(values, inputs, is_first))
    data = replace(data, targets=in_own_groups(data.targets), hyperpriors={}, jitter=np.asarray(1e-12))
    model, extra = certain_model(ChainMoves.none(len(data.inputs), 2), random)
    return model, data, extra, oracles.linear_states(A, B, C, Q, R, values, inputs)[2]


def _bound(model, data, extra):
    """The bound of these series, given the others: that of all, less that of the others."""
    others = model.transition.bound(extra[0], data.jitter) + model.observation.bound(extra[1], data.jitter)
    return objective(model, data, extra) - others


def test_bound_is_the_evidence_of_a_known_linear_system(x64, kalman):
    """Rounding: β yᵀy of 1e8 made-up rows is about 1e10, of which float64 keeps 1e-6; 1e-4 leaves room for sums."""
    model, data, extra, evidence = kalman
    np.testing.assert_allclose(_bound(model, data, extra), evidence, atol=1e-4)


def test_answer_of_the_kalman_smoother_is_the_optimum(x64, kalman, random):
    """Slopes vanish there, and any move costs."""
    model, data, extra, evidence = kalman
    slopes = jax.grad(lambda moves: objective(replace(model, states=moves), data, extra))(model.states)
    for slope in jax.tree.leaves(slopes):
        assert np.abs(slope[data.is_real]).max() < 1e-5
    moves = jax.tree.map(lambda part: 0.1 * random.normal(size=part.shape), model.states)
    assert _bound(replace(model, states=moves), data, extra) < evidence - 0.1


def test_padding_changes_nothing(x64, kalman):
    model, data, extra, _ = kalman
    n, real = int(np.sum(data.is_real)), np.asarray(data.is_real)
    assert n < len(real)
    targets, chain = data.targets, data.reference.chain
    short = Chain(chain.mean[real], chain.transition[real], chain.factor[real])
    cut = replace(
        data, inputs=data.inputs[real], is_first=data.is_first[real], is_real=real[real],
        targets=Targets(targets.values[real], targets.weights[real], targets.group),
        reference=reference_of(short, np.asarray(short.covariances()), np.asarray(data.is_first)[real]),
    )  # fmt: skip
    whole = _bound(model, data, extra)
    np.testing.assert_allclose(_bound(replace(model, states=ChainMoves.none(n, 2)), cut, extra), whole, atol=1e-5)
