"""Steps of Adam. Oracle: the algorithm as it was published."""

from dataclasses import replace

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.stream.adam import State, adam_step
from semigp.core.stream.objective import infer

from .test_objective import _batch, _objective, _problem
from .test_objective import rows as rows  # a fixture


@pytest.mark.usefixtures("x64")
def test_adam(rows):
    """Three steps against the algorithm as it was published; kept parameters (a factor of 0) stay. 1e-10."""
    x, y, _ = rows
    parameters, q, setting = _problem(rows)
    batch = _batch(x, y, len(x))
    inferred = infer(parameters, q, batch.incomplete, setting)
    free = parameters.map_positive(jnp.log)
    nothing = jax.tree.map(jnp.zeros_like, free)
    moves = replace(jax.tree.map(jnp.ones_like, free), output_scale=jnp.zeros(2))
    state = State(free, q, nothing, nothing, jnp.array(0))
    gradient = jax.grad(lambda free, q: -_objective(free.map_positive(jnp.exp), q, batch, inferred, setting)[0])
    theta, m, v = jax.flatten_util.ravel_pytree(free)[0], 0.0, 0.0
    for t in (1, 2, 3):
        g, restore = jax.flatten_util.ravel_pytree(gradient(state.free, state.q))
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
        step = 0.05 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-8)
        theta = theta - jax.flatten_util.ravel_pytree(moves)[0] * step
        state, _ = adam_step(state, batch, inferred, setting, moves, 0.05, 0.3)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), state.free, restore(theta))
    np.testing.assert_array_equal(state.free.output_scale, free.output_scale)
