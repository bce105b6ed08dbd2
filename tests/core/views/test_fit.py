"""The fit of several views: with one view it is the fit of a single GP."""

from dataclasses import replace

import numpy as np
import pytest

from semigp.core import RBF
from semigp.core.search.stages import Stage
from semigp.core.sparse.fit import fit
from semigp.core.views.fit import constrain, fit_views, stages, unconstrain
from semigp.core.views.model import View, ViewsModel, make_views_data


@pytest.fixture(scope="module")
def start():
    random = np.random.default_rng(4)
    latent = random.normal(size=(30, 2))
    views = [np.sin(latent @ random.normal(size=(2, p))) + 0.1 * random.normal(size=(30, p)) for p in (3, 4)]
    data = make_views_data(views, 2)
    part = View(RBF(1.0, np.ones(2)), random.normal(size=(6, 2)), np.array(0.1), np.array(1.0))
    return ViewsModel((part, part), random.normal(size=(32, 2)), np.full((32, 2), 0.3)), data


def test_positive_parameters_come_back(start):
    model, _ = start
    again = constrain(unconstrain(model))
    np.testing.assert_allclose(again.variance, model.variance, rtol=1e-6)  # in the caller's precision
    np.testing.assert_allclose(again.views[1].kernel.lengthscale, model.views[1].kernel.lengthscale, rtol=1e-6)


def test_one_view_is_fitted_as_a_single_gp(start):
    """The same steps: after 15 iterations, means agree to 1e-6 (rounding, which the search amplifies)."""
    model, data = start
    one = replace(model, views=model.views[:1])
    found, report = fit_views(one, data[:1], [Stage("all", 15, ("views.*.kernel.variance",))], 1e-9)
    alone, other = fit(one.of_view(0), data[0], [Stage("all", 15, ("kernel.variance",))], 1e-9)
    assert abs(report.bound - other.bound) < 1e-6 * abs(other.bound)
    np.testing.assert_allclose(found.mean, alone.mean, atol=1e-6)
    np.testing.assert_allclose(report.signal_to_noise, other.signal_to_noise, rtol=1e-5)


def test_signal_and_noise_are_held_at_first(start):
    model, data = start
    held, _ = stages(3)
    found, report = fit_views(model, data, [held], 1e-9)
    assert [view.noise_variance for view in found.views] == pytest.approx([0.1, 0.1], rel=1e-12)
    assert not np.allclose(found.views[0].kernel.lengthscale, found.views[1].kernel.lengthscale)
    assert report.signal_to_noise.shape == (2,)
