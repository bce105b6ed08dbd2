"""The prior of stacked GPs. Oracles: the covariance of a GP, and the formula of the shift."""

import numpy as np

from semigp.core.exact.certain import log_priors
from semigp.core.layers.stack import Stack

GROUPS = np.array([0, 1, 1])


def test_without_weights_layers_are_the_identity(random):
    stack = Stack.drawn(GROUPS, 3, random)
    position = stack.start(log_priors(2)[0], random)
    position[stack.n_of_last :] = 0.0
    inputs = random.normal(size=(5, 3))
    for layer in stack.layers(position):
        np.testing.assert_array_equal(layer(inputs), inputs)


def test_a_start_has_the_parameters_of_one_layer(random):
    """To rounding: logarithms come back from standard units."""
    free = log_priors(2)[0] + random.normal(size=5)
    stack = Stack.drawn(GROUPS, 2, random)
    unknowns = stack.read(stack.start(free, random))
    np.testing.assert_allclose(unknowns.kernel.lengthscales, np.r_[np.exp(free[GROUPS]), [1e8] * 3], rtol=1e-12)
    np.testing.assert_allclose(unknowns.kernel.linear, np.r_[[1e-16] * 3, np.exp(free[2 + GROUPS])], rtol=1e-12)
    np.testing.assert_allclose(unknowns.noise, np.exp(free[4]), rtol=1e-12)


def test_the_last_gp_is_told_in_logarithms_as_it_is_read(random):
    """Oracle: the kernel that the density is computed with, to rounding."""
    stack = Stack.drawn(GROUPS, 3, random)
    position = random.normal(size=stack.size)
    (logs, groups), unknowns = stack.of_last(position), stack.read(position)
    lengthscales, linear = np.exp(logs[:4])[groups], np.exp(logs[4:8])[groups]
    np.testing.assert_allclose(lengthscales, unknowns.kernel.lengthscales, rtol=1e-12)
    np.testing.assert_allclose(linear, unknowns.kernel.linear, rtol=1e-12)
    np.testing.assert_allclose(np.exp(logs[8:]), [unknowns.noise], rtol=1e-12)


def test_hidden_layers_are_gps_whose_mean_is_the_identity(random):
    """The covariance of shifts over 4000 stacks is a² ℓ² exp(-½ |x - x'|²/λ²), within five standard errors.

    A product of two normal numbers with variance v has a variance of at most 2v², and of 3v² where cosines vary, too.
    """
    inputs, shifts = np.array([[0.0, 0.0], [0.9, -0.5], [3.0, 1.0]]), []
    for _ in range(4000):
        stack = Stack.drawn(np.arange(2), 2, random)
        position = np.zeros(stack.size)
        position[-stack.sizes[2] :] = random.normal(size=stack.sizes[2])
        shifts.append(stack.layers(position)[0](inputs) - inputs)
    unknowns = stack.read(position)
    bend, scale = unknowns.bends[0], unknowns.kernel.lengthscales[0]
    variance = (bend.amplitudes[0] * scale) ** 2
    apart = np.sum(((inputs[:, None] - inputs) / bend.lengthscales) ** 2, axis=2)
    found = np.einsum("sak,sbk->kab", shifts, shifts) / len(shifts)
    error = np.sqrt(3.0 / len(shifts)) * variance
    np.testing.assert_allclose(found, np.stack([variance * np.exp(-0.5 * apart)] * 2), atol=5 * error)
    np.testing.assert_allclose(np.mean(shifts, axis=0), 0.0, atol=5 * np.sqrt(variance / len(shifts)))


def test_many_inputs_are_bent_in_eight_directions(random):
    stack = Stack.drawn(np.arange(20), 2, random)
    np.testing.assert_allclose(stack.directions @ stack.directions.T, np.eye(8), atol=1e-12)
    position = random.normal(size=stack.size)
    scales = stack.read(position).kernel.lengthscales[:20]
    inputs = random.normal(size=(30, 20))
    shifts = (stack.layers(position)[0](inputs) - inputs) / scales
    assert np.linalg.matrix_rank(shifts) == 8
