"""The bound in batches. Oracles: the collapsed bound, the gradient of all rows at once, and L-BFGS over q(X)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core import RBF, GaussianPrior
from semigp.core.hyperpriors import LogNormal
from semigp.core.inputs.priors import kl_to_rows
from semigp.core.numerics.precision import in_float64
from semigp.core.rows.converged import infer_rows
from semigp.core.rows.few_steps import KnownRows, infer_inputs
from semigp.core.rows.losses import IncompleteRows, row_losses
from semigp.core.sparse.model import make_data, objective, posterior, start
from semigp.core.sparse.statistics import Block
from semigp.core.sparse.targets import Targets
from semigp.core.stream.objective import (
    Batch,
    Inferred,
    Parameters,
    Setting,
    Whitened,
    batch_objective,
    infer,
    whitened_from_blocks,
)

_objective = jax.jit(batch_objective)
HYPERPRIORS = {"noise_variance": LogNormal(0.05, 2.0), "kernel.lengthscale": LogNormal(1.0, 1.0)}


@pytest.fixture
def rows(random):
    """80 rows of 3 correlated inputs and 2 outputs, half of them with a hole."""
    covariance = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]])
    x = random.multivariate_normal(np.zeros(3), covariance, size=80)
    y = np.column_stack([np.sin(x[:, 0]) + x[:, 1], x[:, 2] - x[:, 0]]) + 0.1 * random.normal(size=(80, 2))
    holes = x.copy()
    holes[np.arange(0, 80, 2), np.arange(40) % 3] = np.nan
    return holes, y, GaussianPrior(np.zeros(3), covariance)


def _batch(x, y, n):
    has_holes = np.isnan(x).any(axis=1)
    unknown = np.isnan(x[has_holes])
    incomplete = IncompleteRows(np.where(unknown, 0.0, x[has_holes]), unknown, _targets(y[has_holes]))
    return Batch(Block(x[~has_holes], None, _targets(y[~has_holes])), incomplete, n / len(x))


def _targets(y):
    return Targets(y, np.ones((len(y), 1)), np.zeros(y.shape[1], np.int32))


def _problem(rows):
    x, y, prior = rows
    complete = ~np.isnan(x).any(axis=1)
    known = KnownRows(x[complete], y[complete])
    parameters = Parameters(RBF(1.0, np.array([1.0, 1.5, 2.0])), x[complete][:12], np.array([0.05, 0.1]), np.ones(2))
    setting = Setting(prior, known, HYPERPRIORS)
    # q(U) of the complete rows alone, for something to infer inputs with
    block = Block(x[complete], None, _targets(y[complete]))
    q = in_float64(whitened_from_blocks)(parameters, (block,), setting, 2.0)
    return parameters, q, setting


@pytest.mark.usefixtures("x64")
def test_all_rows_and_a_whole_step_give_the_collapsed_bound(rows):
    """At the same q(X); 1e-8 of its size is what summing in another order may cost."""
    x, y, prior = rows
    parameters, q, setting = _problem(rows)
    batch = _batch(x, y, len(x))
    inferred = infer(parameters, q, batch.incomplete, setting)
    _, best = _objective(parameters, q, batch, inferred, setting)
    value, _ = _objective(parameters, q.towards(best, 1.0), batch, inferred, setting)
    model, data = _at_once(x, y, prior, parameters, inferred)
    np.testing.assert_allclose(value, in_float64(jax.jit(objective))(model, data), rtol=1e-8)


def _at_once(x, y, prior, parameters, inferred):
    """Model and data of the collapsed bound."""
    data = make_data(x, y, prior=prior, hyperpriors=HYPERPRIORS)
    model, is_real = start(data, *_arguments(parameters)), data.rows >= 0
    mean, variance = np.zeros(data.values.shape), np.ones(data.values.shape)
    mean[is_real], variance[is_real] = inferred.mean, inferred.variance
    return replace(model, mean=mean, variance=np.where(data.unknown, variance, 1.0)), data


def _arguments(parameters):
    return parameters.kernel, parameters.inducing_inputs, parameters.noise_variance, parameters.output_scale


@pytest.mark.usefixtures("x64")
def test_batches_are_unbiased(rows):
    """The mean over four batches is what all rows give: value, gradient and natural step, to 1e-8."""
    x, y, _ = rows
    parameters, q, setting = _problem(rows)
    free = parameters.map_positive(jnp.log)

    @jax.jit
    def evaluate(batch, inferred):
        def value(free):
            return batch_objective(free.map_positive(jnp.exp), q, batch, inferred, setting)

        (value, best), gradient = jax.value_and_grad(value, has_aux=True)(free)
        return value, best.moment, best.projected, gradient

    all_inferred = infer(parameters, q, _batch(x, y, len(x)).incomplete, setting)

    def of_rows(some):
        # Every second row has holes. Steps that end at 1e-8 of an optimum may take another turn in other company.
        mean, variance = (leaf[some[::2] // 2] for leaf in (all_inferred.mean, all_inferred.variance))
        batch = _batch(x[some], y[some], len(x))
        unknown = batch.incomplete.unknown
        apart = kl_to_rows(mean, variance, setting.prior.for_rows(batch.incomplete.values, unknown), unknown)
        return evaluate(batch, Inferred(mean, variance, apart))

    parts = [of_rows(part) for part in np.split(np.arange(80), 4)]
    mean = jax.tree.map(lambda *leaves: np.mean(np.array(leaves), axis=0), *parts)
    for found, expected in zip(jax.tree.leaves(mean), jax.tree.leaves(of_rows(np.arange(80))), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.usefixtures("x64")
def test_rows_that_fill_up_change_nothing(rows):
    x, y, _ = rows
    parameters, q, setting = _problem(rows)
    batch = _batch(x, y, len(x))

    def pad(leaf):
        return np.pad(leaf, ((0, 5), (0, 0)))

    def more(targets):
        return Targets(pad(targets.values), pad(targets.weights), targets.group)

    observed = Block(pad(batch.observed.mean), None, more(batch.observed.targets))
    rest = batch.incomplete
    padded = Batch(observed, IncompleteRows(pad(rest.values), pad(rest.unknown), more(rest.targets)), batch.scale)
    found, expected = (
        _objective(parameters, q, each, infer(parameters, q, each.incomplete, setting), setting)
        for each in (padded, batch)
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), found, expected)


@pytest.mark.usefixtures("x64")
def test_natural_steps_are_convex_combinations():
    q = [
        Whitened(np.full((1, 2, 2), a), np.full((2, 1), b), np.zeros(1, np.int32)) for a, b in ((1.0, 2.0), (3.0, 6.0))
    ]
    mixed = q[0].towards(q[1], 0.25)
    np.testing.assert_allclose(mixed.moment, 1.5)
    np.testing.assert_allclose(mixed.projected, 3.0)


def test_local_steps_find_what_a_joint_optimisation_finds(rows):
    """Going on until nothing moves gains less than 0.01 nats a row, on average, on what eight steps have found."""
    x, y, prior = rows
    data = make_data(x, y, prior=prior)
    parameters, _, setting = _problem(rows)
    given = posterior(start(data, *_arguments(parameters)), data)
    incomplete = IncompleteRows(data.values, data.unknown, data.targets)
    mean, variance = in_float64(jax.jit(infer_inputs))(given, incomplete, data.prior, setting.known)
    real = data.rows >= 0
    inputs, outputs = x[data.rows[real]], y[data.rows[real]]
    begun = mean[real], np.where(data.unknown[real], variance[real], 1.0)
    _, _, best = infer_rows(given, outputs, *begun, inputs, prior)
    free = np.concatenate([mean, np.log(np.where(data.unknown, variance, 1.0))], axis=1)
    loss = in_float64(lambda q_u, some, prior, free: row_losses(q_u, some, prior, True)(free))
    gained = best + loss(given, incomplete, data.prior, free)[real]
    assert 0.0 <= np.sum(gained) < 0.01 * real.sum()
