"""Whole passes. Oracle: the collapsed bound of all rows at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core.sparse.fit import constrain, unconstrain
from semigp.core.sparse.model import objective
from semigp.core.stream.all_rows import AllRows
from semigp.core.stream.objective import Inferred, Parameters, infer

from .test_objective import _at_once, _batch, _problem
from .test_objective import rows as rows  # a fixture


@pytest.mark.usefixtures("x64")
def test_whole_passes_have_the_gradient_of_the_collapsed_bound(rows):
    """Four batches, q(x) from a file, against all rows at once; 1e-8 as above."""
    x, y, prior = rows
    parameters, q, setting = _problem(rows)
    batches = [_batch(x[part], y[part], len(x)) for part in np.split(np.arange(80), 4)]
    inferred = [infer(parameters, q, batch.incomplete, setting) for batch in batches]
    together = jax.tree.map(lambda *leaves: np.concatenate(leaves), *[(each.mean, each.variance) for each in inferred])
    model, data = _at_once(x, y, prior, parameters, Inferred(*together, 0.0))

    @jax.jit
    def expect(free):
        return jax.value_and_grad(lambda free: -objective(constrain(free), data))(free)

    value, gradient = expect(unconstrain(model))
    with AllRows(parameters, q, setting, lambda: batches) as every:
        found = every.loss_and_gradient(parameters.map_positive(jnp.log))
        _, bound = every.posterior(parameters)
    np.testing.assert_allclose([found[0], -bound], value, rtol=1e-8)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8), found[1], Parameters.of(gradient))
