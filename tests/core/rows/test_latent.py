"""q(x) of new rows, each on its own: the same optimum as all rows together, by L-BFGS on the public objective."""

from dataclasses import replace

import numpy as np
import pytest

from semigp.core import RBF, InputBelief, Linear, fit_posterior
from semigp.core.rows.latent import infer_rows
from semigp.core.search.stages import Stage
from semigp.core.sparse.fit import fit
from semigp.core.sparse.model import make_data, start

MODEL = ("kernel*", "noise_variance", "output_scale", "inducing_inputs")


@pytest.fixture(scope="module")
def rows():
    """Six outputs of two latent inputs, their noise differing; a posterior of 30 rows and 20 new ones."""
    random = np.random.default_rng(0)
    latent = random.normal(size=(50, 2))
    targets = np.sin(latent @ random.normal(size=(2, 6))) + 0.1 * random.normal(size=(50, 6))
    return latent, targets, random


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("kernel", [RBF(1.0, np.array([1.0, 1.5])), RBF(1.0, np.ones(2)) + Linear(np.full(2, 0.3))])
def test_the_optimum_of_all_rows_together(rows, kernel, holes):
    """Tolerance 1e-3 on means and standard deviations: what L-BFGS leaves."""
    latent, targets, random = rows
    train, new = targets[:30].copy(), targets[30:].copy()
    if holes:
        train[random.random(train.shape) < 0.1] = np.nan
        new[random.random(new.shape) < 0.3] = np.nan
    noise, scale = np.linspace(0.01, 0.05, 6), np.linspace(0.8, 1.2, 6)
    posterior = fit_posterior(
        kernel, InputBelief(latent[:30], 0.1 * np.ones((30, 2))), latent[:8], train, noise, 1e-6, scale
    )
    begun = latent[30:] + 0.1
    mean, variance, _ = infer_rows(posterior, new, begun, np.full(begun.shape, 0.2))

    data = replace(make_data(np.full(begun.shape, np.nan), new), given=posterior)
    model = start(data, kernel, latent[:8], noise, scale)
    real = data.rows >= 0
    means, variances = model.mean.copy(), np.full(model.mean.shape, 0.2)
    means[real] = begun[data.rows[real]]
    together, _ = fit(replace(model, mean=means, variance=variances), data, [Stage("inputs", 2000, MODEL)], 1e-14)
    order = np.argsort(data.rows[real])
    np.testing.assert_allclose(mean, together.mean[real][order], atol=1e-3)
    np.testing.assert_allclose(np.sqrt(variance), np.sqrt(together.variance[real][order]), atol=1e-3)
