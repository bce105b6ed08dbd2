"""The mixture of members with and without states."""

from dataclasses import replace

import numpy as np
import pytest

from semigp.core.search.report import Progress
from semigp.estimators.dynamics.kinds import Settings
from semigp.estimators.dynamics.kinds.markov import fit
from semigp.estimators.dynamics.kinds.stateless_members import MarginalMember, PastMember

SETTINGS = Settings(n_states=2, n_inducing=8, max_iter=9, random_state=0)


@pytest.fixture(scope="module")
def series():
    random = np.random.default_rng(0)
    return [np.sin(np.arange(n) / 3)[:, None] + 0.1 * random.normal(size=(n, 1)) for n in (40, 30)]


@pytest.fixture(scope="module")
def long():
    """A series that is long enough to trust a function of the past."""
    return [np.sin(np.arange(100) / 3)[:, None] + 0.1 * np.random.default_rng(1).normal(size=(100, 1))]


@pytest.fixture(scope="module")
def fitted(series):
    return fit(series, None, SETTINGS)


def test_members_and_their_weights(fitted, series, long):
    """Functions of the past know one series only, and are not trusted in a short one."""
    assert len(fitted.weights) == len(fitted.members) + len(fitted.stateless)
    np.testing.assert_allclose(fitted.weights.sum(), 1.0, atol=1e-5)  # they are rounded to six digits
    assert (fitted.weights >= 0).all()
    assert [type(member) for member in fitted.stateless] == [MarginalMember]
    assert [type(member) for member in fit(series[:1], None, SETTINGS).stateless] == [MarginalMember]
    assert [type(member) for member in fit(long, None, SETTINGS).stateless] == [PastMember, MarginalMember]


def test_complete_is_the_mixture_of_the_members_with_states(fitted):
    """Mean and variance of a mixture, member by member. What members without states count does not matter."""
    count = len(fitted.members)
    alone = [replace(fitted, weights=row).complete(None, None) for row in np.eye(count, len(fitted.weights))]
    found = fitted.complete(None, None)
    weights = fitted.weights[:count] / fitted.weights[:count].sum()
    for number in range(2):
        means, variances = (np.stack([one[number][part] for one in alone]) for part in (0, 1))
        mean = np.tensordot(weights, means, 1)
        np.testing.assert_allclose(found[number][0], mean, atol=1e-7)
        second = np.tensordot(weights, variances + means**2, 1)
        np.testing.assert_allclose(found[number][1], second - mean**2, atol=1e-7)


def test_paths_continue_the_series_that_is_asked_for(fitted, series):
    """After one step, the paths of each series are near where it would go on, within five standard deviations."""
    for number, values in enumerate(series):
        paths = fitted.simulate(1, None, 400, np.random.default_rng(0), number)
        assert paths.shape == (400, 1, 1)
        assert np.abs(paths.mean() - np.sin(len(values) / 3)) < 5 * paths.std()


def test_bounds_of_paths(fitted, series):
    """Paths may leave the training values by half their range."""
    values = np.concatenate(series)
    margin = 0.5 * np.ptp(values)
    np.testing.assert_allclose(
        fitted.members[0].bounds[:, 0], [values.min() - margin, values.max() + margin], rtol=1e-12
    )


def test_a_callback_ends_the_fit(series):
    told: list[Progress] = []

    def stop(progress):
        told.append(progress)
        return len(told) == 3

    found = fit(series[:1], None, replace(SETTINGS, callback=stop))
    assert found.report.status == "interrupted"
    assert len(told) == 3
    assert told[0].parts == 3
    assert [type(member) for member in found.stateless] == [MarginalMember]


def test_a_callback_ends_the_search_for_a_function_of_the_past(long):
    """It comes behind the members with states, and an interrupt there is reported."""
    settings = replace(SETTINGS, callback=lambda progress: progress.stage not in known)
    known = {stage for stage, *_ in fit(long, None, replace(SETTINGS, max_iter=1)).report.stages}
    found = fit(long, None, settings)
    assert len(found.members) == 6
    assert found.report.status == "interrupted"
