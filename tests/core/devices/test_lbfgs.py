"""Directions of L-BFGS from inner products alone. Oracle: BFGS with its matrix written out."""

from types import SimpleNamespace

import numpy as np
import pytest

from semigp.core.devices.lbfgs import _Memory
from semigp.core.devices.programs import PAIRS

N = 6


def _remember(steps, changes, slot, length, direction, before, after):
    steps, changes = steps.copy(), changes.copy()
    steps[slot], changes[slot] = length * direction, after - before
    everything = np.concatenate([steps, changes, after[None]])
    return steps, changes, np.stack([steps[slot], changes[slot], after]) @ everything.T


# The programs, with vectors for trees.
VECTORS = SimpleNamespace(
    empty=lambda gradient: np.zeros((PAIRS, len(gradient))),
    norm=lambda gradient: gradient @ gradient,
    remember=_remember,
    combine=lambda s, y, g, of_s, of_y, of_g: of_s @ s + of_y @ y + of_g[0] * g,
)


def _dense(pairs):
    """H of BFGS after these pairs, from γI, γ = sᵀy/yᵀy of the latest."""
    step, change = pairs[-1]
    inverse = step @ change / (change @ change) * np.eye(N)
    for step, change in pairs:
        turn = np.eye(N) - np.outer(step, change) / (step @ change)
        inverse = turn @ inverse @ turn.T + np.outer(step, step) / (step @ change)
    return inverse


@pytest.mark.parametrize("count", [1, 4, PAIRS + 3])
def test_direction_and_slope(random, count):
    """Of a quadratic function; when the memory is full, of the latest pairs. 1e-8."""
    half = random.normal(size=(N, N))
    curvature = half @ half.T + np.eye(N)
    gradient = random.normal(size=N)
    memory, pairs = _Memory(VECTORS, gradient), []
    np.testing.assert_allclose(memory.direction(gradient)[0], -gradient)
    for _ in range(count):
        direction = random.normal(size=N)
        after = gradient + curvature @ (0.3 * direction)
        memory.add(0.3, direction, gradient, after)
        pairs.append((0.3 * direction, after - gradient))
        gradient = after
    found, slope = memory.direction(gradient)
    expected = -_dense(pairs[-PAIRS:]) @ gradient
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(slope, gradient @ expected, rtol=1e-8)


def test_a_step_without_curvature_is_not_kept(random):
    gradient, direction = random.normal(size=(2, N))
    memory = _Memory(VECTORS, gradient)
    after = gradient - 0.1 * direction
    memory.add(1.0, direction, gradient, after)
    assert memory.pairs == []
    np.testing.assert_allclose(memory.direction(after)[0], -after)
