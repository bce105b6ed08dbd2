"""One member: where its paths begin, and what it no longer knows when the end of its series is hidden."""

from dataclasses import replace

import numpy as np
import pytest

from semigp.core.dynamics.fit import answer
from semigp.core.dynamics.start import start
from semigp.core.sparse.targets import Targets
from semigp.estimators.dynamics.kinds.markov_member import MarkovMember

T = 60


@pytest.fixture(scope="module")
def member():
    """At the linear model from which a fit starts."""
    random = np.random.default_rng(0)
    values = np.sin(np.arange(T) / 3)[:, None] + 0.1 * random.normal(size=(T, 1))
    model, data = start(values, values, np.zeros((T, 0)), np.arange(T) == 0, 2, 8, 1e-2, 0)
    return MarkovMember(model, data, answer(model, data), np.array([[-3.0], [3.0]]))


@pytest.mark.parametrize("last", [20, T - 1])
def test_paths_go_on_from_a_step(member, last):
    """The next values of the sine lie within the paths: three standard deviations of these around their mean."""
    paths = member.paths(last, np.zeros((4, 0)), 200, np.random.default_rng(0))
    assert paths.shape == (200, 4, 1)
    apart = np.abs(paths.mean(axis=0)[:, 0] - np.sin(np.arange(last + 1, last + 5) / 3))
    assert (apart < 3 * paths.std(axis=0)[:, 0]).all()
    assert paths.std() < 1.0


def test_hidden_values_do_not_matter(member):
    """Whatever they are, the paths are the same to the last digit. Values that are not hidden do matter."""
    is_hidden, known = np.arange(T) >= 40, member.data.targets

    def paths(values):
        other = replace(member, data=replace(member.data, targets=Targets(values, known.weights, known.group)))
        return other.without(is_hidden).paths(39, np.zeros((5, 0)), 30, np.random.default_rng(0))

    later, earlier = known.values.copy(), known.values.copy()
    later[40:T] += 5.0
    earlier[30:40] += 0.5
    np.testing.assert_array_equal(paths(later), paths(known.values))
    assert np.abs(paths(earlier) - paths(known.values)).mean() > 0.05
