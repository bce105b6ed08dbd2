"""Hamiltonian Monte Carlo. Oracle: the moments of a Gaussian."""

import numpy as np

from semigp.core.layers.hamiltonian import Hamiltonian

PRECISIONS = np.array([1.0, 4.0, 0.5])


def _gaussian(mean):
    return lambda u: (-0.5 * float(np.sum(PRECISIONS * (u - mean) ** 2)), -PRECISIONS * (u - mean))


def _draws(sampler, count):
    found = []
    for _ in range(count):
        sampler.advance(is_adapting=False)
        found.append(sampler.position)
    return np.array(found)


def test_moments_of_a_gaussian(random):
    """3000 draws of three independent numbers. Batch means of 100 draws give the standard errors: five of them."""
    sampler = Hamiltonian(_gaussian(np.array([1.0, -2.0, 0.0])), np.zeros(3), random)
    for _ in range(200):
        sampler.advance(is_adapting=True)
    draws = _draws(sampler, 3000)
    for values, expected in ((draws, [1.0, -2.0, 0.0]), ((draws - [1.0, -2.0, 0.0]) ** 2, 1.0 / PRECISIONS)):
        batches = values.reshape(30, 100, 3).mean(axis=1)
        error = batches.std(axis=0, ddof=1) / np.sqrt(30)
        assert np.all(np.abs(values.mean(axis=0) - expected) < 5.0 * error)


def test_the_step_is_adapted_until_four_of_five_are_accepted(random):
    """Accepted proposals move. Over 500 of them the share has a standard error of .02."""
    sampler = Hamiltonian(_gaussian(np.zeros(3)), np.zeros(3), random)
    for _ in range(300):
        sampler.advance(is_adapting=True)
    draws = _draws(sampler, 500)
    share = np.mean(np.any(np.diff(draws, axis=0) != 0.0, axis=1))
    assert 0.65 < share < 0.95


def test_another_density_goes_on_from_the_same_position(random):
    sampler = Hamiltonian(_gaussian(np.zeros(3)), np.ones(3), random)
    sampler.move_to(_gaussian(np.ones(3)))
    np.testing.assert_array_equal(sampler.position, 1.0)
    assert sampler.value == 0.0


def test_a_density_of_zero_is_never_entered(random):
    def half(u):
        value, slope = _gaussian(np.zeros(3))(u)
        return (value, slope) if u[0] > 0 else (-np.inf, np.zeros(3))

    sampler = Hamiltonian(half, np.ones(3), random)
    for _ in range(100):
        sampler.advance(is_adapting=True)
    assert np.all(_draws(sampler, 200)[:, 0] > 0)
