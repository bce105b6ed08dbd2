"""A linear system for the tests, and functions that are certain of it."""

import numpy as np

from semigp.core.dynamics.model import StateFunction, StateModel
from semigp.core.kernels import Linear
from semigp.core.sparse.statistics import Block, collect
from semigp.core.sparse.targets import Targets

A = np.array([[0.9, 0.3], [-0.2, 0.8]])
B = np.array([[0.5], [0.2]])
C = np.array([[1.0, 0.0], [0.5, -1.0]])
Q, R = np.diag([0.05, 0.02]), np.array([0.1, 0.2])


def series(random, steps=12):
    """Outputs (T, 2) with gaps, and inputs (T, 1)."""
    inputs = random.normal(size=(steps, 1))
    state, values = random.normal(size=2), np.empty((steps, 2))
    for t in range(steps):
        if t:
            state = A @ state + B @ inputs[t] + np.sqrt(np.diag(Q)) * random.normal(size=2)
        values[t] = C @ state + np.sqrt(R) * random.normal(size=2)
    values[3:5], values[7, 1] = np.nan, np.nan
    return values, inputs


def certain_model(moves, random, count=10**8):
    """A model with linear kernels, and statistics of so many made-up rows that f and g are known to be linear.

    The rows have no residuals: the sums over `count` rows are those of 50 rows times a factor.
    """
    transition = StateFunction(Linear(np.ones(3)), np.eye(3), np.diag(Q), np.ones(2))
    observation = StateFunction(Linear(np.ones(2)), np.eye(2), R, np.ones(2))
    points = random.normal(size=(50, 3))
    increments = points @ np.column_stack([A - np.eye(2), B]).T
    found = []
    for function, inputs, outputs in (
        (transition, points, increments),
        (observation, points[:, :2], points[:, :2] @ C.T),
    ):
        targets = Targets(outputs, np.ones((50, 2)), np.arange(2, dtype=np.int32))
        if function is transition:
            targets = Targets(outputs, np.ones((50, 1)), np.zeros(2, np.int32))
        own = collect(function.kernel, function.inducing_inputs, (Block(inputs, None, targets),))
        found.append(type(own)(**{name: part * (count / 50) for name, part in own.sums().items()}, group=own.group))
    return StateModel(transition, observation, moves), tuple(found)
