"""The density of a stack's unknowns. Oracles: SciPy's normal density, differences, and the GP with one layer."""

import numpy as np
import pytest
import scipy.stats

from semigp.core.exact.certain import fit_hyperparameters
from semigp.core.layers.density import StackDensity
from semigp.core.layers.hidden import through
from semigp.core.layers.stack import Stack

GROUPS = np.array([0, 1, 1])


@pytest.fixture
def table(random):
    inputs = random.normal(size=(12, 3))
    return inputs, np.column_stack([np.sin(2 * inputs[:, 0]) + inputs[:, 1], inputs[:, 2] ** 2])


def test_evidence_of_the_last_gp(table, random):
    """log N(y; 0, s(K + rI)) at the best s is the value, plus -n/2 (1 + log 2π), less the prior: to rounding, 1e-9."""
    inputs, outputs = table[0], table[1][:, :1]
    stack = Stack.drawn(GROUPS, 3, random)
    position = 0.5 * random.normal(size=stack.size)
    value, _ = StackDensity(stack, inputs, outputs)(position)
    kernel, noise = stack.read(position).kernel, stack.read(position).noise
    points = through(stack.layers(position), inputs)
    covariance = kernel(points, points) + (noise + 1e-6) * np.eye(12)
    scale = float(outputs[:, 0] @ np.linalg.solve(covariance, outputs[:, 0])) / 12
    expected = scipy.stats.multivariate_normal(np.zeros(12), scale * covariance).logpdf(outputs[:, 0])
    expected += 6.0 * (1.0 + np.log(2.0 * np.pi)) - 0.5 * position @ position
    assert value == pytest.approx(expected, abs=1e-5)  # 1e-6 is added to s


def test_rows_without_outputs_do_not_count(table, random):
    """Nor do those that one output lacks, for that output: the density of each by itself, and the prior once."""
    inputs, outputs = table
    stack = Stack.drawn(GROUPS, 2, random)
    position = 0.5 * random.normal(size=stack.size)
    holes = outputs.copy()
    holes[:3, 0] = np.nan
    found, _ = StackDensity(stack, inputs, holes)(position)
    apart = [StackDensity(stack, inputs[k:], outputs[k:, [j]])(position)[0] for j, k in enumerate((3, 0))]
    assert found == pytest.approx(sum(apart) + 0.5 * position @ position, rel=1e-9)


@pytest.mark.parametrize("n_layers", [2, 3])
@pytest.mark.parametrize("is_missing", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_gradient(table, random, n_layers, is_missing, shared):
    """Central differences with steps of 1e-5: 1e-6 of the largest slope."""
    inputs, outputs = table
    if is_missing:
        outputs[:3, 0], outputs[5, 1] = np.nan, np.nan
    density = StackDensity(Stack.drawn(GROUPS, n_layers, random), inputs, outputs, shared)
    position = 0.5 * random.normal(size=density.stack.size)
    _, gradient = density(position)
    some = np.r_[np.arange(14), random.integers(density.stack.size, size=12)]
    steps = 1e-5 * np.eye(density.stack.size)[some]
    differences = [(density(position + step)[0] - density(position - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient[some], differences, atol=1e-6 * np.abs(gradient).max())


def test_without_weights_it_is_the_gp_with_one_layer(table, random):
    """The identity start: what `fit_hyperparameters` has found, to its eight decimals."""
    one = fit_hyperparameters(*table, GROUPS, None, 30)
    stack = Stack.drawn(GROUPS, 2, random)
    position = stack.start(one.free, random)
    position[stack.n_of_last :] = 0.0
    assert StackDensity(stack, *table)(position)[0] == pytest.approx(one.log_evidence, abs=2e-8)


def test_far_from_the_prior_the_density_is_zero(table, random):
    stack = Stack.drawn(GROUPS, 2, random)
    value, gradient = StackDensity(stack, *table)(np.full(stack.size, 21.0))
    assert value == -np.inf
    np.testing.assert_array_equal(gradient, 0.0)
