"""Members of Markov dynamics, and how they are mixed."""

from dataclasses import replace

import numpy as np
import pytest

from semigp import scores
from semigp.core.search.report import Progress
from semigp.estimators.dynamics.kinds import Settings
from semigp.estimators.dynamics.kinds.markov import _crps, fit

SETTINGS = Settings(n_states=2, n_inducing=8, max_iter=9, random_state=0)


@pytest.fixture(scope="module")
def series():
    random = np.random.default_rng(0)
    return [np.sin(np.arange(n) / 3)[:, None] + 0.1 * random.normal(size=(n, 1)) for n in (40, 30)]


@pytest.fixture(scope="module")
def fitted(series):
    return fit(series, None, SETTINGS)


def test_weights_are_shares(fitted):
    assert len(fitted.weights) == len(fitted.members)
    np.testing.assert_allclose(fitted.weights.sum(), 1.0)
    assert (fitted.weights >= 0).all()


def test_complete_is_the_mixture_of_the_members(fitted):
    """Mean and variance of a mixture, member by member."""
    alone = [replace(fitted, weights=row).complete(None, None) for row in np.eye(len(fitted.members))]
    found = fitted.complete(None, None)
    for number in range(2):
        means, variances = (np.stack([one[number][part] for one in alone]) for part in (0, 1))
        mean = np.tensordot(fitted.weights, means, 1)
        np.testing.assert_allclose(found[number][0], mean, atol=1e-10)
        second = np.tensordot(fitted.weights, variances + means**2, 1)
        np.testing.assert_allclose(found[number][1], second - mean**2, atol=1e-8)


def test_paths_continue_the_series_that_is_asked_for(fitted, series):
    """After one step, the paths of each series are near where it would go on, within five standard deviations."""
    for number, values in enumerate(series):
        paths = fitted.simulate(1, None, 400, np.random.default_rng(0), number)
        assert paths.shape == (400, 1, 1)
        assert np.abs(paths.mean() - np.sin(len(values) / 3)) < 5 * paths.std()


def test_a_callback_ends_the_fit(series):
    told: list[Progress] = []

    def stop(progress):
        told.append(progress)
        return len(told) == 3

    found = fit(series, None, replace(SETTINGS, callback=stop))
    assert found.report.status == "interrupted"
    assert len(told) == 3
    assert told[0].parts == 3


def test_steps_for_which_a_path_stays(fitted, series):
    """The training values lie between -1.2 and 1.2 or so; a path may leave them by half their range."""
    member = fitted.members[0]
    values = np.concatenate(series)
    edge = values.max() + 0.5 * np.ptp(values)
    paths = np.zeros((3, 5, 1))
    paths[0, 3], paths[1, 3], paths[2, 0] = edge + 0.01, edge - 0.01, -10.0
    np.testing.assert_array_equal(member.stays(paths), [3, 5, 0])


def test_score_of_samples(random):
    """The oracle is the score with which forecasts are compared."""
    samples, truth = random.normal(size=(40, 6, 2)), random.normal(size=(6, 2))
    np.testing.assert_allclose(_crps(samples, truth).mean(), scores.sample_crps(truth, samples), rtol=1e-12)
    truth[2] = np.nan
    assert np.isnan(_crps(samples, truth)[2]).all()
