"""Members without states, and where they take over."""

import numpy as np
import pytest

from semigp.estimators.dynamics.kinds import Settings
from semigp.estimators.dynamics.kinds.markov import fit
from semigp.estimators.dynamics.kinds.stateless_members import MarginalMember, PastMember

SETTINGS = Settings(n_states=1, n_inducing=10, max_iter=45, random_state=0)


@pytest.fixture(scope="module")
def echo():
    """y_t = .7 y_{t-8} + u_{t-5}, known exactly: eight values of the past matter, and one state cannot hold them."""
    random = np.random.default_rng(0)
    inputs = random.normal(size=(180, 1))
    values = np.zeros((180, 1))
    for t in range(8, 180):
        values[t] = 0.7 * values[t - 8] + inputs[t - 5]
    return values / values.std(), inputs


def test_a_function_of_the_past_takes_over(echo):
    """It made the series, so that it gets nearly all of the weight, and the mixture simulates as well as it does."""
    values, inputs = echo
    found = fit([values[:140]], [inputs[:140]], SETTINGS)
    assert found.weights[len(found.members)] > 0.8
    paths = found.simulate(40, inputs[140:], 300, np.random.default_rng(0))
    assert np.mean((np.median(paths, axis=0) - values[140:]) ** 2) < 0.05 * np.mean(values[140:] ** 2)


def test_what_comes_later_is_forgotten(echo):
    """Paths from the middle are the same whatever the later values are, with the parameters held."""
    values, inputs = echo
    member, report = PastMember.fitted(values[:100], inputs[:100], SETTINGS)
    assert report.status in ("converged", "stalled", "iteration limit")
    cut = member.without(np.arange(100) >= 70)
    assert [len(cut.model.values), len(cut.model.covariates), cut.model.pasts.shape[1]] == [70, 70, 70]
    changed = member.model.values.copy()
    changed[70:] = 100.0
    np.testing.assert_array_equal(cut.model.values, changed[:70])
    paths = cut.paths(69, inputs[70:90], 200, np.random.default_rng(0))
    assert paths.shape == (200, 20, 1)
    assert np.mean((np.median(paths, axis=0) - values[70:90]) ** 2) < 0.05


def test_marginal_draws_known_values():
    values = np.arange(12.0).reshape(6, 2)
    member = MarginalMember(values).without(np.arange(6) >= 4)
    paths = member.paths(3, np.zeros((5, 0)), 400, np.random.default_rng(0))
    assert paths.shape == (400, 5, 2)
    rows, counts = np.unique(paths.reshape(-1, 2), axis=0, return_counts=True)
    np.testing.assert_array_equal(rows, values[:4])
    # Each of 2000 draws is one of four rows; the standard deviation of a share is .01.
    np.testing.assert_allclose(counts / 2000, 0.25, atol=0.05)
