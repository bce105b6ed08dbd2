"""The bound of several views: GPy's MRD, and what it must be equal to in special cases."""

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from semigp.core import RBF, InputBelief, collapsed_bound, fit_posterior, kl_divergence
from semigp.core.hyperpriors import LogNormal
from semigp.core.numerics.precision import in_float64
from semigp.core.sparse.model import objective as objective_of_one
from semigp.core.views.model import View, ViewsModel, make_views_data, objective, posteriors

from . import gpy_mrd

VALUE = in_float64(jax.jit(objective))
GRADIENT = in_float64(jax.jit(jax.grad(objective)))


def _at_rows(values, data, fill):
    """Rows in the order of the data, in which padding comes last."""
    return np.where(data[0].rows[:, None] >= 0, values[data[0].rows], fill)


@pytest.fixture(scope="module")
def problem():
    views, mean, variance, inducing = gpy_mrd.make_problem()
    data = make_views_data(views, gpy_mrd.Q, jitter=gpy_mrd.JITTER)
    each = zip(gpy_mrd.LENGTHSCALES, gpy_mrd.NOISES, strict=True)
    parts = tuple(View(RBF(1.0, np.array(ls)), inducing, np.array(noise), np.array(1.0)) for ls, noise in each)
    return views, ViewsModel(parts, _at_rows(mean, data, 0.0), _at_rows(variance, data, 1.0)), data


def test_the_bound_is_that_of_gpys_mrd(problem):
    """The same number to 1e-8 at the same parameters, with the same jitter. The gradients agree to seven digits."""
    _, model, data = problem
    known = np.load(Path(gpy_mrd.__file__).with_suffix(".npz"))
    assert abs(float(VALUE(model, data)) - float(known["bound"])) < 1e-8
    slope, n = GRADIENT(model, data), gpy_mrd.N
    np.testing.assert_allclose(slope.mean[:n], known["mean_gradient"], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(slope.variance[:n], known["variance_gradient"], rtol=1e-7, atol=1e-7)
    total = sum(view.inducing_inputs for view in slope.views)  # GPy's views share their inducing inputs
    np.testing.assert_allclose(total, known["inducing_gradient"], rtol=1e-7, atol=1e-7)
    lengthscales = [view.kernel.lengthscale for view in slope.views]
    np.testing.assert_allclose(lengthscales, known["lengthscale_gradients"], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose([v.noise_variance for v in slope.views], known["noise_gradients"], rtol=1e-7)


def test_one_view_is_a_gplvm(problem):
    """Exactly, with holes and hyperpriors: it is the same program."""
    views, model, _ = problem
    holes = np.where(np.random.default_rng(0).random(views[0].shape) < 0.3, np.nan, views[0])
    data = make_views_data([holes], gpy_mrd.Q, {"noise_variance": LogNormal(0.1, 2.0)})
    one = replace(model, views=model.views[:1])
    assert VALUE(one, data) == in_float64(jax.jit(objective_of_one))(one.of_view(0), data[0])


def test_views_add_up_and_their_order_does_not_matter(problem):
    """Σ_v of the bound of each view alone, less one KL divergence. Rounding in sums of a thousand: 1e-9."""
    views, model, data = problem
    n = gpy_mrd.N
    belief = InputBelief(model.mean[:n], model.variance[:n])
    parts = [
        collapsed_bound(part.kernel, belief, part.inducing_inputs, rows, part.noise_variance, gpy_mrd.JITTER)
        for part, rows in zip(model.views, views, strict=True)
    ]
    assert abs(float(VALUE(model, data)) - (sum(map(float, parts)) - float(kl_divergence(belief)))) < 1e-9
    turned = replace(model, views=model.views[::-1])
    assert abs(float(VALUE(turned, data[::-1])) - float(VALUE(model, data))) < 1e-9


def test_rows_that_are_missing_in_a_view_do_not_count_there(problem):
    """A view with ten rows of NaN has the bound of its other rows."""
    views, model, _ = problem
    n, kept = gpy_mrd.N, np.arange(10, gpy_mrd.N)
    hidden = views[1].copy()
    hidden[:10] = np.nan
    data = make_views_data([views[0], hidden], gpy_mrd.Q, jitter=gpy_mrd.JITTER)
    mean, variance = model.mean[:n], model.variance[:n]
    beliefs = InputBelief(mean, variance), InputBelief(mean[kept], variance[kept])
    each = zip(model.views, beliefs, (views[0], views[1][kept]), strict=True)
    parts = [
        collapsed_bound(part.kernel, belief, part.inducing_inputs, rows, part.noise_variance, gpy_mrd.JITTER)
        for part, belief, rows in each
    ]
    expected = sum(map(float, parts)) - float(kl_divergence(beliefs[0]))
    assert abs(float(VALUE(model, data)) - expected) < 1e-9


def test_the_posterior_of_a_view_is_its_own(problem):
    views, model, data = problem
    found = posteriors(model, data)[1]
    belief = InputBelief(model.mean[: gpy_mrd.N], model.variance[: gpy_mrd.N])
    part = model.views[1]
    alone = fit_posterior(part.kernel, belief, part.inducing_inputs, views[1], part.noise_variance, gpy_mrd.JITTER)
    at = InputBelief.observed(model.mean[:5])
    for one, other in zip(found.predict(at), alone.predict(at), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_views_need_the_same_rows():
    with pytest.raises(ValueError, match="different numbers of rows: 3, 4"):
        make_views_data([np.zeros((3, 1)), np.zeros((4, 1))], 2)
