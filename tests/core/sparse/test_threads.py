"""Rows in parts, one thread each. The oracle is the bound as one program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core import RBF
from semigp.core.search.stages import Stage
from semigp.core.sparse import threads as parallel
from semigp.core.sparse.fit import _loss_and_gradient, constrain, fit, unconstrain
from semigp.core.sparse.model import make_data, start


def _problem(n=331, incomplete=211):
    """Holes in inputs and outputs; no kind of rows is a multiple of the number of parts."""
    random = np.random.default_rng(0)
    truth = random.normal(size=(n, 3))
    y = np.column_stack([np.sin(2 * truth[:, 0]) + truth[:, 1], truth[:, 2] * truth[:, 0]])
    y += 0.05 * random.normal(size=y.shape)
    X = truth.copy()
    X[:incomplete][random.random((incomplete, 3)) < 0.4] = np.nan
    X[:incomplete, 0] = np.where(np.isnan(X[:incomplete]).any(axis=1), X[:incomplete, 0], np.nan)
    y[5:9, 1] = np.nan
    data = make_data(X, y)
    return start(data, RBF(1.0, np.ones(3)), truth[::20], np.full(2, 0.1), np.ones(2)), data


@pytest.mark.parametrize("incomplete", [211, 331])
def test_loss_and_gradient(monkeypatch, incomplete):
    """Sums in another order: 1e-12 of the loss, 1e-9 of each gradient. The number of threads changes no digit."""
    model, data = _problem(incomplete=incomplete)
    assert (data.observed is None) == (incomplete == 331)
    with jax.enable_x64(True):
        free, known = jax.tree.map(jnp.asarray, (unconstrain(model), data))
        expected, gradient = _loss_and_gradient(free, known)
        loss = parallel.ParallelLoss(free, known, constrain)
        found, found_gradient = loss(free)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        for one, other in zip(jax.tree.leaves(found_gradient), jax.tree.leaves(gradient), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * np.abs(other).max())
        loss.close()
        monkeypatch.setattr(parallel, "n_cores", lambda: 1)
        alone = parallel.ParallelLoss(free, known, constrain)
        again, same_gradient = alone(free)
        alone.close()
    assert again == found
    for one, other in zip(jax.tree.leaves(found_gradient), jax.tree.leaves(same_gradient), strict=True):
        np.testing.assert_array_equal(one, other)


def test_fit_uses_it_where_it_is_worthwhile(monkeypatch):
    """The same fit, to what a few iterations make of another rounding."""
    model, data = _problem()
    stages = [Stage("all", 5)]
    _, alone = fit(model, data, stages)
    assert not parallel.is_worthwhile(model, data)
    monkeypatch.setattr(parallel, "_MIN_EXPONENTIALS", 0)
    assert parallel.is_worthwhile(model, data)
    _, together = fit(model, data, stages)
    np.testing.assert_allclose(together.bound, alone.bound, rtol=1e-6)


def test_number_of_cores(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert parallel.n_cores() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "not a number")
    assert parallel.n_cores() >= 1
