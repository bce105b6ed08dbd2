"""Weights by a simulation of what was held back. The members are known: they say what they are told to say."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from semigp.estimators.dynamics.kinds.markov_weights import stays, weigh

LENGTHS, INPUTS = [20, 60, 10], np.zeros((90, 0))


@dataclass
class Said:
    """A member whose paths have a mean and a standard deviation; some of them leave the bounds at the last step."""

    mean: np.ndarray
    std: float = 0.3
    leaving: float = 0.0
    asked: list = field(default_factory=list)
    bounds = np.array([[-6.0], [6.0]])

    def without(self, is_hidden):
        self.asked.append(np.flatnonzero(is_hidden))
        return self

    def paths(self, last, inputs, n_paths, random):
        self.asked.append(last)
        paths = self.mean[:, None] + self.std * random.normal(size=(n_paths, len(inputs), 1))
        paths[: int(self.leaving * n_paths), -1] = 100.0
        return paths


@pytest.fixture
def values(random):
    return np.sin(np.arange(90.0))[:, None] + 0.3 * random.normal(size=(90, 1))


TRUE = np.sin(np.arange(50.0, 80.0))


def test_the_second_half_of_the_longest_series_is_held_back(values):
    member = Said(TRUE)
    weigh([member], values, INPUTS, LENGTHS, 0)
    np.testing.assert_array_equal(member.asked[0], np.arange(50, 80))
    assert member.asked[1] == 49


def test_the_true_member_is_found(values):
    """The others are off by three times their spread; the pull towards equal weights leaves them a few hundredths."""
    members = [Said(TRUE + 0.9), Said(TRUE), Said(0.0 * TRUE, 2.0)]
    weights = weigh(members, values, INPUTS, LENGTHS, 0)
    np.testing.assert_allclose(weights.sum(), 1.0, atol=1e-5)
    assert weights[1] > 0.85


def test_an_unstable_member_has_no_weight(values):
    """Even if it is right for as long as it stays. With fewer paths that leave, those that stay are what counts."""
    other = Said(0.0 * TRUE, 1.0)
    weights = weigh([Said(TRUE, leaving=0.6), other], values, INPUTS, LENGTHS, 0)
    np.testing.assert_array_equal(weights, [0.0, 1.0])
    assert weigh([Said(TRUE, leaving=0.4), other], values, INPUTS, LENGTHS, 0)[0] > 0.8


def test_gaps_do_not_count(values):
    """A member that is wrong only where nothing was measured is as good as the true one: their weights are alike."""
    wrong = TRUE.copy()
    wrong[:10] += 3.0
    values[50:60] = np.nan
    weights = weigh([Said(TRUE), Said(wrong)], values, INPUTS, LENGTHS, 0)
    np.testing.assert_allclose(weights, 0.5, atol=0.2)


def test_steps_for_which_a_path_stays():
    paths = np.zeros((3, 5, 1))
    paths[0, 3], paths[1, 3], paths[2, 0] = 6.01, 5.99, -10.0
    np.testing.assert_array_equal(stays(Said(TRUE), paths), [3, 5, 0])
