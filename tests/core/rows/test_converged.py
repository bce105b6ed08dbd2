"""q(x) of new rows, each on its own: the same optimum as all rows together, by L-BFGS on the sum of their bounds."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from semigp.core import RBF, GaussianPrior, InputBelief, Linear, StandardPrior, fit_posterior
from semigp.core.inputs.priors import kl_to_rows
from semigp.core.rows.converged import infer_rows, infer_rows_of_views
from semigp.core.search.lbfgs import maximise
from semigp.core.search.stages import Stage
from semigp.core.sparse.expected_likelihood import expected_log_likelihood
from semigp.core.sparse.statistics import Block, collect
from semigp.core.sparse.targets import Targets

HALVES = (slice(0, 3), slice(3, 6))
CORRELATED = GaussianPrior(np.array([0.1, -0.1]), np.array([[1.0, 0.6], [0.6, 1.2]]))


@pytest.fixture(scope="module")
def rows():
    """Six outputs of two latent inputs, their noise differing; 30 rows for a posterior and 20 new ones."""
    random = np.random.default_rng(0)
    latent = random.normal(size=(50, 2))
    targets = np.sin(latent @ random.normal(size=(2, 6))) + 0.1 * random.normal(size=(50, 6))
    return latent, targets, random


def together(posterior, targets, inputs, prior, start):
    """Mean and variance of q(x) that maximise Σ_n E[log p(y_n | x_n, U)] - KL, over all rows at once."""
    unknown = np.isnan(inputs)
    values, known = np.where(unknown, 0.0, inputs), Targets.of(targets)

    @jax.jit
    def loss(free):
        mean = jnp.where(unknown, free["mean"], values)
        variance = jnp.where(unknown, jnp.exp(free["log_variance"]), 0.0)
        statistics = collect(posterior.kernel, posterior.inducing_inputs, (Block(mean, variance, known),))
        row_prior = prior.for_rows(jnp.asarray(values), jnp.asarray(unknown))
        return kl_to_rows(mean, variance, row_prior, unknown) - expected_log_likelihood(posterior, statistics)

    with jax.enable_x64(True):
        free = {"mean": jnp.asarray(start[0]), "log_variance": jnp.log(start[1])}
        best, _ = maximise(jax.value_and_grad(loss), free, [Stage("inputs", 2000)], 1e-14)
        variance = np.exp(best["log_variance"])
    return np.where(unknown, best["mean"], values), np.where(unknown, variance, 0.0)


@pytest.mark.parametrize(
    ("kernel", "holes", "is_latent"),
    [
        (RBF(1.0, np.array([1.0, 1.5])), False, True),
        (RBF(1.0, np.ones(2)) + Linear(np.full(2, 0.3)), True, True),
        (RBF(1.0, np.array([1.0, 1.5])), True, False),
    ],
)
def test_the_optimum_of_all_rows_together(rows, kernel, holes, is_latent):
    """Tolerance 1e-3 on means and standard deviations: what L-BFGS leaves. The last case has known inputs too."""
    latent, targets, random = rows
    train, new = targets[:30].copy(), targets[30:].copy()
    if holes:
        train[random.random(train.shape) < 0.1] = np.nan
        new[random.random(new.shape) < 0.3] = np.nan
    noise, scale = np.linspace(0.01, 0.05, 6), np.linspace(0.8, 1.2, 6)
    belief = InputBelief(latent[:30], 0.1 * np.ones((30, 2)))
    posterior = fit_posterior(kernel, belief, latent[:8], train, noise, 1e-6, scale)
    inputs = np.where(is_latent | (np.arange(20) % 2 == np.arange(2)[:, None]).T, np.nan, latent[30:])
    prior = StandardPrior() if is_latent else CORRELATED
    start = latent[30:] + 0.1, np.full((20, 2), 0.2)
    mean, variance, _ = infer_rows(posterior, new, *start, inputs, prior)
    expected, expected_variance = together(posterior, new, inputs, prior, start)
    np.testing.assert_allclose(mean, expected, atol=1e-3)
    np.testing.assert_allclose(np.sqrt(variance), np.sqrt(expected_variance), atol=1e-3)


def test_a_row_does_not_depend_on_its_company(rows):
    """To the last digit: the rows share nothing. A row without any output keeps its prior, to 1e-6."""
    latent, targets, _ = rows
    posterior = fit_posterior(RBF(1.0, np.ones(2)), InputBelief.observed(latent[:30]), latent[:8], targets[:30], 0.02)
    inputs, new = np.where(np.arange(2) == 1, np.nan, latent[30:]), targets[30:].copy()
    new[3] = np.nan
    start = np.zeros((20, 2)), np.full((20, 2), 0.5)
    find = functools.partial(infer_rows, posterior, prior=CORRELATED)
    all_means, all_variances, _ = find(new, *start, inputs=inputs)
    for row in (0, 3):
        mean, variance, _ = find(new[[row]], *(part[[row]] for part in start), inputs=inputs[[row]])
        np.testing.assert_array_equal(mean[0], all_means[row])
        np.testing.assert_array_equal(variance[0], all_variances[row])
    # p(x_2 | x_1) of the Gaussian: mean -.1 + .6 (x_1 - .1), variance 1.2 - .36.
    np.testing.assert_allclose(all_means[3, 1], -0.1 + 0.6 * (latent[33, 0] - 0.1), atol=1e-6)
    np.testing.assert_allclose(all_variances[3, 1], 1.2 - 0.36, atol=1e-6)


def test_views_with_the_same_kernel_are_one_view(rows):
    """Given x, outputs are independent: two views of three columns tell the same of x as one view of six.

    The searches end at the same optimum. Tolerance 1e-4, because their sums are rounded differently.
    """
    latent, targets, random = rows
    kernel, inducing, noise = RBF(1.0, np.array([1.0, 1.5])), random.normal(size=(12, 2)), np.full(6, 0.02)
    known, new = targets[:30], np.where(random.random((20, 6)) < 0.2, np.nan, targets[30:])
    belief = InputBelief.observed(latent[:30])
    whole = fit_posterior(kernel, belief, inducing, known, noise)
    parts = [fit_posterior(kernel, belief, inducing, known[:, some], noise[some]) for some in HALVES]
    start = latent[30:] + 0.1, np.full((20, 2), 0.2)
    expected = infer_rows(whole, new, *start)
    found = infer_rows_of_views(parts, [new[:, some] for some in HALVES], *start)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
